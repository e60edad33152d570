// Package web_search is the tool that asks a search engine.
package web_search

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

const (
	maxQuery = 500 // characters
	maxPage  = 2 << 20
	most     = 10
	usual    = 5
)

type input struct {
	Query string `json:"query" doc:"The search query" alias:"q,search_term,search_query"`
	Count int    `json:"num_results,omitempty" doc:"Number of results to return (default: 5, max: 10)" default:"5" alias:"count,max_results,limit"`
}

// A result is what an engine found.
type result struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

type output struct {
	Results []result `json:"results"`
	Count   int      `json:"count"`
}

// Options say which engine is asked and how. The zero value is the table's first
// engine, with keys from the environment.
type Options struct {
	Engine string              // the name of a row; empty means what the environment says
	Getenv func(string) string // os.Getenv when nil
	Client *http.Client
	Base   string // another address in the place of the engine's, for tests
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
}

// Tool searches the web.
var Tool = New(Options{})

// New makes the tool for one engine.
func New(o Options) tool.Tool {
	s := &searcher{o.filled()}
	return toolkit.New(toolkit.Def[input, output]{
		Name:    "web_search",
		Doc:     "Search the web for information. Returns relevant results with titles, URLs, and snippets.",
		Risk:    tool.Low,
		Effects: []tool.Effect{tool.Net},
		Plan:    s.plan,
		Run:     s.run,
	})
}

func (o Options) filled() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Client == nil {
		// A search engine answers itself; whoever it would send us to was not asked for.
		o.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type searcher struct{ Options }

// engine is the row that was chosen, by the settings or by the environment.
func (s *searcher) engine() (engine, error) {
	name := s.Engine
	for _, v := range []string{"IKIGAI_WEB_PROVIDER", "SWEBASH_AI_WEB_PROVIDER"} {
		if name == "" {
			name = s.Getenv(v)
		}
	}
	e, err := find(name)
	if s.Base != "" {
		e.url = s.Base
	}
	return e, err
}

func (s *searcher) plan(_ context.Context, _ tool.Place, in input) (tool.Plan, error) {
	switch n := utf8.RuneCountInString(in.Query); {
	case strings.TrimSpace(in.Query) == "":
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "query is empty")
	case n > maxQuery:
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "query has %d characters; at most %d are taken", n, maxQuery)
	case in.Count < 0:
		return tool.Plan{}, tool.Errorf(tool.InvalidParams, "num_results is %d; it is from 1 to %d", in.Count, most)
	}
	e, err := s.engine()
	if err != nil {
		return tool.Plan{}, err
	}
	u, err := url.Parse(e.url)
	if err != nil {
		return tool.Plan{}, fmt.Errorf("reading the address of %s: %w", e.name, err)
	}
	return tool.Plan{Summary: fmt.Sprintf("search %s for %q", e.name, in.Query), Hosts: []string{u.Hostname()}}, nil
}

func (s *searcher) run(ctx context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (output, error) {
	e, err := s.engine()
	if err != nil {
		return output{}, err
	}
	keys, err := e.credentials(s.Getenv)
	if err != nil {
		return output{}, err
	}
	if err := s.wait(ctx, at); err != nil {
		return output{}, err
	}
	n := min(most, in.Count)
	if n == 0 {
		n = usual
	}
	page, err := s.fetch(ctx, e, in.Query, n, keys)
	if err != nil {
		return output{}, err
	}
	found, err := e.parse(page)
	if err != nil {
		return output{}, err
	}
	found = found[:min(len(found), n)]
	return output{Results: append([]result{}, found...), Count: len(found)}, nil
}

func (s *searcher) fetch(ctx context.Context, e engine, query string, n int, keys []string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"?"+e.ask(query, n, keys).Encode(), nil)
	if err != nil {
		return nil, tool.Errorf("SEARCH_FAILED", "asking %s: %w", e.name, err)
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; ikigai)")
	if e.header != "" {
		req.Header.Set(e.header, keys[0])
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, tool.Errorf("SEARCH_FAILED", "asking %s: %s", e.name, withoutQuery(err))
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err != nil {
		return nil, tool.Errorf("SEARCH_FAILED", "reading the answer of %s: %w", e.name, err)
	}
	return page, e.judge(resp.StatusCode)
}

// withoutQuery is a network error without the address, in which a key may stand.
func withoutQuery(err error) string {
	if u, ok := err.(*url.Error); ok {
		return u.Err.Error()
	}
	return err.Error()
}

// Summary says how many there are.
func (o output) Summary() string { return fmt.Sprintf("%d results", o.Count) }

// Aliases are the names under which other agents search the web, here with t.
func Aliases(t tool.Tool) []toolkit.Alias {
	return toolkit.Also(t, "google_web_search", "search_web", "WebSearch", "internet_search")
}
