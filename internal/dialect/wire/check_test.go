package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A step is one thing in a request body, the same for all formats: what the
// providers' rules are about, read back by code that knows nothing of ours.
type step struct {
	role string // system, user, thinking, text, call, result, opaque
	text string // words, or the result
	id   string
	name string
	args string // as compact JSON
	kept string // a signature or an encrypted blob
	turn int    // which message it stands in
}

// What every provider takes as the name of a tool, and Anthropic as an id.
var (
	wordName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`) })
	wordID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })
)

// check reads a body and holds it against what every provider demands: the
// order of turns, one result for each call directly behind it, no blank text,
// ids that fit and are unique, names that fit.
func check(format string, body []byte) error {
	steps, err := parse(format, body)
	if err != nil {
		return err
	}
	var open []string
	seen := map[string]bool{}
	spoken := false
	for i, s := range steps {
		switch s.role {
		case "system":
			if i > 0 {
				return fmt.Errorf("step %d: a system prompt that is not the first", i)
			}
			continue
		case "user":
			spoken = true
		}
		if !spoken {
			return fmt.Errorf("step %d: the first to speak is not the person: %+v", i, s)
		}
		if blankWords(s) {
			return fmt.Errorf("step %d: a blank text: %+v", i, s)
		}
		switch s.role {
		case "call":
			if err := checkCall(format, s, seen); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
			open = append(open, s.id)
		case "result":
			if len(open) == 0 || open[0] != s.id {
				return fmt.Errorf("step %d: a result for %q while %q wait", i, s.id, open)
			}
			open = open[1:]
		default:
			if len(open) > 0 && i > 0 && steps[i-1].role == "result" {
				return fmt.Errorf("step %d: %s between the results", i, s.role)
			}
			if len(open) > 0 && s.role == "user" {
				return fmt.Errorf("step %d: the person speaks while %q wait", i, open)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the calls %q have no result", open)
	}
	return nil
}

func blankWords(s step) bool {
	return (s.role == "user" || s.role == "text") && strings.TrimSpace(s.text) == "" && s.kept == ""
}

func checkCall(format string, s step, seen map[string]bool) error {
	if seen[s.id] && format != "gemini" {
		return fmt.Errorf("the id %q stands twice", s.id)
	}
	seen[s.id] = true
	if !wordName().MatchString(s.name) {
		return fmt.Errorf("the name %q", s.name)
	}
	if !strings.HasPrefix(s.args, "{") {
		return fmt.Errorf("the arguments %q are no object", s.args)
	}
	most := map[string]int{"openai": 40, "responses": 64, "anthropic": 64}[format]
	if most > 0 && (s.id == "" || len(s.id) > most) {
		return fmt.Errorf("the id %q", s.id)
	}
	if format == "anthropic" && !wordID().MatchString(s.id) {
		return fmt.Errorf("the id %q", s.id)
	}
	return nil
}

// parse reads a body as steps.
func parse(format string, body []byte) ([]step, error) {
	read := map[string]func([]byte) ([]step, error){
		"openai": parseChat, "ollama": parseChat, "responses": parseResponses, "anthropic": parseAnthropic, "gemini": parseGemini,
	}[format]
	if !json.Valid(body) {
		return nil, errors.New("the body is no JSON")
	}
	return read(body)
}

func parseChat(body []byte) ([]step, error) {
	var r struct {
		Messages []struct {
			Role     string          `json:"role"`
			Content  json.RawMessage `json:"content"`
			Thinking string          `json:"thinking"`
			Reason   *string         `json:"reasoning_content"`
			Details  json.RawMessage `json:"reasoning_details"`
			CallID   string          `json:"tool_call_id"`
			Calls    []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	var steps []step
	for turn, m := range r.Messages {
		text, err := words(m.Content)
		if err != nil {
			return nil, err
		}
		switch m.Role {
		case "system", "developer":
			steps = append(steps, step{role: "system", text: text, turn: turn})
		case "user":
			steps = append(steps, step{role: "user", text: text, turn: turn})
		case "tool":
			steps = append(steps, step{role: "result", text: text, id: m.CallID, turn: turn})
		case "assistant":
			if m.Details != nil || m.Thinking != "" || m.Reason != nil && *m.Reason != "" {
				steps = append(steps, step{role: "thinking", text: m.Thinking, kept: compactJSON(m.Details), turn: turn})
			}
			if text != "" {
				steps = append(steps, step{role: "text", text: text, turn: turn})
			} else if len(m.Calls) == 0 {
				return nil, fmt.Errorf("message %d says nothing", turn)
			}
			for _, c := range m.Calls {
				args := compactJSON(c.Function.Arguments)
				var quoted string
				if json.Unmarshal(c.Function.Arguments, &quoted) == nil {
					args = compactJSON([]byte(quoted))
				}
				steps = append(steps, step{role: "call", id: c.ID, name: c.Function.Name, args: args, turn: turn})
			}
		default:
			return nil, fmt.Errorf("role %q", m.Role)
		}
	}
	return steps, nil
}

func parseResponses(body []byte) ([]step, error) {
	var r struct {
		Instructions string `json:"instructions"`
		Input        []struct {
			Type, Role, ID, Name string
			CallID               string `json:"call_id"`
			Arguments            string
			Content              json.RawMessage
			Output               string
			Encrypted            string          `json:"encrypted_content"`
			Summary              json.RawMessage `json:"summary"`
		} `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	var steps []step
	if r.Instructions != "" {
		steps = append(steps, step{role: "system", text: r.Instructions})
	}
	for turn, m := range r.Input {
		s := step{turn: turn}
		switch {
		case m.Role == "system" || m.Role == "developer":
			s.role = "system"
		case m.Role == "user":
			s.role = "user"
		case m.Role == "assistant":
			s.role, s.kept = "text", m.ID
		case m.Type == "function_call":
			s = step{role: "call", id: m.CallID, name: m.Name, args: compactJSON([]byte(m.Arguments)), turn: turn}
		case m.Type == "function_call_output":
			s = step{role: "result", id: m.CallID, text: m.Output, turn: turn}
		case m.Type == "reasoning":
			if m.Summary == nil {
				return nil, errors.New("reasoning without a summary")
			}
			if turn+1 == len(r.Input) || r.Input[turn+1].ID == "" {
				return nil, fmt.Errorf("reasoning %s without its following item", m.ID)
			}
			s = step{role: "thinking", kept: m.Encrypted, turn: turn}
		default:
			s.role = "opaque"
		}
		if m.Content != nil && m.Type != "reasoning" {
			text, err := words(m.Content)
			if err != nil {
				return nil, err
			}
			s.text = text
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func parseAnthropic(body []byte) ([]step, error) {
	var r struct {
		System   json.RawMessage `json:"system"`
		Max      int             `json:"max_tokens"`
		Tools    []any           `json:"tools"`
		Messages []struct {
			Role    string
			Content []struct {
				Type, Text, Thinking, Signature, Data, ID, Name string
				Input                                           json.RawMessage
				Content                                         json.RawMessage
				ToolUseID                                       string `json:"tool_use_id"`
			}
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	if r.Max <= 0 {
		return nil, errors.New("no max_tokens")
	}
	if n := strings.Count(string(body), `"cache_control"`); n > 4 {
		return nil, fmt.Errorf("%d cache marks", n)
	}
	var steps []step
	if r.System != nil {
		text, err := words(r.System)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{role: "system", text: text})
	}
	for turn, m := range r.Messages {
		if turn > 0 && r.Messages[turn-1].Role == m.Role {
			return nil, fmt.Errorf("messages %d and %d are both of %s", turn-1, turn, m.Role)
		}
		if len(m.Content) == 0 {
			return nil, fmt.Errorf("message %d is empty", turn)
		}
		for _, b := range m.Content {
			s := step{turn: turn}
			switch b.Type {
			case "text":
				s.role, s.text = map[string]string{"user": "user", "assistant": "text"}[m.Role], b.Text
			case "thinking":
				s.role, s.text, s.kept = "thinking", b.Thinking, b.Signature
			case "redacted_thinking":
				s.role, s.kept = "thinking", b.Data
			case "tool_use":
				s.role, s.id, s.name, s.args = "call", b.ID, b.Name, compactJSON(b.Input)
				if len(r.Tools) == 0 {
					return nil, errors.New("calls without any tools")
				}
			case "tool_result":
				text, err := words(b.Content)
				if err != nil {
					return nil, err
				}
				s.role, s.id, s.text = "result", b.ToolUseID, text
			default:
				s.role = "opaque"
			}
			steps = append(steps, s)
		}
	}
	return steps, nil
}

func parseGemini(body []byte) ([]step, error) {
	var r struct {
		System   struct{ Parts []struct{ Text string } } `json:"systemInstruction"`
		Contents []struct {
			Role  string
			Parts []struct {
				Text      *string
				Thought   bool
				Signature string `json:"thoughtSignature"`
				Call      *struct {
					Name, ID string
					Args     json.RawMessage
				} `json:"functionCall"`
				Response *struct {
					Name, ID string
					Response map[string]json.RawMessage
				} `json:"functionResponse"`
			}
		} `json:"contents"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	var steps []step
	if len(r.System.Parts) > 0 {
		steps = append(steps, step{role: "system", text: r.System.Parts[0].Text})
	}
	var waiting []string // calls by place, since ids may be absent
	for turn, c := range r.Contents {
		if len(c.Parts) == 0 {
			return nil, fmt.Errorf("content %d is empty", turn)
		}
		answers := 0
		for n, p := range c.Parts {
			s := step{turn: turn, kept: p.Signature}
			switch {
			case p.Call != nil:
				s.role, s.name, s.args = "call", p.Call.Name, compactJSON(p.Call.Args)
				s.id = fmt.Sprintf("%s/%d/%d", p.Call.ID, turn, n)
				waiting = append(waiting, s.id+"/"+p.Call.Name)
			case p.Response != nil:
				if len(waiting) == 0 || c.Role != "user" {
					return nil, fmt.Errorf("content %d: a response that no call waits for", turn)
				}
				id, name := waiting[0][:strings.LastIndex(waiting[0], "/")], waiting[0][strings.LastIndex(waiting[0], "/")+1:]
				if name != p.Response.Name || !strings.HasPrefix(id, p.Response.ID+"/") {
					return nil, fmt.Errorf("content %d: response of %s %s, waiting %s", turn, p.Response.Name, p.Response.ID, waiting[0])
				}
				raw, _ := json.Marshal(p.Response.Response)
				s.role, s.id, s.text = "result", id, string(raw)
				waiting = waiting[1:]
				answers++
			case p.Text != nil:
				s.role, s.text = map[string]string{"user": "user", "model": "text"}[c.Role], *p.Text
				if p.Thought || *p.Text == "" {
					s.role = "thinking"
				}
			default:
				s.role = "opaque"
			}
			steps = append(steps, s)
		}
		if answers > 0 && (answers != len(c.Parts) || len(waiting) > 0) {
			return nil, fmt.Errorf("content %d: %d of %d parts are responses, %d calls still wait", turn, answers, len(c.Parts), len(waiting))
		}
	}
	return steps, nil
}

// words is text that is a string or a list of text parts.
func words(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n"), nil
}

func compactJSON(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func TestTheCheckerSeesWhatProvidersRefuse(t *testing.T) {
	for _, c := range []struct{ format, body string }{
		{"openai", `{"messages":[{"role":"assistant","content":"hi"}]}`},
		{"openai", `{"messages":[{"role":"user","content":" "}]}`},
		{"openai", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}]}`},
		{"openai", `{"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"r"}]}`},
		{"openai", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"b"},{"role":"tool","tool_call_id":"x","content":"r"}]}`},
		{"openai", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"r"}]}`},
		{"openai", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null}]}`},
		{"ollama", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f","arguments":"no"}}]},{"role":"tool","tool_call_id":"x","content":"r"}]}`},
		{"responses", `{"input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs","summary":[]},{"role":"assistant","content":"b"}]}`},
		{"responses", `{"input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"x","name":"f","arguments":"{}"}]}`},
		{"anthropic", `{"max_tokens":1,"tools":[{}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a.b","content":"r"}]}]}`},
		{"anthropic", `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"a"}]}]}`},
		{"anthropic", `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`},
		{"gemini", `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`},
		{"gemini", `{"contents":[{"role":"user","parts":[]}]}`},
	} {
		if check(c.format, []byte(c.body)) == nil {
			t.Errorf("%s: nothing was found wrong with %s", c.format, c.body)
		}
	}
}
