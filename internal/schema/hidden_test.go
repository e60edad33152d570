package schema

import (
	"strings"
	"testing"
)

func TestHiddenParametersAreReadButNotTold(t *testing.T) {
	o := Of[struct {
		Path string `json:"path"`
		Old  string `json:"old_text,omitempty" hidden:"true" alias:"old_string"`
	}]()
	for what, text := range map[string]string{"JSON": string(o.JSON()), "Flat": string(o.Flat())} {
		if strings.Contains(text, "old_text") || strings.Contains(text, "hidden") {
			t.Errorf("%s tells of a hidden parameter: %s", what, text)
		}
	}
	if n := len(o.Properties()); n != 1 {
		t.Errorf("%d properties are told, want 1", n)
	}
	args, err := o.Read([]byte(`{"path":"a","old_string":"b"}`), RefuseUnknown)
	if err != nil || string(args.Value) != `{"path":"a","old_text":"b"}` {
		t.Errorf("%s, %v", args.Value, err)
	}
}
