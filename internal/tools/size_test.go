package tools

import (
	"encoding/json"
	"testing"

	"ikigai/internal/tool"
)

// wire is a list of tools as OpenAI's form of a request has it.
func wire(t *testing.T, list []tool.Tool) []byte {
	t.Helper()
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type offer struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	var all []offer
	for _, tl := range list {
		s := tl.Spec()
		all = append(all, offer{"function", function{s.Name, s.Description, s.Parameters.JSON()}})
	}
	raw, err := tool.Encode(all)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The limits for the first request are 5 KB and 8 KB; the rest of it, the
// system prompt and the model's name, takes under 2 KB.
func TestToolsetsAreCheapToSend(t *testing.T) {
	for name, most := range map[string]int{"ikigai": 3200, "default": 6000} {
		set, err := Set(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		raw := wire(t, set.Tools)
		t.Logf("%s: %d tools, %d bytes", name, len(set.Tools), len(raw))
		if len(raw) > most {
			t.Errorf("%s takes %d bytes of every request; %d are allowed:\n%s", name, len(raw), most, raw)
		}
	}
}
