package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"ikigai/internal/llm"
)

func TestCallsWrittenAsTextAreRescued(t *testing.T) {
	const fence = "```"
	known := []string{"glob", "file_read"}
	for _, c := range []struct{ name, text, rest, want string }{
		{"a tag", `I look. <tool_call>{"name": "glob", "arguments": {"pattern": "*.go"}}</tool_call>`, "I look.", `glob {"pattern": "*.go"}`},
		{"two tags", "<tool_call>\n{\"name\":\"glob\",\"arguments\":{}}\n</tool_call>\n<tool_call>{\"name\":\"file_read\",\"arguments\":{\"path\":\"a\"}}</tool_call>", "", `glob {} file_read {"path":"a"}`},
		{"a tag that is not closed", `<tool_call>{"name":"glob","arguments":{"a":1}}`, "", `glob {"a":1}`},
		{"words after a tag", `<tool_call>{"name":"glob"}</tool_call> and so on`, "and so on", `glob {}`},
		{"two in one tag", `<tool_call>{"name":"glob","arguments":{}}{"name":"glob","arguments":{"b":2}}</tool_call>`, "", `glob {} glob {"b":2}`},
		{"arguments as a string", `<tool_call>{"name":"glob","arguments":"{\"a\":1}"}</tool_call>`, "", `glob {"a":1}`},
		{"Mistral's marker", `[TOOL_CALLS][{"name":"glob","arguments":{"a":1}}]`, "", `glob {"a":1}`},
		{"Llama's marker", `<|python_tag|>{"name":"glob","parameters":{"a":1}}`, "", `glob {"a":1}`},
		{"a fence at the end", "Let me see:\n\n" + fence + "json\n{\"name\":\"glob\",\"arguments\":{\"a\":1}}\n" + fence, "Let me see:", `glob {"a":1}`},
		{"two fences at the end", fence + "json\n{\"name\":\"glob\",\"arguments\":{\"a\":1}}\n" + fence + "\n" + fence + "\n{\"tool\":\"file_read\",\"args\":{}}\n" + fence, "", `glob {"a":1} file_read {}`},
		{"bare JSON", `{"name":"glob","arguments":{"a":1}}`, "", `glob {"a":1}`},
		{"bare JSON over lines", "Now:\n{\n  \"name\": \"glob\",\n  \"arguments\": {\n    \"a\": 1\n  }\n}\n", "Now:", "glob {\n    \"a\": 1\n  }"},
		{"OpenAI's form", `{"tool_calls":[{"type":"function","function":{"name":"glob","arguments":"{}"}}]}`, "", `glob {}`},
		{"function as a name", `{"function":"glob","parameters":{"a":1}}`, "", `glob {"a":1}`},

		{"an unknown tool", `<tool_call>{"name":"rm","arguments":{}}</tool_call>`, "", ""},
		{"an example in the middle", "You could write\n" + fence + "json\n{\"name\":\"glob\",\"arguments\":{}}\n" + fence + "\nand I would see.", "", ""},
		{"bare JSON in the middle", "{\"name\":\"glob\",\"arguments\":{}}\nis how it looks.", "", ""},
		{"data that has a name", `{"name":"glob","version":"1.0"}`, "", ""},
		{"JSON within a line", `use {"name":"glob","arguments":{}}`, "", ""},
		{"broken JSON", `<tool_call>{"name":"glob","arguments":{</tool_call>`, "", ""},
		{"plain text", "nothing to do here", "", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest, calls := Rescue(c.text, known, 5)
			var got []string
			for i, d := range calls {
				got = append(got, d.Name+" "+d.Text)
				if d.Kind != llm.CallPart || !d.Rescued || d.ID == "" || d.Block != 5+i || !json.Valid([]byte(d.Text)) {
					t.Errorf("%+v", d)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if want := c.rest; c.want == "" {
				want = c.text
				if rest != want {
					t.Errorf("the text became %q", rest)
				}
			} else if rest != want {
				t.Errorf("rest is %q, want %q", rest, want)
			}
		})
	}
}

func FuzzRescueOnlyFindsKnownTools(f *testing.F) {
	f.Add(`<tool_call>{"name":"glob","arguments":{}}</tool_call>`)
	f.Add("```json\n[{\"name\":\"glob\",\"arguments\":{}}]\n```")
	f.Fuzz(func(t *testing.T, text string) {
		rest, calls := Rescue(text, []string{"glob"}, 0)
		if len(calls) == 0 && rest != text {
			t.Fatalf("%q became %q", text, rest)
		}
		for _, c := range calls {
			if c.Name != "glob" || !strings.HasPrefix(c.Text, "{") || !json.Valid([]byte(c.Text)) {
				t.Fatalf("%q: %+v", text, c)
			}
		}
	})
}
