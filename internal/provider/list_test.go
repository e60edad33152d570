package provider

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// serving answers one path with a body, and nothing else.
func serving(t *testing.T, path, body string) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestListSaysWhatIsUsableAndWhatIsMissing(t *testing.T) {
	t.Cleanup(func() { goleak.VerifyNone(t) }) // after the servers are closed
	stuck := httptest.NewServer(http.HandlerFunc(mute))
	defer stuck.Close()
	got := List(t.Context(), ListOptions{
		Keys: func(_ context.Context, name string, vars []string) (string, string, error) {
			if name == "groq" {
				return testKey, vars[0], nil
			}
			return "", "", nil
		},
		Base: map[string]string{
			"ollama":   serving(t, "/api/tags", `{"models":[{"name":"qwen2.5-coder:7b"},{"name":"llama3.2"}]}`),
			"lmstudio": serving(t, "/v1/models", `{"object":"list","data":[{"id":"qwen3"}]}`),
			"llamacpp": serving(t, "/", "<html>some other server</html>"),
			"vllm":     stuck.URL,
		},
		Timeout: 300 * time.Millisecond,
	})
	if len(got) != len(rows) {
		t.Fatalf("%d of %d providers", len(got), len(rows))
	}
	for _, c := range []struct {
		name    string
		usable  bool
		missing string
		model   string
	}{
		{"openai", false, "OPENAI_API_KEY", "openai/gpt-5"},
		{"groq", true, "", "groq/openai/gpt-oss-120b"},
		{"azure", false, "AZURE_OPENAI_ENDPOINT", ""},
		{"ollama", true, "", "ollama/qwen2.5-coder:7b"},
		{"lmstudio", true, "", "lmstudio/qwen3"},
		{"llamacpp", false, "404", ""},
		{"vllm", false, "vllm serve", ""},
	} {
		s := got[slices.IndexFunc(got, func(s Status) bool { return s.Provider == c.name })]
		if s.Usable != c.usable || !strings.Contains(s.Missing, c.missing) || (c.missing == "") != (s.Missing == "") {
			t.Errorf("%s: %+v", c.name, s)
		}
		if c.model != "" && !slices.Contains(s.Models, c.model) {
			t.Errorf("%s: %s is missing in %v", c.name, c.model, s.Models)
		}
		if s.KeyFrom == testKey {
			t.Errorf("%s shows its key", c.name)
		}
	}
}
