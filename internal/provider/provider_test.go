package provider

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ikigai/internal/llm"
)

func TestOpenPicksFormatAndAddress(t *testing.T) {
	for _, c := range []struct{ model, base, dialect, format, url string }{
		{"openai/gpt-5", "", "", "responses", "https://api.openai.com/v1/responses"},
		{"openai/gpt-5", "https://api.openai.com/v1/", "", "responses", "https://api.openai.com/v1/responses"},
		{"openai/gpt-5", "http://127.0.0.1:9/v1", "", "openai", "http://127.0.0.1:9/v1/chat/completions"},
		{"openai/gpt-5", "http://127.0.0.1:9", "", "openai", "http://127.0.0.1:9/v1/chat/completions"},
		{"openai/gpt-5", "127.0.0.1:9/v1", "", "openai", "http://127.0.0.1:9/v1/chat/completions"},
		{"openai/gpt-5", "gateway.example/v1", "", "openai", "https://gateway.example/v1/chat/completions"},
		{"openai/gpt-5", "http://h/v1/chat/completions", "", "openai", "http://h/v1/chat/completions"},
		{"openai/gpt-5", "http://h/v1", "responses", "responses", "http://h/v1/responses"},
		{"openai/gpt-5", "", "openai", "openai", "https://api.openai.com/v1/chat/completions"},
		{"openai/gpt-5", "", "openai-chat", "openai", "https://api.openai.com/v1/chat/completions"},
		{"anthropic/c", "", "", "anthropic", "https://api.anthropic.com/v1/messages"},
		{"anthropic/c", "http://h:1", "", "anthropic", "http://h:1/v1/messages"},
		{"anthropic/c", "http://h:1/v1", "", "anthropic", "http://h:1/v1/messages"},
		{"anthropic/c", "http://h:1/proxy", "", "anthropic", "http://h:1/proxy/v1/messages"},
		{"google/g", "", "", "gemini", "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse"},
		{"google/g", "http://h/v1beta", "", "gemini", "http://h/v1beta/models/g:streamGenerateContent?alt=sse"},
		{"google/g", "http://h", "", "gemini", "http://h/v1beta/models/g:streamGenerateContent?alt=sse"},
		{"ollama/q:7b", "", "", "ollama", "http://127.0.0.1:11434/api/chat"},
		{"ollama/q:7b", "http://h:11434/v1", "", "ollama", "http://h:11434/api/chat"},
		{"ollama/q:7b", "h", "", "ollama", "http://h:11434/api/chat"},
		{"ollama/q:7b", "0.0.0.0:5", "", "ollama", "http://127.0.0.1:5/api/chat"},
		{"ollama/q:7b", "", "openai", "openai", "http://127.0.0.1:11434/v1/chat/completions"},
		{"lmstudio/q", "", "anthropic", "anthropic", "http://127.0.0.1:1234/v1/messages"},
		{"openrouter/a/b:free", "", "", "openai", "https://openrouter.ai/api/v1/chat/completions"},
		{"azure/d", "https://r.openai.azure.com/openai/v1", "", "openai", "https://r.openai.azure.com/openai/v1/chat/completions"},
		{"azure/d", "https://r.openai.azure.com/openai/deployments/d?api-version=2025-01-01", "", "openai", "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01"},
		{"azure/d", "https://r.openai.azure.com", "", "openai", "https://r.openai.azure.com/openai/v1/chat/completions"},
		{"acme/m", "http://h/v1", "openai", "openai", "http://h/v1/chat/completions"},
	} {
		p, err := open(Options{Model: c.model, BaseURL: c.base, Dialect: c.dialect})
		if err != nil {
			t.Errorf("%s %s: %v", c.model, c.base, err)
			continue
		}
		if p.format.Name != c.format || p.url.String() != c.url {
			t.Errorf("%s %s %s: %s %s, want %s %s", c.model, c.base, c.dialect, p.format.Name, p.url, c.format, c.url)
		}
	}
}

func TestAVariableNamesTheAddress(t *testing.T) {
	env := map[string]string{"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/", "OLLAMA_HOST": "0.0.0.0", "OPENAI_BASE_URL": "http://h/v1"}
	getenv := func(k string) string { return env[k] }
	for model, want := range map[string]string{
		"azure/d":     "https://r.openai.azure.com/openai/v1/chat/completions",
		"ollama/x":    "http://127.0.0.1:11434/api/chat",
		"openai/x":    "http://h/v1/chat/completions",
		"anthropic/x": "https://api.anthropic.com/v1/messages",
	} {
		p, err := open(Options{Model: model, Getenv: getenv})
		if err != nil || p.url.String() != want {
			t.Errorf("%s: %v %v, want %s", model, p, err, want)
		}
	}
}

func TestOpenRefusesWhatItCannotMean(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says []string
	}{
		{Options{Model: "opnai/gpt-5"}, []string{`"opnai"`, "openai?", "anthropic", "groq", "--base-url"}},
		{Options{Model: "Anthropic/x"}, []string{"anthropic?"}},
		{Options{Model: "acme/x", BaseURL: "http://h/v1"}, []string{"--dialect"}},
		{Options{Model: "gpt-5"}, []string{"PROVIDER/MODEL", "gpt-5"}},
		{Options{Model: "claude-opus-5"}, []string{"anthropic/claude-opus-5"}},
		{Options{Model: "openai/"}, []string{"PROVIDER/MODEL"}},
		{Options{Model: ""}, []string{"PROVIDER/MODEL"}},
		{Options{Model: "openai/x", Dialect: "antropic"}, []string{"anthropic?", "gemini"}},
		{Options{Model: "openai/x", BaseURL: "ftp://h/v1"}, []string{"--base-url", "ftp://h/v1"}},
		{Options{Model: "openai/x", BaseURL: "http://", BaseFrom: "base_url in config.json:3"}, []string{"config.json:3"}},
		{Options{Model: "openai/x", BaseURL: "http://me:hunter2@ h"}, []string{"--base-url"}},
		{Options{Model: "azure/x"}, []string{"AZURE_OPENAI_ENDPOINT", "--base-url"}},
	} {
		p, err := Open(c.o)
		var e *llm.Error
		if p != nil || !errors.As(err, &e) || e.Class != llm.Config {
			t.Errorf("%+v: %v, %v", c.o, p, err)
			continue
		}
		all := e.Message + "\n" + e.Hint
		for _, s := range c.says {
			if !strings.Contains(all, s) && !(s == "PROVIDER/MODEL" && strings.Contains(all, "write it as ")) {
				t.Errorf("%s: %q is missing in %q", c.o.Model, s, all)
			}
		}
		if strings.Contains(all, "hunter2") {
			t.Errorf("a password is in %q", all)
		}
	}
}

func TestNothingIsLookedUpBeforeTheFirstStream(t *testing.T) {
	asked := 0
	p, err := Open(Options{
		Model: "openai/gpt-5",
		Keys: func(context.Context, string, []string) (string, string, error) {
			asked++
			return "", "", nil
		},
		Transport: forbidden{t},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Open("s")
	if asked != 0 {
		t.Error("the key was looked up by Open")
	}
	var got outcome
	got.stream(t.Context(), c)
	fault{class: llm.Config, says: []string{"openai", "OPENAI_API_KEY", "ikigai key set openai"}}.check(t, got)
	if asked != 1 {
		t.Errorf("the key was looked up %d times", asked)
	}
}

type forbidden struct{ t *testing.T }

func (f forbidden) RoundTrip(*http.Request) (*http.Response, error) {
	f.t.Error("something was sent")
	return nil, errors.New("forbidden")
}

func TestKeysThatCannotBeSent(t *testing.T) {
	for name, keys := range map[string]func(context.Context, string, []string) (string, string, error){
		"line break": func(context.Context, string, []string) (string, string, error) { return "sk-a\nb: c", "x.key", nil },
		"broken": func(context.Context, string, []string) (string, string, error) {
			return "", "", errors.New("no such command")
		},
	} {
		o := testOptions("http://127.0.0.1:9")
		o.Keys, o.Transport = keys, forbidden{t}
		p, err := open(o)
		if err != nil {
			t.Fatal(err)
		}
		var got outcome
		got.stream(t.Context(), p.Open("s"))
		t.Run(name, func(t *testing.T) {
			fault{class: llm.Config, says: []string{"key", "ikigai key set fake"}}.check(t, got)
			if strings.Contains(got.everything(), "sk-a") {
				t.Error("the key is in the output")
			}
		})
	}
}

func TestARefusedKeyIsLookedUpAgain(t *testing.T) {
	srv := httptest.NewServer(&script{steps: []step{said(401, "no"), hi()}})
	defer srv.Close()
	o := testOptions(srv.URL)
	asked := 0
	o.Keys = func(context.Context, string, []string) (string, string, error) {
		asked++
		return testKey, "x", nil
	}
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := p.Open("s")
	var first, second, third outcome
	first.stream(t.Context(), c)
	second.stream(t.Context(), c)
	third.stream(t.Context(), c)
	fault{class: llm.Auth}.check(t, first)
	fault{text: "hi"}.check(t, second)
	fault{text: "hi"}.check(t, third)
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
}

func TestAKeyOverPlainHTTPIsSaid(t *testing.T) {
	proxy := httptest.NewServer(&script{steps: []step{hi()}})
	defer proxy.Close()
	o := testOptions("http://gateway.invalid/v1")
	o.Network.Proxy = through(proxy.URL)
	var got outcome
	got.listen(&o)
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := p.Open("s")
	got.stream(t.Context(), c)
	got.stream(t.Context(), c)
	if len(got.notices) != 1 || !strings.Contains(got.notices[0], "unencrypted to gateway.invalid:80") {
		t.Errorf("notices %q", got.notices)
	}
}

func TestTheRowsHeaderCarriesTheKey(t *testing.T) {
	var seen http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		hi()(w, r)
	}))
	defer srv.Close()
	o := testOptions(srv.URL)
	o.Model = "azure/d"
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got outcome
	got.stream(t.Context(), p.Open("s"))
	if seen.Get("api-key") != testKey || seen.Get("Authorization") != "" {
		t.Errorf("headers %v", seen)
	}
}

func TestAnUnknownModelNamesTheNearest(t *testing.T) {
	srv := httptest.NewServer(&script{steps: []step{said(404, "no such model")}})
	defer srv.Close()
	o := testOptions(srv.URL)
	o.Model = "openai/gtp-4o-mini"
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got outcome
	got.stream(t.Context(), p.Open("s"))
	fault{class: llm.NotFound, says: []string{"no such model", "did you mean gpt-4o-mini?"}}.check(t, got)
}

func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{"http://h/v1", "h:80", "https://u:p@[::1]:9/v1?x=1#f", "0.0.0.0", "%zz", "//", "http://h/%2f/v1/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, base string) {
		for _, name := range Dialects() {
			p, err := open(Options{Model: "acme/a b/c?d", BaseURL: base, Dialect: name})
			if base == "" || err != nil {
				continue
			}
			if p.url.Host != p.at.base.Host || p.url.Hostname() == "" || p.url.Scheme != "http" && p.url.Scheme != "https" {
				t.Errorf("%q became %s", base, p.url)
			}
			if _, err := http.NewRequest(http.MethodPost, p.url.String(), nil); err != nil {
				t.Errorf("%q became %s: %v", base, p.url, err)
			}
		}
	})
}
