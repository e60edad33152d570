package schema

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type replacement struct {
	Old string `json:"old_text" doc:"text to find" alias:"old_string"`
	All bool   `json:"replace_all,omitempty"`
}

type common struct {
	Note string `json:"note,omitempty"`
}

type everything struct {
	common
	Path   string            `json:"path" doc:"file \"to\" read" format:"path" maxlen:"4096" min:"1" alias:"file_path,filename"`
	Limit  int               `json:"limit,omitempty" min:"1" max:"10000" default:"2000"`
	Ratio  *float64          `json:"ratio,omitempty" max:"1"`
	Sort   string            `json:"sort,omitempty" enum:"name,size" default:"name"`
	Small  uint8             `json:"small,omitempty"`
	Signed int16             `json:"signed,omitempty"`
	Tags   []string          `json:"tags,omitempty" enum:"a,b" max:"3"`
	Edits  []replacement     `json:"edits"`
	Env    map[string]string `json:"env,omitzero"`
	Raw    json.RawMessage   `json:"raw,omitempty"`
	Any    any               `json:"any,omitempty"`
	Data   []byte            `json:"data,omitempty"`
	At     time.Time         `json:"at,omitzero"`
	Plain  bool
	Hidden string `json:"-"`
	secret string
}

func TestStructBecomesASchema(t *testing.T) {
	want := `{"type":"object","properties":{` +
		`"note":{"type":"string"},` +
		`"path":{"type":"string","description":"file \"to\" read","minLength":1,"maxLength":4096},` +
		`"limit":{"type":"integer","minimum":1,"maximum":10000,"default":2000},` +
		`"ratio":{"type":"number","maximum":1},` +
		`"sort":{"type":"string","enum":["name","size"],"default":"name"},` +
		`"small":{"type":"integer","minimum":0,"maximum":255},` +
		`"signed":{"type":"integer","minimum":-32768,"maximum":32767},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"maxItems":3},` +
		`"edits":{"type":"array","items":{"type":"object","properties":{"old_text":{"type":"string","description":"text to find"},"replace_all":{"type":"boolean"}},"required":["old_text"]}},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"raw":{},"any":{},"data":{"type":"string"},"at":{"type":"string","format":"date-time"},` +
		`"Plain":{"type":"boolean"}},"required":["path","edits","Plain"]}`
	if diff := cmp.Diff(want, string(Of[everything]().JSON())); diff != "" {
		t.Error(diff)
	}
	_ = everything{secret: ""}
}

func TestStructAndItsShortFormReadAlike(t *testing.T) {
	o := Of[everything]()
	again := must(Parse(o.Flat()))
	raw := []byte(`{"file_path":"x","limit":"3","edits":[{"old_string":"a","extra":1}],"Plain":true,"env":{"A":"1"},"note":null}`)
	want := `{"path":"x","limit":3,"edits":[{"old_text":"a"}],"Plain":true,"env":{"A":"1"}}`
	for _, o := range []Object{o, again} {
		args, err := o.Read(raw, DropUnknown)
		if err != nil || string(args.Value) != want {
			t.Errorf("Read = %s, %v", args.Value, err)
		}
		if diff := cmp.Diff([]string{"edits[0].extra"}, args.Dropped); diff != "" {
			t.Error(diff)
		}
		var decoded everything
		if err := json.Unmarshal(args.Value, &decoded); err != nil || decoded.Edits[0].Old != "a" || decoded.Limit != 3 {
			t.Errorf("decoded %+v, %v", decoded, err)
		}
	}
}

func TestStructWithinItselfComesToAnEnd(t *testing.T) {
	type tree struct {
		Name     string                `json:"name"`
		Children []*struct{ Self any } `json:"children,omitempty"`
	}
	type loop struct {
		Next *loop `json:"next,omitempty"`
	}
	want := `{"type":"object","properties":{"next":{"type":"object"}}}`
	if got := string(Of[loop]().JSON()); got != want {
		t.Errorf("got %s", got)
	}
	if Of[tree]().Empty() || !Of[struct{}]().Empty() {
		t.Error("Empty is wrong")
	}
}

func TestMistakesInTagsPanicOnUse(t *testing.T) {
	rows := map[string]Object{
		"not a struct": Of[int](),
		"min": Of[struct {
			A int `min:"x"`
		}](),
		"default": Of[struct {
			A int `default:"x"`
		}](),
		"a type without": Of[struct{ A chan int }](),
	}
	for name, o := range rows {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			o.JSON()
		}()
	}
}
