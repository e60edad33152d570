package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ikigai/internal/tool"
)

// A step is one thing to do, with the calls that do it.
type step struct {
	saying string
	calls  []tool.Call
}

func (s step) intro(i, n int) string {
	if n == 1 {
		return s.saying + "."
	}
	return fmt.Sprintf("Step %d of %d: %s.", i+1, n, s.saying)
}

// An intent is one kind of request: how people say it, which tool would do it,
// and what to tell that tool. The tool is found by the words of its name and
// description, the arguments by the names of its parameters.
type intent struct {
	example string
	says    *regexp.Regexp // its groups are handed to args
	tool    []string       // words that the tool's name or description has
	needs   []string       // parameters that it must have
	args    func(group []string) []map[string]any
	saying  func(group []string) string
}

var intents = sync.OnceValue(func() []intent {
	name := "[`'\"]?([^`'\"\\s,;]*[^`'\"\\s,;.!?])[`'\"]?"
	rest := "[`'\"]?(.+?)[`'\"]?"
	re := func(s string) *regexp.Regexp {
		return regexp.MustCompile(`(?is)^(?:please |now |also |can you |could you )*` + s + `[.!?]*$`)
	}
	return []intent{
		{
			example: "replace hi by hello in hello.txt",
			says:    re(`(?:replace|change|rename) ` + rest + ` (?:by|with|to|into) ` + rest + ` in (?:the file )?` + name),
			tool:    []string{"edit", "replace text"}, needs: []string{"path"},
			args: func(g []string) []map[string]any {
				return []map[string]any{{"path": g[3], "edits": []any{map[string]any{"old_text": g[1], "new_text": g[2], "replace_all": true}}}}
			},
			saying: func(g []string) string { return fmt.Sprintf("I replace %q by %q in %s", g[1], g[2], g[3]) },
		},
		{
			example: "write hello.txt saying hi",
			says:    re(`(?:write|create|make|save) (?:a |the |new |file |called )*` + name + ` (?:saying|that says|with|containing|with the (?:text|content)|which says)(?: the text)? ` + rest),
			tool:    []string{"create a file", "write"}, needs: []string{"path", "content"},
			args:   func(g []string) []map[string]any { return []map[string]any{{"path": g[1], "content": g[2] + "\n"}} },
			saying: func(g []string) string { return "I write " + g[1] },
		},
		{
			example: "run go version",
			says:    re(`(?:run|execute|start) (?:the command |the tests with )?` + rest),
			tool:    []string{"command", "shell"}, needs: []string{"command"},
			args:   func(g []string) []map[string]any { return []map[string]any{{"command": g[1]}} },
			saying: func(g []string) string { return "I run " + g[1] },
		},
		{
			example: "search for TODO in internal",
			says:    re(`(?:search|grep|look)(?: the (?:code|project|files))? for ` + rest + `(?: in ` + name + `)?`),
			tool:    []string{"search", "regular expression"}, needs: []string{"pattern"},
			args: func(g []string) []map[string]any {
				a := map[string]any{"pattern": g[1], "max_results": 50}
				if g[2] != "" && !strings.Contains(g[2], "project") && !strings.Contains(g[2], "code") {
					a["path"] = g[2]
				}
				return []map[string]any{a}
			},
			saying: func(g []string) string { return fmt.Sprintf("I search for %q", g[1]) },
		},
		{
			example: "find the Go files",
			says:    re(`(?:find|list|show|locate|count)(?: me)?(?: all)?(?: of)?(?: the)? ` + rest + `(?: files?)(?: in ` + name + `)?`),
			tool:    []string{"glob", "find files"}, needs: []string{"pattern"},
			args: func(g []string) []map[string]any {
				a := map[string]any{"pattern": patternOf(g[1])}
				if g[2] != "" {
					a["path"] = g[2]
				}
				return []map[string]any{a}
			},
			saying: func(g []string) string { return fmt.Sprintf("I look for %s", patternOf(g[1])) },
		},
		{
			example: "read README.md",
			says:    re(`(?:read|open|show|print|display|look at|cat)(?: me)?(?: the)?(?: files?)? ` + rest),
			tool:    []string{"read a", "read file", "text file"}, needs: []string{"path"},
			args: func(g []string) []map[string]any {
				var all []map[string]any
				for _, f := range strings.Fields(strings.NewReplacer(",", " ", " and ", " ").Replace(g[1])) {
					all = append(all, map[string]any{"path": strings.Trim(f, "`'\"")})
				}
				return all
			},
			saying: func(g []string) string { return "I read " + g[1] },
		},
	}
})

// languages are the kinds of files people name by word.
var languages = map[string]string{
	"go": "*.go", "golang": "*.go", "python": "*.py", "javascript": "*.js", "typescript": "*.ts", "rust": "*.rs", "c": "*.c",
	"markdown": "*.md", "text": "*.txt", "json": "*.json", "yaml": "*.y*ml", "shell": "*.sh", "test": "*_test.*", "html": "*.html", "css": "*.css",
	"go test": "*_test.go",
}

func patternOf(words string) string {
	words = strings.ToLower(strings.TrimSpace(words))
	if p, ok := languages[words]; ok {
		return "**/" + p
	}
	if strings.ContainsAny(words, "*?[") {
		return words
	}
	return "**/*" + words + "*"
}

// understand turns a sentence into steps, and gives back what it made no sense of.
func understand(prompt string, tools []tool.Spec) (steps []step, missed []string) {
	for _, clause := range clauses(prompt) {
		if s, ok := stepOf(clause, tools); ok {
			steps = append(steps, s)
		} else {
			missed = append(missed, clause)
		}
	}
	return steps, missed
}

func stepOf(clause string, tools []tool.Spec) (step, bool) {
	for _, in := range intents() {
		group := in.says.FindStringSubmatch(clause)
		if group == nil {
			continue
		}
		spec, ok := in.find(tools)
		if !ok {
			continue
		}
		s := step{saying: in.saying(group)}
		for _, args := range in.args(group) {
			s.calls = append(s.calls, tool.Call{Name: spec.Name, Args: fit(spec, args)})
		}
		return s, len(s.calls) > 0
	}
	return step{}, false
}

// find takes the tool whose words fit best, of those that have the parameters.
func (in intent) find(tools []tool.Spec) (tool.Spec, bool) {
	var best tool.Spec
	most := 0
	for _, t := range tools {
		text := strings.ToLower(strings.ReplaceAll(t.Name, "_", " ") + " " + t.Description)
		score := 0
		for _, w := range in.tool {
			score += strings.Count(text, w)
		}
		if score > most && has(t, in.needs) {
			best, most = t, score
		}
	}
	return best, most > 0
}

func has(t tool.Spec, needs []string) bool {
	have := map[string]bool{}
	for _, p := range t.Parameters.Properties() {
		have[p.Name] = true
	}
	for _, n := range needs {
		if !have[n] {
			return false
		}
	}
	return true
}

// fit leaves out what the tool has no parameter for.
func fit(t tool.Spec, args map[string]any) json.RawMessage {
	kept := map[string]any{}
	for _, p := range t.Parameters.Properties() {
		if v, ok := args[p.Name]; ok {
			kept[p.Name] = v
		}
	}
	raw, err := tool.Encode(kept)
	if err != nil {
		return json.RawMessage("{}") // strings, numbers and lists of them always encode
	}
	return raw
}

var joints = sync.OnceValue(func() *regexp.Regexp {
	verbs := `(?:find|list|read|show|open|search|grep|look|run|execute|write|create|replace|change|count|print|locate|save|make)`
	return regexp.MustCompile(`(?i)(?:\s*[,;.]?\s+(?:and )?(?:then|afterwards|finally|after that),?\s+|\s*;\s*|\s*\n+\s*(?:[-*]|\d+[.)])?\s*|(?:,|\.)?\s+and\s+(` + verbs + `\s)|[,.]\s+(` + verbs + `\s))`)
})

// clauses cuts a sentence where one request ends and the next begins. What is
// in quotes is never cut.
func clauses(prompt string) []string {
	guarded, quoted := guard(strings.TrimSpace(prompt))
	var out []string
	at := 0
	for _, m := range joints().FindAllStringSubmatchIndex(guarded, -1) {
		if m[0] == 0 {
			at = m[1]
			continue
		}
		out = append(out, guarded[at:m[0]])
		at = m[1]
		for _, verb := range []int{2, 4} { // a verb that belongs to the next clause
			if m[verb] >= 0 {
				at = m[verb]
			}
		}
	}
	out = append(out, guarded[at:])
	var whole []string
	for _, c := range out {
		if c = strings.TrimSpace(c); c != "" {
			whole = append(whole, unguard(c, quoted))
		}
	}
	return whole
}

var quotes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`]*`|\"[^\"]*\"|'[^']*'") })

// guard puts a mark in the place of each quoted text.
func guard(s string) (string, []string) {
	var kept []string
	s = quotes().ReplaceAllStringFunc(s, func(q string) string {
		kept = append(kept, q)
		return fmt.Sprintf("\x00%d\x00", len(kept)-1)
	})
	return s, kept
}

func unguard(s string, kept []string) string {
	for i, q := range kept {
		s = strings.ReplaceAll(s, fmt.Sprintf("\x00%d\x00", i), q)
	}
	return s
}
