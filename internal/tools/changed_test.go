package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

// What the model read is what it changes: if somebody else was there meanwhile,
// nothing is written.
func TestAFileChangedSinceItWasReadIsLeftAlone(t *testing.T) {
	for name, args := range map[string]string{
		"file_edit":     `{"path":"a","edits":[{"old_text":"one","new_text":"1"}]}`,
		"file_write":    `{"path":"a","content":"new"}`,
		"replace_lines": `{"path":"a","line_start":1,"line_end":1,"new_content":"1"}`,
		"insert_lines":  `{"path":"a","line_start":1,"line_end":1,"new_content":"0"}`,
	} {
		s := stage.New(t, map[string]string{"a": "one\ntwo\n"})
		read, _ := Find("file_read")
		tl, _ := Find(name)
		s.Output(read, `{"path":"a"}`)
		if err := os.WriteFile(filepath.Join(s.Workspace, "a"), []byte("one\nother\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := s.Call(tl, args); r.Code() != tool.FileChanged {
			t.Errorf("%s: %s", name, r.Envelope())
		}
		if got := s.Read("a"); got != "one\nother\n" {
			t.Errorf("%s wrote %q", name, got)
		}
		s.Output(read, `{"path":"a"}`)
		if r := s.Call(tl, args); !r.OK() {
			t.Errorf("%s after reading again: %s", name, r.Envelope())
		}
	}
}

// A person sees what would change before it does.
func TestChangesArePreviewed(t *testing.T) {
	for name, args := range map[string]string{
		"file_edit":     `{"path":"a","edits":[{"old_text":"two","new_text":"2"}]}`,
		"file_write":    `{"path":"a","content":"one\n2\nthree\n"}`,
		"replace_lines": `{"path":"a","line_start":2,"line_end":2,"new_content":"2"}`,
	} {
		s := stage.New(t, map[string]string{"a": "one\ntwo\nthree\n"})
		tl, _ := Find(name)
		p := s.Plan(tl, args)
		if p.Preview != "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" || len(p.Writes) != 1 || p.Writes[0] != filepath.Join(s.Workspace, "a") {
			t.Errorf("%s: %q %v", name, p.Preview, p.Writes)
		}
		if s.Read("a") != "one\ntwo\nthree\n" {
			t.Errorf("%s has changed the file while it was planned", name)
		}
	}
}

// Every file tool names the missing file in the same words.
func TestAMissingFileIsNamed(t *testing.T) {
	for name, args := range map[string]string{
		"file_read": `{"path":"/x/missing.txt"}`, "file_edit": `{"path":"missing.txt","edits":[{"old_text":"a","new_text":"b"}]}`,
		"glob": `{"pattern":"*","path":"missing.txt"}`, "grep": `{"pattern":"x","path":"missing.txt"}`, "ls": `{"path":"missing.txt"}`,
	} {
		s := stage.New(t, nil)
		tl, _ := Find(name)
		want := "File not found: missing.txt"
		if name == "file_read" {
			args = strings.ReplaceAll(args, "/x", s.Workspace)
			want = "File not found: " + s.Workspace + "/missing.txt"
		}
		if r := s.Call(tl, args); r.Code() != tool.FileNotFound || r.Summary != want {
			t.Errorf("%s: %s", name, r.Envelope())
		}
	}
}

// A schema is worked out when it is asked for, and every tool has one that can
// be sent.
func TestEveryToolCanBeDescribed(t *testing.T) {
	for name := range natures {
		for _, tl := range set(t, name).All() {
			s := tl.Spec()
			if s.Name == "" || s.Description == "" || len(s.Effects) == 0 || !strings.HasPrefix(string(s.Parameters.JSON()), `{"type":"object"`) {
				t.Errorf("%s in %s: %+v", s.Name, name, s)
			}
		}
	}
}

func BenchmarkSet(b *testing.B) {
	for b.Loop() {
		if _, err := Set("default", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
