package provider

import (
	"math"
	"strings"
	"testing"

	"ikigai/internal/convo"
)

func TestTheCatalogueIsSound(t *testing.T) {
	c := Builtin()
	seen := map[string]bool{}
	if err := c.check(); err != nil {
		t.Error(err)
	}
	for _, id := range c.ids {
		m := c.Lookup(id)
		name, _, _ := strings.Cut(m.ID, "/")
		if _, ok := Find(name); !ok || len(c.raw[strings.ToLower(id)]) > 1 {
			t.Errorf("%s: unknown provider or listed twice", m.ID)
		}
		seen[m.ID] = true
		if m.Window < 8192 || m.Reply < 1024 || !m.Tools {
			t.Errorf("%s: window %d, reply %d, tools %v", m.ID, m.Window, m.Reply, m.Tools)
		}
		if p := m.Price; p != nil && (p.In <= 0 || p.Out < p.In || p.Read != nil && *p.Read >= p.In || p.Long != nil && p.Long.In < p.In) {
			t.Errorf("%s: a price that cannot be: %+v", m.ID, *p)
		}
	}
	if c.Date == "" || len(seen) < 50 {
		t.Errorf("date %q, %d models", c.Date, len(seen))
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		model  string
		known  bool
		priced bool
	}{
		{"openai/gpt-5", true, true},
		{"openai/gpt-5-2025-08-07", true, true},
		{"anthropic/claude-sonnet-4-5-20250929", true, true},
		{"anthropic/claude-sonnet-4-5-latest", true, true},
		{"meta/llama-4-scout-17b-16e-instruct-fp8", true, false},
		{"openrouter/qwen/qwen3-coder:free", true, true},
		{"azure/gpt-5", true, false},
		{"azure/our-deployment", false, false},
		{"openai/gpt-99", false, false},
		{"ollama/qwen2.5-coder:7b", false, false},
		{"nobody/x", false, false},
		{"", false, false},
	} {
		m := Lookup(c.model)
		if m.Known != c.known || (m.Price != nil) != c.priced || m.Window == 0 || m.Reply == 0 || m.ID != c.model {
			t.Errorf("%s: %+v", c.model, m)
		}
	}
}

func TestAnOverlayChangesOnlyWhatItSays(t *testing.T) {
	c, err := Builtin().With([]byte(`{"models":[{"id":"openai/gpt-5","window":1000,"price":{"in":99}},{"id":"acme/one","window":5}]}`))
	if err != nil {
		t.Fatal(err)
	}
	before, now := Lookup("openai/gpt-5"), c.Lookup("openai/gpt-5")
	if now.Window != 1000 || now.Reply != before.Reply || now.Price.In != 99 || now.Price.Out != before.Price.Out {
		t.Errorf("%+v", now)
	}
	if before.Price.In == 99 {
		t.Error("the overlay wrote into the built-in catalogue")
	}
	if m := c.Lookup("acme/one"); !m.Known || m.Window != 5 || m.Reply == 0 {
		t.Errorf("%+v", m)
	}
	for _, bad := range []string{`[`, `{"models":[{"id":"x"}]}`, `{"models":[{"id":"a/b","window":"big"}]}`} {
		if _, err := Builtin().With([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestCost(t *testing.T) {
	n := func(i int) *int { return &i }
	f := func(x float64) *float64 { return &x }
	m := Info{Price: &Price{In: 2, Out: 10, Read: f(0.5), Long: &Price{Over: 1000, In: 4, Out: 20}}}
	for _, c := range []struct {
		name string
		u    convo.Usage
		m    Info
		want *float64
	}{
		{"plain", convo.Usage{Input: n(1000), Output: n(100)}, m, f(0.003)},
		{"cached", convo.Usage{Input: n(1000), Output: n(0), CacheRead: n(800), CacheWrite: n(100)}, m, f(0.0008)},
		{"long", convo.Usage{Input: n(1001), Output: n(0)}, m, f(0.004004)},
		{"told by the provider", convo.Usage{CostUSD: f(7)}, m, f(7)},
		{"no price", convo.Usage{Input: n(1), Output: n(1)}, Info{}, nil},
		{"half a report", convo.Usage{Input: n(1)}, m, nil},
		{"more cached than there is", convo.Usage{Input: n(10), Output: n(0), CacheRead: n(20)}, m, f(0.00001)},
	} {
		got := Cost(c.u, c.m)
		if (got == nil) != (c.want == nil) || got != nil && math.Abs(*got-*c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
