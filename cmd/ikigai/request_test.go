package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ikigai/internal/fake"
)

// TestFirstRequestIsSmall counts the bytes of the first request: every one of
// them is paid for with every prompt.
func TestFirstRequestIsSmall(t *testing.T) {
	bin := buildIkigai(t)
	for set, most := range map[string]int{"ikigai": 5 << 10, "default": 8 << 10} {
		m := fake.NewModel([]fake.Reply{{Text: "hi"}})
		dir := t.TempDir()
		cmd := exec.Command(bin, "run", "--model", "openai/scripted", "--base-url", m.URL+"/v1", "--toolset", set, "--ephemeral", "hello")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "OPENAI_API_KEY=sk-test-0123456789", "NO_PROXY=*", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		n := len(m.Requests()[0])
		t.Logf("toolset %s: %d bytes", set, n)
		if n > most {
			t.Errorf("the first request with toolset %s has %d bytes; at most %d", set, n, most)
		}
		m.Close()
	}
}
