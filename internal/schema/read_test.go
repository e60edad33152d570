package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOneMeaningIsRead holds what Read accepts, beyond the corpus. An empty
// repair means that none may be noted.
func TestOneMeaningIsRead(t *testing.T) {
	_, tools := calls(t)
	rows := []struct{ tool, raw, want, repair string }{
		{"read_file", `{"path":"a","offset":1e3}`, `{"path":"a","offset":1000}`, ""},
		{"read_file", `{"path":"a","p\u0061d":1,"offset":9223372036854775807}`, `{"path":"a","offset":9223372036854775807}`, ""},
		{"read_file", `{"p\u0061th":"a\u0000\u2028\/"}`, `{"path":"a\u0000` + "\u2028" + `/"}`, ""},
		{"read_file", `{'path': 'a', 'limit': None, 'offset': 5}`, `{"path":"a","offset":5}`, "Python word None"},
		{"read_file", "Sure, here's the call:\n```json\n{\"path\":\"a\"}\n```\nThat is it.", `{"path":"a"}`, "text before the object"},
		{"read_file", `{"path":"a"};`, `{"path":"a"}`, "text after the object"},
		{"read_file", `<tool_call>{"path":"a"}`, `{"path":"a"}`, "tag around"},
		{"read_file", "{\"path\":\u00a0\"a\"}", `{"path":"a"}`, "white space"},
		{"read_file", "{\"path\":\"a\" /* the\nfile */, # next\n\"limit\":5}", `{"path":"a","limit":5}`, "comment"},
		{"read_file", `'{"path":"a"}'`, `{"path":"a"}`, "string read as the JSON in it"},
		{"read_file", `"\"{\\\"path\\\":\\\"a\\\"}\""`, `{"path":"a"}`, "string read as the JSON in it"},
		{"read_file", `{"path":"a","__proto__":{"z":1}}`, `{"path":"a"}`, ""},
		{"read_file", `{"PATH":"a"}`, `{"path":"a"}`, `"PATH" read as "path"`},
		{"grep", `{"pattern":"x","maxResults":5}`, `{"pattern":"x","max_results":5}`, `"maxResults" read as "max_results"`},
		{"grep", `{"pattern":"x","max-results":5}`, `{"pattern":"x","max_results":5}`, `"max-results" read as "max_results"`},
		{"grep", `{"pattern":"“x” 'y' // z"}`, `{"pattern":"“x” 'y' // z"}`, ""},
		{"ls", ``, `{}`, "empty arguments"},
		{"ls", "null", `{}`, "null read as {}"},
		{"ls", `{"sort_by":"SIZE"}`, `{"sort_by":"size"}`, `"SIZE" read as "size"`},
		{"ls", `{"arguments":"{\"path\":\"x\"}"}`, `{"path":"x"}`, "wrapper"},
	}
	for _, row := range rows {
		args, err := tools[row.tool].Read([]byte(row.raw), DropUnknown)
		if err != nil || string(args.Value) != row.want {
			t.Errorf("%s gave %s, %v; want %s", row.raw, args.Value, err, row.want)
		}
		if got := strings.Join(args.Repairs, "; "); !strings.Contains(got, row.repair) || row.repair == "" && got != "" {
			t.Errorf("%s was repaired as %q, want %q", row.raw, got, row.repair)
		}
	}
}

func TestWhatCouldMeanTwoThingsIsRefused(t *testing.T) {
	_, tools := calls(t)
	rows := []struct{ tool, raw, want string }{
		{"read_file", `{"path":"a","path":"a"}`, `the name "path" comes twice`},
		{"read_file", `{"path":"a","p\u0061th":"b"}`, `the name "path" comes twice`},
		{"read_file", `{"path":"a","x":[{"y":1,"y":2}]}`, `the name "y" comes twice`},
		{"read_file", `{"path":"a","Path":"b"}`, "Path means path, which is given already"},
		{"bash", `{"Command":"ls","COMMAND":"id"}`, "COMMAND means command"},
		{"ls", `{"\u017fort_by":"size"}`, "only looks like sort_by"},
		{"read_file", `{"path":"a","__proto__":{"path":"b"}}`, "put what is in it at the top"},
		{"ls", `{"name":"ls","arguments":{"path":"x"}}`, "arguments is no parameter"},
		{"ls", `{"ls":{"path":"x"}}`, "ls is no parameter"},
		{"ls", `{"sort_by":"-size"}`, `must be one of "name", "size", "modified"`},
		{"ls", `{"sort_by":["size"]}`, "sort_by must be"},
		{"ls", `{} {}`, "unexpected text after the object"},
		{"ls", `path: {"x":1}`, "want a JSON object"},
		{"read_file", `read_file({"path":"a"})`, "want a JSON object"},
		{"read_file", `<think>{"path":"a"}</think>`, "want a JSON object"},
		{"read_file", `{"path":"a","offset":1e400}`, "out of range"},
		{"read_file", `{"path":"a","offset":1e20}`, "offset must be an integer of 64 bits"},
		{"read_file", `{"path":"a","offset":Infinity}`, "at byte 21"},
		{"read_file", `{"path":"a","offset":-0}`, "offset must be at least 1"},
		{"read_file", `{"path":"a","offset":+5}`, "unexpected '+'"},
		{"read_file", `{"path":"a","offset":05}`, "in a number"},
		{"read_file", `{"path":"a","offset":5.}`, "want a digit"},
		{"read_file", `{"path":"a","offset":"1e1"}`, "offset must be an integer"},
		{"read_file", `{"path":"a","offset":"٣"}`, "offset must be an integer"},
		{"multi_read", `{"paths":"a,b"}`, "paths must be an array"},
		{"multi_read", `{"paths":""}`, "paths must be an array"},
		{"multi_read", `{"paths":"[\"a\""}`, "paths must be an array"},
		{"multi_read", `{"paths":["a",null]}`, "paths[1] must be a string, not null"},
		{"multi_read", `{"paths":["a" "b"]}`, "want a comma"},
		{"multi_read", `{"paths":["a",,"b"]}`, "unexpected ','"},
		{"write_file", `{"path":"a","content":"say "} and "more"}`, "unexpected text after the object"},
		{"write_file", "{\"path\":\"a\",\"content\":\"see \" // x\"\n}", "comment with a quote"},
		{"write_file", "{\"path\":\"a\",\"content\":\"x\" /* y }", "comment that does not end"},
		{"write_file", `{"path":"a","content":"say "hi: "x"}`, "want a comma"},
		{"write_file", `{"path":"a","content":"""x"""}`, "want a comma"},
		{"write_file", `{"path":"a","content":'it's'}`, "want a comma"},
		{"write_file", `{"path":"a","content":“say "x"”}`, "quote of another kind"},
		{"write_file", "{\"path\":\"a\",\"content\":\"x\x00\"}", "raw NUL"},
		{"write_file", `{"path":"a","content":"\ud83dx"}`, "surrogate"},
		{"write_file", `{"path":"a","content":"\u12"}`, "four hexadecimal digits"},
		{"write_file", `{"path":"a","content":"\x41"}`, `unknown escape \x`},
		{"edit_file", `{"path":"a","old_text":["x"],"new_text":5}`, `old_text must be a string, not ["x"]; new_text must be a string, not 5`},
		{"read_file", `{"file_name":"a"}`, "path is missing (a string); file_name is no parameter; known are path, offset, limit"},
		{"read_file", `{"path":"` + strings.Repeat("x", 5000) + `"}`, "path must have at most 4096 characters, not 5000"},
		{"bash", `{"command":"ls","cwd":null}`, "cwd is no parameter; known are command, timeout_seconds"},
	}
	for _, row := range rows {
		args, err := tools[row.tool].Read([]byte(row.raw), unknownOf(row.tool))
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.80s gave %s, %v; want %q", row.raw, args.Value, err, row.want)
		}
	}
}

func TestSizeAndDepthAreLimited(t *testing.T) {
	var o Object
	var validation *ValidationError
	if _, err := o.Read(make([]byte, MaxSize+1), DropUnknown); !errors.As(err, &validation) {
		t.Errorf("too long: %v", err)
	}
	var parse *ParseError
	deep := `{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	if _, err := o.Read([]byte(deep), DropUnknown); !errors.As(err, &parse) {
		t.Errorf("too deep: %v", err)
	}
	many := make([]string, 8)
	for i := range many {
		many[i] = `"` + strings.Repeat("k", i+1) + `":1`
	}
	again := "{" + strings.Repeat(strings.Join(many, ",")+",", 3) + `"z":1}`
	if _, err := o.Read([]byte(again), DropUnknown); !errors.As(err, &parse) {
		t.Errorf("twice among many: %v", err)
	}
}

// TestSchemaThatRefersToItselfCannotHoldUsUp reads by schemas whose naive check
// would never end, or take exponential time.
func TestSchemaThatRefersToItselfCannotHoldUsUp(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"$ref":"#/$defs/d"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"anyOf":[{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"}]}}}`,
	} {
		_, err := must(Parse([]byte(schema))).Read([]byte(`{"a":1}`), DropUnknown)
		if err == nil || !strings.Contains(err.Error(), "cannot be checked") {
			t.Errorf("%s: %v", schema, err)
		}
	}
	maybe := must(Parse([]byte(`{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"anyOf":[{"type":"object","properties":{"next":{"$ref":"#/$defs/t"},"all":{}}},{"type":"null"}]}}}`)))
	deep := `{"t":` + strings.Repeat(`{"next":`, 250) + `{"all":[` + strings.Repeat("1,", 50_000) + `1]}` + strings.Repeat(`}`, 250) + `}`
	if _, err := maybe.Read([]byte(deep), DropUnknown); err == nil || !strings.Contains(err.Error(), "cannot be checked") {
		t.Errorf("a long list in a deep tree: %v", err)
	}
	tree := must(Parse([]byte(`{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#/$defs/t"}}}}}`)))
	args, err := tree.Read([]byte(`{"t":{"n":"1","next":{"n":2.0,"x":3,"next":{"n":3}}}}`), DropUnknown)
	want := `{"t":{"n":1,"next":{"n":2,"next":{"n":3}}}}`
	if err != nil || string(args.Value) != want {
		t.Errorf("a tree gave %s, %v", args.Value, err)
	}
	if diff := cmp.Diff([]string{"t.next.x"}, args.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestFormsToChooseFromAreMendedWhenOneFits(t *testing.T) {
	o := must(Parse([]byte(`{
		"optional":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"either":{"oneOf":[{"type":"integer"},{"type":"boolean"}]},
		"text":{"anyOf":[{"type":"string"},{"type":"integer"}]},
		"list":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"boolean"}]},
		"open":{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"integer"}},
		"both":{"allOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"b":{}}}]}
	}`)))
	rows := map[string]string{
		`{"optional":"5"}`:           `{"optional":5}`,
		`{"optional":null}`:          `{"optional":null}`,
		`{"either":"true"}`:          `{"either":true}`,
		`{"either":null}`:            `{}`,
		`{"text":"5"}`:               `{"text":"5"}`,
		`{"list":"true"}`:            `list must be an array or a boolean`, // true or ["true"]
		`{"list":"x"}`:               `{"list":["x"]}`,
		`{"open":{"x":"5","a":1}}`:   `{"open":{"x":5,"a":1}}`,
		`{"open":{"A":1,"a":1}}`:     `A means a`,
		`{"both":{"a":"5","b":"5"}}`: `{"both":{"a":5,"b":"5"}}`,
		`{"optional":1.5}`:           `optional must be an integer or null, not 1.5`,
	}
	for raw, want := range rows {
		args, err := o.Read([]byte(raw), RefuseUnknown)
		got := string(args.Value)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s gave %s, want %s", raw, got, want)
		}
	}
}

// TestDecoderSeesWhatWasRead guards against the folding of encoding/json: the
// struct must hold what the value shows.
func TestDecoderSeesWhatWasRead(t *testing.T) {
	type bash struct {
		Command string `json:"command"`
		Keep    bool   `json:"keepAlive,omitempty"`
	}
	o := Of[bash]()
	for _, raw := range []string{
		`{"command":"ls"}`, `{"COMMAND":"ls"}`, `{"command":"ls","other":"id"}`, `{"command":"ls","KEEPALIVE":true}`,
		`{"command":"ls","\u212aeepAlive":true}`, `{"command":"ls","Command":"id"}`, `{"command":"ls","commands":{"x":"id"}}`,
	} {
		args, err := o.Read([]byte(raw), DropUnknown)
		if err != nil {
			continue
		}
		var decoded bash
		var shown map[string]any
		if err := errors.Join(json.Unmarshal(args.Value, &decoded), json.Unmarshal(args.Value, &shown)); err != nil {
			t.Fatal(err)
		}
		keep, _ := shown["keepAlive"].(bool)
		if decoded.Command != "ls" || shown["command"] != "ls" || decoded.Keep != keep {
			t.Errorf("%s: shown %v, decoded %+v", raw, shown, decoded)
		}
	}
}

func TestErrorsListProblemsTogetherButNotWithoutEnd(t *testing.T) {
	o := must(Parse([]byte(`{"l":{"type":"array","items":{"type":"integer"}}}`)))
	_, err := o.Read([]byte(`{"l":[`+strings.Repeat(`"`+strings.Repeat("x", 200)+`",`, 50)+`"x"]}`), DropUnknown)
	if err == nil || !strings.Contains(err.Error(), "and 43 more") || len(err.Error()) > 1500 {
		t.Errorf("got %v", err)
	}
}
