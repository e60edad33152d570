package spell

import "testing"

func TestNearest(t *testing.T) {
	tools := []string{"bash", "file_read", "file_write", "glob", "grep", "anthropic"}
	models := []string{"gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-4o"}
	commands := []string{"run", "rm", "tool", "session", "models", "doctor", "config", "key"}
	for _, c := range []struct {
		written, want string
		known         []string
	}{
		{"bsah", "bash", tools},
		{"read", "file_read", tools},
		{"fileread", "file_read", tools},
		{"grep_search", "grep", tools},
		{"Anthropc", "anthropic", tools},
		{"xyzzy-nothing-like-it", "", tools},
		{"", "", tools},
		{"gpt-5-mnii", "gpt-5-mini", models},
		{"gpt-5-mini-2025", "gpt-5-mini", models},
		{"gpt5", "gpt-5", models},
		{"gpt-5-nan", "gpt-5-nano", models},
		{"gpt-4", "gpt-4o", models},
		{"rnu", "run", commands},
		{"sesion", "session", commands},
		{"dcotor", "doctor", commands},
		{"conf", "config", commands},
		{"xq", "", commands},
		{"q", "", commands},
		{"modle", "model", []string{"mode", "model"}},
		{"bsh", "bash", []string{"zsh", "bash"}},
	} {
		if got := Nearest(c.written, c.known); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.written, got, c.want)
		}
	}
}

func TestSwappedLettersAreOneSlip(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"ab", "ba", 1},
		{"abcd", "acbd", 1},
		{"kitten", "sitting", 3},
		{"", "abc", 3},
		{"abc", "", 3},
		{"same", "same", 0},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
