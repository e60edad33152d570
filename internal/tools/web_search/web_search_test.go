package web_search

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

// A script is a search engine that answers as told, and remembers what it was asked.
type script struct {
	status int
	page   string
	asked  []*http.Request
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r)
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	w.Write([]byte(s.page))
}

func (s *script) serve(t *testing.T, engine string, env map[string]string) tool.Tool {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return New(Options{Engine: engine, Base: server.URL, Getenv: func(name string) string { return env[name] }})
}

func read(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var keys = map[string]string{"BRAVE_API_KEY": "brave-key", "GOOGLE_SEARCH_API_KEY": "google-key", "GOOGLE_SEARCH_ENGINE_ID": "engine-id"}

func TestEachEngineGivesTitleAddressAndSnippet(t *testing.T) {
	want := []result{
		{"The Go Programming Language", "https://go.dev/", "Go is an open source programming language that makes it simple to build secure, scalable systems."},
		{"Effective Go <tips> & tricks", "https://go.dev/doc/effective_go?a=1&b=2", "Tips for writing clear, idiomatic Go code."},
		{"A Tour of Go", "https://go.dev/tour/welcome/1", ""},
	}
	for engine, page := range map[string]string{"duckduckgo": "duckduckgo.html", "brave": "brave.json", "google": "google.json"} {
		s := &script{page: read(t, page)}
		r := stage.New(t, nil).Call(s.serve(t, engine, keys), `{"query":"go language","num_results":10}`)
		var got output
		if err := json.Unmarshal(r.Data, &got); err != nil || !r.OK() {
			t.Fatalf("%s: %s", engine, r.Envelope())
		}
		if diff := cmp.Diff(want, got.Results); diff != "" || got.Count != 3 {
			t.Errorf("%s:\n%s", engine, diff)
		}
		if q := s.asked[0].URL.Query().Get("q"); q != "go language" {
			t.Errorf("%s was asked for %q", engine, q)
		}
	}
}

func TestKeysGoWhereTheEngineWantsThem(t *testing.T) {
	s := &script{page: "{}"}
	stage.New(t, nil).Call(s.serve(t, "brave", keys), `{"query":"x","num_results":3}`)
	if r := s.asked[0]; r.Header.Get("X-Subscription-Token") != "brave-key" || r.URL.Query().Get("count") != "3" {
		t.Errorf("%s %v", r.URL, r.Header)
	}
	s = &script{page: "{}"}
	stage.New(t, nil).Call(s.serve(t, "google", keys), `{"query":"x"}`)
	if q := s.asked[0].URL.Query(); q.Get("key") != "google-key" || q.Get("cx") != "engine-id" || q.Get("num") != "5" {
		t.Errorf("%v", q)
	}
}

func TestNumberOfResults(t *testing.T) {
	page := `<div class="results">` + strings.Repeat(`<div class="result"><a class="result__a" href="https://example.com/">x</a></div>`, 30) + `</div>`
	for args, want := range map[string]int{`{"query":"x"}`: 5, `{"query":"x","num_results":1}`: 1, `{"query":"x","num_results":10}`: 10, `{"query":"x","num_results":25}`: 10} {
		s := &script{page: page}
		r := stage.New(t, nil).Call(s.serve(t, "duckduckgo", nil), args)
		var got output
		if err := json.Unmarshal(r.Data, &got); err != nil || len(got.Results) != want {
			t.Errorf("%s gives %d results", args, len(got.Results))
		}
	}
}

func TestNothingFoundIsAnEmptyList(t *testing.T) {
	s := &script{page: read(t, "duckduckgo_nothing.html")}
	if r := stage.New(t, nil).Call(s.serve(t, "", nil), `{"query":"x"}`); string(r.Data) != `{"results":[],"count":0}` {
		t.Errorf("%s", r.Envelope())
	}
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	for _, c := range []struct {
		engine string
		env    map[string]string
		s      script
		code   tool.Code
		says   string
	}{
		{"brave", nil, script{}, "MISSING_CREDENTIALS", "BRAVE_API_KEY"},
		{"google", map[string]string{"GOOGLE_SEARCH_API_KEY": "x"}, script{}, "MISSING_CREDENTIALS", "GOOGLE_SEARCH_ENGINE_ID"},
		{"brave", keys, script{status: 401}, "INVALID_CREDENTIALS", "BRAVE_API_KEY"},
		{"google", keys, script{status: 403}, "INVALID_CREDENTIALS", "GOOGLE_SEARCH_API_KEY"},
		{"brave", keys, script{status: 429}, "RATE_LIMITED", "429"},
		{"brave", keys, script{status: 500}, "SEARCH_FAILED", "500"},
		{"brave", keys, script{page: "<html>"}, "PARSE_ERROR", "brave"},
		{"google", keys, script{page: "[1,2"}, "PARSE_ERROR", "google"},
		{"duckduckgo", nil, script{status: 202, page: "x"}, "SEARCH_FAILED", "robot"},
		{"duckduckgo", nil, script{page: read(t, "duckduckgo_robot.html")}, "SEARCH_FAILED", "robot"},
		{"duckduckgo", nil, script{page: "<html><body>another page</body></html>"}, "PARSE_ERROR", "another engine"},
		{"duckduckgo", nil, script{status: 302}, "SEARCH_FAILED", "302"},
		{"altavista", nil, script{}, "INVALID_PROVIDER", "duckduckgo, brave, google"},
	} {
		r := stage.New(t, nil).Call(c.s.serve(t, c.engine, c.env), `{"query":"x"}`)
		if r.Code() != c.code || !strings.Contains(string(r.Envelope()), c.says) {
			t.Errorf("%s %d: %s", c.engine, c.s.status, r.Envelope())
		}
		for _, key := range keys {
			if strings.Contains(string(r.Envelope()), key) {
				t.Errorf("a key is told: %s", r.Envelope())
			}
		}
	}
}

func TestAnUnreachableEngineDoesNotTellTheKey(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	tl := New(Options{Engine: "google", Base: server.URL, Getenv: func(n string) string { return keys[n] }})
	r := stage.New(t, nil).Call(tl, `{"query":"x"}`)
	if r.Code() != "SEARCH_FAILED" || strings.Contains(string(r.Envelope()), "google-key") {
		t.Errorf("%s", r.Envelope())
	}
}

func TestTheEnvironmentPicksTheEngine(t *testing.T) {
	for _, v := range []string{"IKIGAI_WEB_PROVIDER", "SWEBASH_AI_WEB_PROVIDER"} {
		tl := New(Options{Getenv: func(n string) string { return map[string]string{v: "brave"}[n] }})
		if p := stage.New(t, nil).Plan(tl, `{"query":"x"}`); p.Hosts[0] != "api.search.brave.com" {
			t.Errorf("%s: %v", v, p.Hosts)
		}
	}
}

// One a second, three at once, by whatever process of the session.
func TestSearchesWaitTheirTurn(t *testing.T) {
	s := &script{page: read(t, "duckduckgo_nothing.html")}
	server := httptest.NewServer(s)
	defer server.Close()
	now := time.Unix(1_700_000_000, 0)
	var slept []time.Duration
	world := stage.New(t, nil)
	search := func() tool.Result {
		return world.Call(New(Options{ // a new tool each time: what counts is kept with the session
			Base: server.URL, Getenv: func(string) string { return "" }, Now: func() time.Time { return now },
			Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil },
		}), `{"query":"x"}`)
	}
	for range 5 {
		search()
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second}, slept); diff != "" {
		t.Errorf("five at once wait for\n%s", diff)
	}
	slept, now = nil, now.Add(10*time.Second)
	search()
	if len(slept) != 0 {
		t.Errorf("after a pause it waits for %v", slept)
	}
	var refused int
	for range 20 {
		if r := search(); r.Code() == "RATE_LIMITED" {
			refused++
		}
	}
	if refused == 0 || refused > 10 {
		t.Errorf("%d of 20 were refused", refused)
	}
}

func TestACancelledSearchEnds(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer server.Close()
	defer close(release)
	p, err := New(Options{Base: server.URL, Getenv: func(string) string { return "" }}).Prepare(t.Context(), stage.New(t, nil).Place, json.RawMessage(`{"query":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if r := p.Run(ctx, tool.Grant{}, nil); r.Code() != tool.ToolTimeout {
		t.Errorf("%s", r.Envelope())
	}
}

func FuzzDuckDuckGo(f *testing.F) {
	for _, n := range []string{"duckduckgo.html", "duckduckgo_nothing.html", "duckduckgo_robot.html"} {
		f.Add(read(f, n))
	}
	f.Add(`<div class=result><a class=result__a href="javascript:x">`)
	f.Fuzz(func(t *testing.T, page string) {
		found, err := parseDuckDuckGo([]byte(page))
		if err != nil && found != nil {
			t.Error("results and an error")
		}
		for _, r := range found {
			if !strings.HasPrefix(r.URL, "http") || strings.ContainsAny(r.URL+r.Title+r.Snippet, "\n\r") {
				t.Errorf("%+v", r)
			}
		}
	})
}

func BenchmarkDuckDuckGo(b *testing.B) {
	page := []byte(read(b, "duckduckgo.html"))
	for b.Loop() {
		if _, err := parseDuckDuckGo(page); err != nil {
			b.Fatal(err)
		}
	}
}
