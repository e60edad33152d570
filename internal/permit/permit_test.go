package permit

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

func engine(mode Mode, confined bool, rules ...Rule) *Engine {
	return New(Options{
		Mode: mode, Confined: func() bool { return confined }, Dir: "/ws", Roots: []string{"/ws", "/more"}, Scratch: []string{"/session"},
		Home: "/home/u", Own: []string{"/home/u/.config/ikigai"}, Fixed: rules,
	})
}

func reads(p ...string) Request {
	return Request{Spec: tool.Spec{Name: "look", Effects: []tool.Effect{tool.Read}}, Plan: tool.Plan{Reads: p}}
}

func writes(p ...string) Request {
	return Request{Spec: tool.Spec{Name: "put", Effects: []tool.Effect{tool.Write}, Risk: tool.High}, Plan: tool.Plan{Writes: p}}
}

func runs(line string) Request {
	return Request{Spec: tool.Spec{Name: "sh", Effects: []tool.Effect{tool.Exec}, Risk: tool.High}, Plan: tool.Plan{Command: line}}
}

func fetches(host string) Request {
	return Request{Spec: tool.Spec{Name: "get", Effects: []tool.Effect{tool.Net}}, Plan: tool.Plan{Hosts: []string{host}}}
}

// TestTheMatrix is the table of the requirements, row by row.
func TestTheMatrix(t *testing.T) {
	columns := []struct {
		name string
		req  Request
	}{
		{"read inside", reads("/ws/a.go")},
		{"write inside", writes("/more/a.go")},
		{"bash read_only", runs("ls -la src")},
		{"bash writes in workspace", runs("touch src/new.go")},
		{"network", fetches("docs.example")},
		{"must-ask", runs("some-unknown-program --flag")},
		{"dangerous", runs("rm -rf /")},
		{"read outside", reads("/etc/hosts")},
		{"write outside", writes("/tmp/x")},
		{"sensitive", reads("/ws/.env")},
	}
	a, k, d := Allow, Ask, Deny
	rows := []struct {
		mode     Mode
		confined bool
		want     []Decision
	}{
		{Plan, true, []Decision{a, d, a, d, d, d, d, d, d, d}},
		{AskMode, true, []Decision{a, k, a, k, k, k, k, k, k, k}},
		{AutoEdit, true, []Decision{a, a, a, k, k, k, k, k, k, k}},
		{Auto, true, []Decision{a, a, a, a, k, a, k, k, k, k}},
		{Auto, false, []Decision{a, a, a, k, k, k, k, k, k, k}},
		{Yolo, true, []Decision{a, a, a, a, a, a, a, a, a, a}},
	}
	for _, row := range rows {
		for i, c := range columns {
			v := engine(row.mode, row.confined).Judge(c.req)
			if v.Decision != row.want[i] {
				t.Errorf("%s (confined %v), %s: %s, want %s; %s", row.mode, row.confined, c.name, v.Decision, row.want[i], v.Reason)
			}
			if v.By != convo.ByMode || v.Reason == "" {
				t.Errorf("%s, %s: by %q because %q", row.mode, c.name, v.By, v.Reason)
			}
		}
	}
}

func TestTheSessionsOwnFolderIsNobodysBusiness(t *testing.T) {
	for _, r := range []Request{writes("/session/tasks.json"), reads("/session/output-1.txt")} {
		if v := engine(Plan, true).Judge(r); v.Decision != Allow {
			t.Errorf("%v: %s", r.Plan, v.Reason)
		}
	}
}

func TestToolsetsMayAskBeforeReading(t *testing.T) {
	o := Options{Mode: AskMode, Dir: "/ws", Roots: []string{"/ws"}, AskReads: func(r Request) bool { return r.Spec.Name == "look" }}
	e := New(o)
	if v := e.Judge(reads("/ws/a")); v.Decision != Ask {
		t.Errorf("%+v", v)
	}
	if _, err := e.Learn(context.Background(), reads("/ws/src/a"), Session); err != nil {
		t.Fatal(err)
	}
	if v := e.Judge(reads("/ws/src/b")); v.Decision != Allow {
		t.Errorf("after the answer: %+v", v)
	}
	o.Mode = Auto
	if v := New(o).Judge(reads("/ws/a")); v.Decision != Allow {
		t.Errorf("auto asks: %+v", v)
	}
}

func TestWhatDeclaresNothingIsAsked(t *testing.T) {
	r := Request{Spec: tool.Spec{Name: "mystery"}}
	if v := engine(AutoEdit, true).Judge(r); v.Decision != Ask || v.Risk != tool.High {
		t.Errorf("%+v", v)
	}
}

func parse(t *testing.T, d Decision, texts ...string) []Rule {
	t.Helper()
	var rules []Rule
	for _, text := range texts {
		r, err := ParseRule(d, text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	return rules
}

func TestDenyIsOverAskIsOverAllow(t *testing.T) {
	allow, ask, deny := parse(t, Allow, "sh(git *)"), parse(t, Ask, "sh(git push *)"), parse(t, Deny, "sh(git push --force *)")
	e := engine(AskMode, true, slices.Concat(allow, ask, deny)...)
	for line, want := range map[string]Decision{
		"git log": Allow, "git push origin": Ask, "git push --force origin": Deny, "git log && git push --force": Deny, "make": Ask,
	} {
		if v := e.Judge(runs(line)); v.Decision != want {
			t.Errorf("%s: %s, want %s (%s)", line, v.Decision, want, v.Reason)
		}
	}
	yolo := engine(Yolo, true, deny...)
	if v := yolo.Judge(runs("git push --force origin")); v.Decision != Deny || v.By != convo.ByRule {
		t.Errorf("a deny rule does not hold in yolo: %+v", v)
	}
}

func TestRulesForPathsAndHosts(t *testing.T) {
	e := engine(AskMode, true, slices.Concat(parse(t, Allow, "put(src/**)", "put(/tmp/mine/*)", "get(docs.example)", "look(~/notes/**)"), parse(t, Deny, "put(src/secret/**)", "*(vendor/**)"))...)
	for _, tt := range []struct {
		req  Request
		want Decision
	}{
		{writes("/ws/src/a/b.go"), Allow},
		{writes("/more/src/b.go"), Allow},
		{writes("/ws/other.go"), Ask},
		{writes("/ws/src/a.go", "/ws/other.go"), Ask},
		{writes("/ws/src/secret/k"), Deny},
		{writes("/tmp/mine/a"), Allow},
		{writes("/tmp/mine/deep/a"), Ask},
		{fetches("docs.example"), Allow},
		{fetches("evil.example"), Ask},
		{reads("/home/u/notes/x.md"), Allow},
		{reads("/ws/vendor/x.go"), Deny},
	} {
		if v := e.Judge(tt.req); v.Decision != tt.want {
			t.Errorf("%v %v: %s, want %s", tt.req.Plan, tt.req.Spec.Name, v.Decision, tt.want)
		}
	}
}

func TestRulesThatCannotMatchAreRefused(t *testing.T) {
	for _, text := range []string{"", "bash(", "bash()", "(ls)", "ba sh(ls)"} {
		if r, err := ParseRule(Allow, text); err == nil {
			t.Errorf("%q is taken as %+v", text, r)
		}
	}
	odd := parse(t, Allow, "put(src/[)")[0]
	if odd.Suits(writes().Spec) == nil || odd.Suits(reads().Spec) != nil {
		t.Error("a pattern that matches no path suits a tool of paths")
	}
}

func TestAnswersForASessionCoverTheSameAgainAndNoMore(t *testing.T) {
	e := engine(AskMode, true)
	line := runs("go test ./... && touch done.txt")
	if e.Judge(line).Decision != Ask {
		t.Fatal("not asked at first")
	}
	rules, err := e.Learn(context.Background(), line, Session)
	if err != nil || len(rules) != 2 {
		t.Fatalf("learnt %q, %v: want one rule per simple command", rules, err)
	}
	for l, want := range map[string]Decision{"go test ./... && touch done.txt": Allow, "go test ./...": Allow, "touch done.txt && rm -rf src": Ask, "go test ./... > /etc/passwd": Ask} {
		if v := e.Judge(runs(l)); v.Decision != want {
			t.Errorf("after that, %s: %s, want %s", l, v.Decision, want)
		}
	}
	if _, err := e.Learn(context.Background(), writes("/ws/src/a.go"), Session); err != nil {
		t.Fatal(err)
	}
	if rules, err := e.Learn(context.Background(), writes("/ws/go.mod"), Session); err != nil || !slices.Equal(rules, []string{"put(go.mod)"}) {
		t.Errorf("for a file at the top it learns %q, %v", rules, err)
	}
	for p, want := range map[string]Decision{"/ws/src/b.go": Allow, "/ws/go.mod": Allow, "/ws/main.go": Ask, "/tmp/x": Ask} {
		if v := e.Judge(writes(p)); v.Decision != want {
			t.Errorf("%s: %s, want %s", p, v.Decision, want)
		}
	}
}

func TestOnceIsForgottenAndDangerIsNeverRemembered(t *testing.T) {
	e := engine(AskMode, true)
	if rules, err := e.Learn(context.Background(), runs("make"), Once); len(rules) > 0 || err != nil {
		t.Errorf("%q, %v", rules, err)
	}
	if rules, err := e.Learn(context.Background(), runs("rm -rf /"), Always); err == nil {
		t.Errorf("remembered %q", rules)
	}
	if n := len(e.List()); n != 0 {
		t.Errorf("%d rules are in force", n)
	}
}

type shelf struct{ saved []string }

func (s *shelf) Save(_ context.Context, r Rule) error {
	s.saved = append(s.saved, r.Decision.String()+" "+r.Text)
	return nil
}

func TestAlwaysIsSaved(t *testing.T) {
	s := &shelf{}
	e := New(Options{Mode: AskMode, Dir: "/ws", Roots: []string{"/ws"}, Rules: s})
	if _, err := e.Learn(context.Background(), writes("/ws/src/a.go"), Always); err != nil || !slices.Equal(s.saved, []string{"allow put(src/**)"}) {
		t.Errorf("saved %q, %v", s.saved, err)
	}
	if !e.Forget("put(src/**)") || e.Forget("put(src/**)") {
		t.Error("a rule is not forgotten once")
	}
}

func TestGrantHoldsWhatWasShownAndNoMore(t *testing.T) {
	if g := engine(AskMode, true).Judge(writes("/tmp/x")).Grant; !slices.Equal(g.Write, []string{"/tmp/x"}) || g.Net || g.Unconfined {
		t.Errorf("%+v", g)
	}
	if g := engine(Auto, true).Judge(runs("unknown-program")).Grant; g.Net || len(g.Write) > 0 {
		t.Errorf("what the mode lets through unseen gets %+v", g)
	}
	if g := engine(AskMode, true).Judge(runs("curl https://example.com")).Grant; !g.Net {
		t.Error("a command that needs the network would not get it")
	}
	if g := engine(Yolo, true).Judge(reads("/ws/a")).Grant; !g.Unconfined {
		t.Error("yolo confines")
	}
}

func TestSensitivePathsAskAndTheirExamplesDoNot(t *testing.T) {
	e := engine(Auto, true)
	for p, want := range map[string]Decision{
		"/ws/.env": Ask, "/ws/.env.local": Ask, "/ws/.env.example": Allow, "/ws/server.pem": Ask, "/home/u/.ssh/id_ed25519": Ask, "/etc/shadow": Ask,
		"/proc/1/environ": Ask, "/home/u/.config/ikigai/policies.json": Ask, "/ws/env.go": Allow, "/session/output-1.txt": Allow, "/wsx/a.go": Ask,
	} {
		if v := e.Judge(reads(p)); v.Decision != want {
			t.Errorf("%s: %s, want %s (%s)", p, v.Decision, want, v.Reason)
		}
	}
}

func TestReasonsNameTheRuleAndItsPlace(t *testing.T) {
	r := parse(t, Deny, "sh(rm *)")[0]
	r.Source, r.Why = "policies.json:4", "we keep things"
	v := engine(Yolo, true, r).Judge(runs("rm a"))
	if v.Rule != "sh(rm *) (policies.json:4)" || !strings.Contains(v.Reason, "we keep things") {
		t.Errorf("%q, %q", v.Rule, v.Reason)
	}
}

func BenchmarkJudge(b *testing.B) {
	e := engine(AskMode, true)
	r := runs("cd internal && go test ./... -run TestFoo | tail -20")
	b.ReportAllocs()
	for b.Loop() {
		e.Judge(r)
	}
}
