package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// sequence gives events as a store would, a second apart.
func sequence(events ...convo.Event) Events {
	return func(yield func(convo.Event, error) bool) {
		for i, e := range events {
			if e.At.IsZero() {
				e.Seq, e.At = int64(i+1), noon.Add(time.Duration(i)*time.Second)
			}
			if e.Turn == 0 && i > 0 {
				e.Turn = 1
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func said(k convo.Kind, text string) convo.Event { return convo.Event{Kind: k, Text: text} }

func called(id, name, args string) convo.Event {
	c := tool.Call{ID: id, Name: name, Args: json.RawMessage(args)}
	return convo.Of(c.Summary(), convo.ToolCall{Call: c})
}

func answered(id, name, data, display string) convo.Event {
	r := tool.Result{CallID: id, Name: name, Data: json.RawMessage(data), Took: 300 * time.Millisecond}
	if display != "" {
		r.Display = json.RawMessage(display)
	}
	return convo.Of("done", convo.ToolResult{Result: r})
}

const editDiff = "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n-old line\n+new line\n same\n"

// sample is a session with one of everything, in which every text is s.
func sample(s string) Events {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	n := 7
	object := fmt.Sprintf(`{"path":%s,"n":1}`, quoted)
	display, err := json.Marshal(map[string]string{"diff": editDiff + "+" + s + "\n"})
	if err != nil {
		panic(err)
	}
	failure := tool.Fail(tool.Call{ID: "b", Name: s}, tool.Code(s), "%s", s)
	failure.Failure.Stdout, failure.Failure.Stderr = s, s
	return sequence(
		said(convo.KindSystem, s), said(convo.KindUser, s), said(convo.KindThinking, s), said(convo.KindAssistant, s+"\n\n```go\n"+s+"\n```\n"),
		called("a", s, object), called("b", s, s), convo.Of("", convo.Usage{Model: s, Input: &n, Output: &n, ModelMS: 40}),
		convo.Of(s, convo.Decision{CallID: "a", Name: s, Allowed: true, By: convo.ByPerson, Reason: s, Rule: s, Risk: s, Scope: s}),
		convo.Of(s, convo.Decision{CallID: "b", Name: s, By: convo.ByRule, Reason: s, Rule: s}),
		answered("a", s, fmt.Sprintf(`{"output":%s}`, quoted), string(display)),
		convo.Of(s, convo.ToolResult{Result: failure}), answered("stray", s, object, ""),
		convo.Of(s, convo.Command{Name: s, Args: s}), convo.Event{Kind: "future", Text: s, Body: convo.Unknown{Of: "future", Data: json.RawMessage(object)}},
		said(convo.KindSummary, s), called("open", s, object), convo.Of("", convo.End{Stop: convo.StopCancelled}),
	)
}

func page1(t testing.TB, s Session, events Events) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, s, events); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t testing.TB, s Session, events Events) string {
	t.Helper()
	var b bytes.Buffer
	if err := Markdown(&b, s, events); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile is text that would like to be more than text.
var hostile = []string{
	`<script>document.title='owned'</script>`,
	`</pre></style></title><img src=http://outside.example/a onerror=alert(1)>`,
	`"><svg/onload=fetch('http://outside.example/b')>`,
	`![x](http://outside.example/c.png) [y](javascript:alert(1)) <http://outside.example/d>`,
	"[r]: http://outside.example/e\n![r]\n",
	"```\n</code><iframe src=//outside.example/f>\n```\n<style>@import 'http://outside.example/g'</style>",
	"- ```\n  <img src=//outside.example/h>\n  ```\n<img src=//outside.example/i>",
	"    ```\n<img src=//outside.example/j>\n~~~ `x`\n<img src=//outside.example/k>",
	"\x1b]0;owned\x07\x1b[31mred\x1b[0m \x9b2J \r\n over",
	"user\u202etxt.exe\u2066 zero\u200bwidth \U000e0041tag",
	"````\n```\n````` x\n<b>\n",
	"<!-- \n<![CDATA[ <?php <a\nhref=x>",
	"&lt;script&gt; \\<img src=x> \\![a](b)",
	"caf\xe9 \x00 \ufeff",
}

// tags are all that a page is made of.
var tags = regexp.MustCompile(`^<(!DOCTYPE html|/?(html|head|body|header|nav|footer|title|style|h1|h2|p|div|section|pre|span|details|summary|table|tr|th|td|svg|a|rect|meta)( [a-z-]+="[^"<>]*"| open)*/?)>`)

// inertPage reports what a page has that could do something, or is not closed.
func inertPage(text string) error {
	var open []string
	for i := 0; i < len(text); i++ {
		if text[i] != '<' {
			continue
		}
		tag := tags.FindString(text[i:])
		if tag == "" {
			return fmt.Errorf("a tag that is not ours: %.60q", text[i:])
		}
		if strings.Contains(tag, " on") || strings.Contains(tag, "src=") || strings.Contains(tag, " style=") || strings.Contains(tag, "href=") && !strings.Contains(tag, `href="#`) {
			return fmt.Errorf("a tag that does something: %s", tag)
		}
		name := strings.Trim(strings.Fields(tag)[0], "</>")
		switch {
		case name == "meta", name == "rect", strings.HasPrefix(tag, "<!"):
		case strings.HasPrefix(tag, "</"):
			if len(open) == 0 || open[len(open)-1] != name {
				return fmt.Errorf("%s closes %v", tag, open)
			}
			open = open[:len(open)-1]
		default:
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%v stay open", open)
	}
	return inertText(text)
}

func inertText(text string) error {
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f {
			return fmt.Errorf("the character %U", r)
		}
	}
	return nil
}

func TestHostileTextIsTextOnAPage(t *testing.T) {
	for _, s := range hostile {
		got := page1(t, Session{ID: s, Title: s, Dir: s, Branch: s, Model: s, Facts: []string{s}}, sample(s))
		if err := inertPage(got); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// inertMarkdown reports what of a paper a reader's program would act on: outside
// of fences there is no tag, no image, no link.
func inertMarkdown(text string) error {
	active := regexp.MustCompile(`<[A-Za-z/!?]|\]\(|\]\[|\]:|!\[`)
	marks := regexp.MustCompile("^`{3,}")
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		run := marks.FindString(line)
		switch {
		case fence != "":
			if strings.TrimRight(line, "`") == "" && len(line) >= len(fence) {
				fence = ""
			}
		case run != "":
			fence = run
		case strings.Contains(line, "```"), strings.Contains(line, "~~~"):
			return fmt.Errorf("a fence that is not ours: %q", line)
		case active.MatchString(line):
			return fmt.Errorf("an active line: %q", line)
		}
	}
	if fence != "" {
		return errors.New("a fence stays open")
	}
	return inertText(text)
}

func TestHostileTextIsTextInMarkdown(t *testing.T) {
	for _, s := range hostile {
		got := markdown(t, Session{ID: s, Title: s, Dir: s, Facts: []string{s}}, sample(s))
		if err := inertMarkdown(got); err != nil {
			t.Errorf("%q: %v\n%s", s, err, got)
		}
	}
}

func FuzzEverythingWrittenIsInert(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		about := Session{ID: s, Title: s}
		if err := inertPage(page1(t, about, sample(s))); err != nil {
			t.Error(err)
		}
		if err := inertMarkdown(markdown(t, about, sample(s))); err != nil {
			t.Error(err)
		}
	})
}

func TestThePageAllowsNothingFromOutside(t *testing.T) {
	got := page1(t, Session{ID: "1"}, sample("x"))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(got)
	if policy == nil {
		t.Fatal("no policy")
	}
	if want := regexp.MustCompile(`^default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='$`); !want.MatchString(policy[1]) {
		t.Error(policy[1])
	}
	if strings.Index(got, "Content-Security-Policy") > strings.Index(got, "<style>") {
		t.Error("the policy stands behind what it should hold for")
	}
	if strings.Contains(got, "<script") || strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("there is a script or an outside style")
	}
}

func TestThePageShowsTheDiffTheTimeAndTheTalk(t *testing.T) {
	got := page1(t, Session{ID: "1", Title: "mend the test"}, sample("words"))
	for _, want := range []string{
		"<h1>mend the test</h1>", `<span class="removed">-old line</span>`, `<span class="added">+new line</span>`, "x.go  &#43;2 -1",
		`<rect height="10" class="model"`, `<rect height="10" class="tool"`, `<rect height="10" class="failed"`, `<rect height="10" class="you"`,
		`<a href="#c5">words</a>`, `id="c5" open`, "300 ms", "no answer is recorded", "stopped",
	} {
		if !strings.Contains(got, strings.ReplaceAll(want, "&#43;", "+")) {
			t.Errorf("no %s", want)
		}
	}
}

func TestMarkdownKeepsFormattingAndCode(t *testing.T) {
	text := "# Head\n\n- **one** `a`\n\n```go\nif a <b> ![x](y) {\n```\n\n~~~mermaid\ngraph\n~~~\nend"
	got := markdown(t, Session{ID: "1"}, sequence(said(convo.KindUser, "hi\nthere"), said(convo.KindAssistant, text), called("a", "edit", `{"path":"x.go"}`), answered("a", "edit", `{"output":"ok"}`, `{"diff":"@@\n-a\n+b\n"}`)))
	for _, want := range []string{"> hi\n> there\n", "# Head\n\n- **one** `a`\n", "```go\nif a <b> ![x](y) {\n```", "```\ngraph\n```", "\nend\n", "```diff\n@@\n-a\n+b\n```"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestJSONLReadsBackAsTheSameEvents(t *testing.T) {
	var b bytes.Buffer
	if err := JSONL(&b, sample("a <b> é")); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	i := 0
	for want := range sample("a <b> é") {
		var e convo.Event
		if err := json.Unmarshal([]byte(lines[i]), &e); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if e.Kind != want.Kind || e.Text != want.Text || e.Seq != want.Seq {
			t.Errorf("line %d: %+v, want %+v", i+1, e, want)
		}
		i++
	}
	if i != len(lines) {
		t.Errorf("%d lines of %d events", len(lines), i)
	}
}

func TestAStoreThatFailsIsToldNotHidden(t *testing.T) {
	broken := errors.New("the disk is gone")
	events := func(yield func(convo.Event, error) bool) {
		_ = yield(said(convo.KindUser, "hi"), nil) && yield(convo.Event{}, broken)
	}
	for name, write := range map[string]func() error{
		"html":     func() error { return HTML(new(bytes.Buffer), Session{}, events) },
		"markdown": func() error { return Markdown(new(bytes.Buffer), Session{}, events) },
		"jsonl":    func() error { return JSONL(new(bytes.Buffer), events) },
		"masked":   func() error { return JSONL(new(bytes.Buffer), NewMask(nil, "").Events(events)) },
		"full":     func() error { return HTML(full{}, Session{}, sample("x")) },
	} {
		if err := write(); err == nil || name != "full" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestChangesAreReadByShape(t *testing.T) {
	tests := []struct {
		name, args, data, display string
		want                      *Change
	}{
		{"a diff to be drawn", `{"path":"other"}`, `{}`, `{"diff":"--- a/x.go\n+++ b/x.go\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"}`, &Change{"x.go", 2, 1, ""}},
		{"a new file", `{}`, `{}`, `{"diff":"--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n"}`, &Change{"new", 1, 0, ""}},
		{"a file that went", `{}`, `{}`, `{"diff":"--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"}`, &Change{"gone", 0, 1, ""}},
		{"old and new", `{"path":"x","old_text":"a\nb","new_text":"a\nc"}`, `{}`, "", &Change{"x", 1, 1, "--- a/x\n+++ b/x\n@@\n a\n-b\n+c\n"}},
		{"in a list", `{"file_path":"x","edits":[{"oldText":"a","newText":"b"},{"oldText":"c","newText":""}]}`, `{}`, "", &Change{"x", 1, 2, "--- a/x\n+++ b/x\n@@\n-a\n+b\n@@\n-c\n"}},
		{"what failed changed nothing", `{"path":"x","old_text":"a","new_text":"b"}`, `{"error":"no"}`, "", nil},
		{"what only reads", `{"path":"x"}`, `{"output":"a"}`, "", nil},
		{"no change at all", `{"path":"x","old_text":"a","new_text":"a"}`, `{}`, "", nil},
		{"arguments that are no object", `[]`, `{}`, "", nil},
	}
	for _, tt := range tests {
		got, ok := ChangeOf(tool.Call{Args: json.RawMessage(tt.args)}, tool.Result{Data: json.RawMessage(tt.data), Display: json.RawMessage(tt.display)})
		if ok != (tt.want != nil) {
			t.Errorf("%s: %v %+v", tt.name, ok, got)
			continue
		}
		if tt.want == nil {
			continue
		}
		if tt.want.Diff == "" {
			got.Diff = ""
		}
		if got != *tt.want {
			t.Errorf("%s\n got %+v\nwant %+v", tt.name, got, *tt.want)
		}
	}
}

func TestBarsStayInsideTheirTurn(t *testing.T) {
	for tr, err := range turns(sample("x")) {
		if err != nil {
			t.Fatal(err)
		}
		bars := timeline(tr)
		first, last := span(bars)
		for _, b := range bars {
			if at, wide := b.place(first, last); at < 0 || wide <= 0 || at+wide > 1.000001 {
				t.Errorf("%s at %f, %f wide", b.name, at, wide)
			}
		}
		if tr.number == 1 {
			var kinds []who
			for _, b := range bars {
				kinds = append(kinds, b.who)
			}
			if !slices.Equal(kinds, []who{byPerson, byModel, byTool, byFailed, byTool}) {
				t.Errorf("%v", kinds)
			}
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	var events []convo.Event
	for i := range 500 {
		id := fmt.Sprint(i)
		events = append(events, said(convo.KindUser, "go on"), called(id, "bash", `{"command":"ls"}`), answered(id, "bash", `{"output":"a\nb\n"}`, ""))
	}
	b.ReportAllocs()
	for b.Loop() {
		page1(b, Session{ID: "1"}, sequence(events...))
	}
}
