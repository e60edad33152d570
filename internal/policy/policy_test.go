package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ikigai/internal/permit"
)

func file(t *testing.T, text string) *File {
	t.Helper()
	f := &File{Path: filepath.Join(t.TempDir(), "deep", "policies.json"), Dir: "/ws", Now: func() time.Time { return time.Unix(0, 0) }}
	if text != "" {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestRulesOfThisProjectAndOfAllAreLoaded(t *testing.T) {
	f := file(t, `// mine
{
  "rules": [
    {"decision": "allow", "rule": "bash(go test *)", "match": ["go test ./..."], "no_match": ["go build", "go test -exec x ./..."]},
    {"decision": "deny", "rule": "file_edit(vendor/**)", "dir": "/ws", "why": "generated", "match": ["vendor/a/b.go"]},
    {"decision": "allow", "rule": "bash(make)", "dir": "/elsewhere"},
  ],
}`)
	rules, err := f.Load()
	if err != nil || len(rules) != 2 {
		t.Fatalf("%v, %v", rules, err)
	}
	if rules[0].Name() != "bash(go test *) (policies.json:4)" || rules[1].Why != "generated" || rules[1].Decision != permit.Deny {
		t.Errorf("%+v", rules)
	}
}

func TestBrokenFilesNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"rules\": [\n{\"decision\":\"maybe\",\"rule\":\"bash\"}]}":          "policies.json:3: decision is \"maybe\"",
		"{\"rules\": [{\"decision\":\"allow\",\"rule\":\"bash(\"}]}":             "policies.json:1: rule \"bash(\"",
		"{\"rules\": [{\"decision\":\"allow\",\"rule\":\"bash\",\"colour\":1}]}": "unknown field \"colour\"",
		"{\"rules\": 3}": "rules must be a list",
		"{\"rule\": []}": "there is no list of rules",
		"not json":       "not JSON with comments",
		"{\"rules\": [{\"decision\":\"allow\",\"rule\":\"bash(ls *)\",\"match\":[\"rm x\"]}]}":        "does not match its own example",
		"{\"rules\": [{\"decision\":\"deny\",\"rule\":\"bash(git *)\",\"no_match\":[\"git push\"]}]}": "matches its own example",
	} {
		if _, err := file(t, text).Load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestRememberingKeepsCommentsAndWritesOnce(t *testing.T) {
	f := file(t, "{\n  // first\n  \"rules\": [\n    // keep me\n    {\"decision\": \"deny\", \"rule\": \"bash(rm *)\"},\n  ],\n}\n")
	rule, err := permit.ParseRule(permit.Allow, "bash(go test *)")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Save(context.Background(), rule); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(f.Path)
	if err != nil || !strings.Contains(string(raw), "// keep me") || strings.Count(string(raw), "go test") != 1 {
		t.Errorf("%s, %v", raw, err)
	}
	if n, err := f.Forget("bash(go test *)"); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	if entries, err := f.Entries(); len(entries) != 1 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestWritersAtOnceLoseNothing(t *testing.T) {
	f := file(t, "")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			again := &File{Path: f.Path, Dir: f.Dir, Now: f.Now} // as another process has it
			if err := again.Add(Entry{Decision: "allow", Rule: fmt.Sprintf("bash(make t%d)", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if rules, err := f.Load(); len(rules) != 20 || err != nil {
		t.Errorf("%d rules, %v", len(rules), err)
	}
}
