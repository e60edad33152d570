package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ikigai/internal/config"
	"ikigai/internal/convo"
	"ikigai/internal/instruct"
)

// instructedHouse is a repository with instructions, and a person with some.
func instructedHouse(t *testing.T, project, own string) (*app, *house, *strings.Builder) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(dir, ".git", "HEAD"): "x", filepath.Join(dir, "AGENTS.md"): project, filepath.Join(home, ".config", "ikigai", "AGENTS.md"): own,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := new(strings.Builder)
	return &app{env: Env{Home: home, Stderr: said, Environ: []string{"SERVICE_TOKEN=value-of-a-token"}}}, &house{dir: dir, cfg: &config.Config{}}, said
}

func TestInstructionsFollowTheSystemPrompt(t *testing.T) {
	a, h, said := instructedHouse(t, "use tabs\U000e0041", "be brief")
	got := a.instructed(h, "You are ikigai.")
	if !strings.HasPrefix(got, "You are ikigai.\n\n"+instruct.Head) || !strings.HasSuffix(got, "be brief\n\n## From AGENTS.md\n\nuse tabs") {
		t.Errorf("%q", got)
	}
	if !strings.HasPrefix(said.String(), "note: instructions read from ") || !strings.Contains(said.String(), "AGENTS.md (12 B)") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("%q", said)
	}
	if again := a.instructed(h, "You are ikigai."); again != got {
		t.Error("the prompt is not the same the second time")
	}
}

func TestQuietRunsTellNothingOfInstructions(t *testing.T) {
	a, h, said := instructedHouse(t, "x", "")
	h.cfg.Screen.Quiet = true
	if a.instructed(h, "s"); said.Len() > 0 {
		t.Error(said)
	}
}

func TestNoInstructionsChangeNothing(t *testing.T) {
	a, h, said := instructedHouse(t, "", " \n")
	if got := a.instructed(h, "You are ikigai."); got != "You are ikigai." || said.Len() > 0 {
		t.Errorf("%q, %q", got, said)
	}
}

func TestAChangeSinceTheBeginningIsTold(t *testing.T) {
	const secret = "the token is value-of-a-token"
	a, h, _ := instructedHouse(t, secret, "")
	begun := a.masked(a.instructed(h, "You are ikigai."))
	if strings.Contains(begun, "value-of-a-token") {
		t.Fatal("the test has no secret to mask")
	}
	tests := []struct {
		name, then, now string
		want            bool
	}{
		{"the same", begun, secret, false},
		{"another text", begun, "use blanks", true},
		{"none any more", begun, "", true},
		{"none before", "You are ikigai.", secret, true},
		{"none at all", "You are ikigai.", "", false},
	}
	for _, tt := range tests {
		if err := os.WriteFile(filepath.Join(h.dir, "AGENTS.md"), []byte(tt.now), 0o600); err != nil {
			t.Fatal(err)
		}
		h.stored = []convo.Event{{Kind: convo.KindSystem, Text: tt.then}}
		_, notes := a.instructions(h)
		if got := strings.Contains(strings.Join(notes, "\n"), "changed since this session began"); got != tt.want {
			t.Errorf("%s: %q", tt.name, notes)
		}
	}
}
