package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// load reads a text as the user's file.
func load(t *testing.T, text string) (*Config, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Sources{User: name})
}

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	raw, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// document is a file that sets one key.
func document(key, value string) string {
	parts := strings.Split(key, ".")
	return `{"` + strings.Join(parts, `":{"`) + `":` + value + strings.Repeat("}", len(parts))
}

// samples are values of each type that are right and wrong in the file.
var samples = map[string]struct{ right, wrong []string }{
	"text":                    {[]string{`"x"`, `""`}, []string{"1", "true", "[]", "null"}},
	"yes or no (true, false)": {[]string{"true", "false"}, []string{`"true"`, "1", "null"}},
	"whole number":            {[]string{"0", "7"}, []string{"-1", "1.5", `"7"`, "true"}},
	"number":                  {[]string{"0", "2.5"}, []string{"-0.1", `"2"`}},
	"duration":                {[]string{`"30s"`, `"1h2m3.5s"`, `"0s"`, `"90"`, "90"}, []string{`"soon"`, `"-5s"`, `"5 s"`, "-5", "1.5", "true"}},
	"list of strings":         {[]string{"[]", `["a","b"]`}, []string{`"a"`, "[1]", "{}"}},
}

func TestSchemaAndLoaderAgree(t *testing.T) {
	schema := resolved(t)
	check := func(key, value string, want bool) {
		text := document(key, value)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != want {
			t.Errorf("schema: %s: %v", text, err)
		}
		if _, err := load(t, text); (err == nil) != want {
			t.Errorf("loader: %s: %v", text, err)
		}
	}
	for _, s := range Table() {
		for _, key := range append([]string{s.Key}, s.Old...) {
			values := samples[s.Type()]
			if len(s.Allowed) > 0 {
				values.right = []string{fmt.Sprintf("%q", s.Allowed[0])}
				values.wrong = append([]string{`"no such word"`}, values.wrong...)
			}
			for _, v := range values.right {
				check(key, v, true)
			}
			for _, v := range values.wrong {
				check(key, v, false)
			}
		}
	}
	check("no_such_key", "1", false)
	check("tools.no_such_key", "1", false)
	check("$schema", `"https://example.com/ikigai.json"`, true)
}

func TestTheDefaultsAreAGoodFile(t *testing.T) {
	doc := map[string]any{}
	for _, s := range Table() {
		in, _ := load(t, "{}")
		put(doc, strings.Split(s.Key, "."), s.Value(&in.Settings))
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved(t).Validate(v); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	if _, err := load(t, string(raw)); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
}

func put(doc map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := doc[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			doc[name] = inner
		}
		doc = inner
	}
	doc[path[len(path)-1]] = value
}

func TestEverySettingIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Table() {
		if s.Doc == "" {
			t.Errorf("%s says nothing", s.Key)
		}
		for _, name := range append([]string{s.Key, "--" + s.Flag}, s.Env...) {
			if name != "--" && seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
}

func TestLaterSourcesWinAndAreRemembered(t *testing.T) {
	dir := t.TempDir()
	user, project := filepath.Join(dir, "user.json"), filepath.Join(dir, "project.json")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(user, "{\n  // mine\n  \"mode\": \"plan\",\n  \"effort\": \"low\",\n  \"limits\": {\"turns\": 9},\n}")
	write(project, `{"effort": "high", "mode": "yolo", "base_url": "https://evil.example"}`)
	env := map[string]string{"SWEBASH_AI_TOOLS_MAX_ITER": "7", "IKIGAI_MAX_CALLS": "3", "SWEBASH_AI_EXEC_TIMEOUT": "oops"}
	src := Sources{
		User: user, Project: project,
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Flags:  []Given{{"max-calls", "4"}},
	}
	c, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"mode": user + ":3", "effort": project + ":1", "limits.turns": "SWEBASH_AI_TOOLS_MAX_ITER", "limits.calls": "--max-calls", "tools.timeout": "default",
	} {
		if c.Origin[key] != want {
			t.Errorf("%s comes from %s, want %s", key, c.Origin[key], want)
		}
	}
	if c.Mode != "plan" || c.Effort != "high" || c.Limits.Turns != 7 || c.Limits.Calls != 4 || c.BaseURL != "" {
		t.Errorf("got %+v", c.Settings)
	}
	if len(c.Skipped) != 2 || len(c.Aliases) != 1 || len(c.Read) != 2 {
		t.Errorf("skipped %v, aliases %v, read %v", c.Skipped, c.Aliases, c.Read)
	}
	src.Trusted = true
	if c, err = Load(src); err != nil || c.Mode != "yolo" || c.BaseURL == "" {
		t.Errorf("a trusted project: %v, %+v", err, c)
	}
}

func TestErrorsNameThePlaceAndTheNearestWord(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"efort\": \"low\"}":          "config.json:2: efort: there is no such setting; did you mean effort?",
		`{"mode": "yollo"}`:               "did you mean yolo?",
		`{"tools": {"timeuot": "3s"}}`:    "did you mean tools.timeout?",
		`{"limits": {"turns": "many"}}`:   "limits.turns: \"many\" is no whole number",
		`[1]`:                             "must be one object",
		"{\n\"mode\": }":                  "config.json:2",
		`{"tools": 5}`:                    "tools",
		`{"mode": "ask", "mode": "yolo"}`: "twice",
	} {
		_, err := load(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
