package provider

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"openai", "openrouter", "ollama", "xai", "groq"}
	for word, want := range map[string]string{
		"opnai": "openai", "OpenAI": "openai", "openaii": "openai", "olama": "ollama", "grok": "groq",
		"xia": "xai", "x": "", "completely-different": "", "": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
