package toolkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"ikigai/internal/tool"
)

// echo is a tool to test with: it says what it was given.
type echoInput struct {
	Text string `json:"text" alias:"words"`
	Path string `json:"path,omitempty" format:"path"`
	Fail string `json:"fail,omitempty"`
}

type echoOutput struct {
	Output string `json:"output"`
}

func echo(effects ...tool.Effect) tool.Tool {
	return New(Def[echoInput, echoOutput]{
		Name: "echo", Doc: "Say it.", Risk: tool.Low, Effects: effects,
		Run: func(ctx context.Context, _ tool.Place, _ tool.Grant, in echoInput, p tool.Progress) (echoOutput, error) {
			p("working\n")
			return echoOutput{in.Text}, faults(ctx)[in.Fail]
		},
	})
}

func faults(ctx context.Context) map[string]error {
	return map[string]error{
		"own": tool.Errorf("OWN_CODE", "my own"), "plain": errors.New("no code"),
		"wrapper": &tool.Failure{Code: tool.ToolTimeout, Message: "too late", Stdout: "partly"}, "ctx": ctx.Err(),
	}
}

func call(t *testing.T, tl tool.Tool, args string) tool.Result {
	t.Helper()
	p, err := tl.Prepare(t.Context(), tool.Place{}, json.RawMessage(args))
	if err != nil {
		return tool.Fail(tool.Call{}, tool.CodeOf(err, "NO_CODE"), "%s", err)
	}
	return p.Run(t.Context(), tool.Grant{}, nil)
}

func TestAToolAnswersInJSON(t *testing.T) {
	for args, want := range map[string]string{
		`{"text":"<hi>"}`:               `{"tool_success":true,"result":{"output":"<hi>"}}`,
		`{"text":"x","fail":"own"}`:     `{"tool_success":true,"result":{"error":"my own","error_code":"OWN_CODE"}}`,
		`{"text":"x","fail":"plain"}`:   `{"tool_success":true,"result":{"error":"no code","error_code":"INTERNAL_ERROR"}}`,
		`{"text":"x","fail":"wrapper"}`: `{"tool_success":false,"error":"too late","error_code":"TOOL_TIMEOUT","exit_code":null,"stdout":"partly","stderr":""}`,
	} {
		if got := string(call(t, echo(tool.Read), args).Envelope()); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", args, got, want)
		}
	}
}

func TestUnknownArgumentsAreRefusedWhereProgramsRun(t *testing.T) {
	args := `{"text":"x","colour":"red"}`
	if r := call(t, echo(tool.Exec), args); r.Code() != tool.InvalidParams {
		t.Errorf("%s", r.Envelope())
	}
	p, err := echo(tool.Read).Prepare(t.Context(), tool.Place{}, json.RawMessage(args))
	if err != nil || len(p.Plan.Notes) != 1 || !strings.Contains(p.Plan.Notes[0], "colour") {
		t.Errorf("%v %v", p.Plan.Notes, err)
	}
}

func TestWhatEndedACallIsTold(t *testing.T) {
	p, err := echo(tool.Read).Prepare(t.Context(), tool.Place{}, json.RawMessage(`{"text":"x","fail":"ctx"}`))
	if err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if r := p.Run(late, tool.Grant{}, nil); r.Code() != tool.ToolTimeout {
		t.Errorf("%s", r.Envelope())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r := p.Run(gone, tool.Grant{}, nil); r.Code() != tool.CallCancelled {
		t.Errorf("%s", r.Envelope())
	}
}

// --- the program ---

func program(args []string, stdin string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	code = Main(echo(tool.Read), func() (tool.Place, error) { return tool.Place{}, nil }, args, strings.NewReader(stdin), &stdout, &stderr)
	return stdout.String(), stderr.String(), code
}

func TestMainSpeaksTheProtocol(t *testing.T) {
	out, errs, code := program(nil, `{"text":"hi"}`)
	if out != "{\"output\":\"hi\"}\n" || errs != "working\n" || code != 0 {
		t.Errorf("%q %q %d", out, errs, code)
	}
	out, _, code = program([]string{"--schema"}, "")
	want := `{"name":"echo","description":"Say it.","parameters":{"text":{"type":"string","aliases":["words"],"required":true},"path":{"type":"string","format":"path"},"fail":{"type":"string"}},` +
		`"returns":{"type":"object","properties":{"output":{"type":"string"}},"required":["output"]},"risk":"low","effects":["read"]}` + "\n"
	if out != want || code != 0 {
		t.Errorf("%s", out)
	}
	if _, errs, code = program([]string{"--version"}, ""); code != 2 || errs == "" {
		t.Errorf("%q %d", errs, code)
	}
	if out, _, code = program(nil, "garbage"); !strings.Contains(out, `"error_code":"INVALID_PARAMS"`) || code != 0 {
		t.Errorf("%q %d", out, code)
	}
	if out, _, code = program(nil, `{"text":"x","fail":"wrapper"}`); out != `{"error":"too late","error_code":"TOOL_TIMEOUT","stdout":"partly"}`+"\n" || code != 0 {
		t.Errorf("%q %d", out, code)
	}
}

func TestMainTellsOfFaultsAroundIt(t *testing.T) {
	place := func() (tool.Place, error) { return tool.Place{}, nil }
	var stdout, stderr bytes.Buffer
	if code := Main(echo(tool.Read), place, nil, iotest.ErrReader(errors.New("broken")), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "broken") {
		t.Errorf("%q %d", &stdout, code)
	}
	stdout.Reset()
	nowhere := func() (tool.Place, error) { return tool.Place{}, tool.Errorf(tool.OpenFailed, "no folder") }
	if code := Main(echo(tool.Read), nowhere, nil, strings.NewReader("{}"), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "OPEN_FAILED") {
		t.Errorf("%q %d", &stdout, code)
	}
	if code := Main(echo(tool.Read), place, nil, strings.NewReader("{}"), badWriter{}, &stderr); code != 1 {
		t.Errorf("an answer that could not be written exits with %d", code)
	}
}

type badWriter struct{}

func (badWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

// --- long outputs ---

func TestShortOutputIsShownWhole(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("x\n", 2000), strings.Repeat("x", 50<<10)} {
		if s := Show(tool.Place{}, text); s.Output != text || s.Truncated || s.FullOutput != "" {
			t.Errorf("%d bytes became %d", len(text), len(s.Output))
		}
	}
}

func TestLongOutputKeepsItsEndsAndIsSpilledWhole(t *testing.T) {
	at := tool.Place{Dir: t.TempDir()}
	for _, text := range []string{
		numbers(10_000), strings.Repeat("x", 60<<10), strings.Repeat("é", 40<<10), strings.Repeat("\n", 3000), numbers(2001), "\n" + strings.Repeat("y", 99<<10) + "\nend",
	} {
		s := Show(at, text)
		raw, err := os.ReadFile(s.FullOutput)
		if err != nil || string(raw) != text {
			t.Fatalf("the whole is not in %q: %v", s.FullOutput, err)
		}
		if !s.Truncated || s.TotalBytes != int64(len(text)) || !utf8.ValidString(s.Output) {
			t.Errorf("%+v", s.Output[:100])
		}
		head, rest, _ := strings.Cut(s.Output, "[... ")
		if !strings.HasPrefix(text, head) { // the mark stands on a line of its own
			head = strings.TrimSuffix(head, "\n")
		}
		mark, tail, ok := strings.Cut(rest, "]\n")
		if !ok || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Errorf("head and tail are not those of the text: %.60q ... %.60q", head, tail)
		}
		var lines, bytes int
		if _, err := fmt.Sscanf(mark, "%d lines, %d bytes left out; whole output in", &lines, &bytes); err != nil || len(head)+bytes+len(tail) != len(text) {
			t.Errorf("%s: %d + %d + %d are not %d", mark, len(head), bytes, len(tail), len(text))
		}
		if len(head)+len(tail) > shownBytes || strings.Count(head+tail, "\n") > shownLines {
			t.Errorf("%d bytes, %d lines are shown", len(head)+len(tail), strings.Count(head+tail, "\n"))
		}
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestWithoutASessionTheRestIsLostAndSaidSo(t *testing.T) {
	s := Show(tool.Place{}, numbers(5000))
	if s.FullOutput != "" || !strings.Contains(s.Output, "the rest was not kept") {
		t.Errorf("%.200s", s.Output)
	}
	s = Show(tool.Place{Dir: filepath.Join(t.TempDir(), "gone")}, numbers(5000))
	if s.FullOutput != "" || !strings.Contains(s.Output, "the rest was not kept") {
		t.Errorf("%.200s", s.Output)
	}
}

func TestAFileIsItsOwnWholeOutput(t *testing.T) {
	if s := ShowFile("big.txt", numbers(5000)); s.FullOutput != "big.txt" || !strings.Contains(s.Output, "whole output in big.txt: file_read with offset and limit") {
		t.Errorf("%.100s", s.FullOutput)
	}
}

func FuzzShow(f *testing.F) {
	f.Add("a\nb", 3)
	f.Add("é\r\n", 40_000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		text = strings.Repeat(text, max(0, times%60_000))
		if len(text) > 1<<22 {
			return
		}
		s := ShowFile("f", text)
		if len(s.Output) > shownBytes+200 || utf8.ValidString(text) && !utf8.ValidString(s.Output) {
			t.Errorf("%d bytes became %d", len(text), len(s.Output))
		}
	})
}

// --- other names ---

type otherInput struct {
	Say   string `json:"say"`
	Times int    `json:"times,omitempty" min:"0"`
}

func TestAnAliasRunsItsToolWithMappedArguments(t *testing.T) {
	a := As(echo(tool.Read), Name{Name: "shout", Doc: "Shout.", Risk: tool.High}, func(in otherInput) (any, error) {
		if in.Times > 3 {
			return nil, errors.New("too often")
		}
		return echoInput{Text: strings.Repeat(strings.ToUpper(in.Say), max(1, in.Times))}, nil
	})
	if s := a.Spec(); s.Name != "shout" || s.Description != "Shout." || s.Risk != tool.High || !s.OnlyReads() || !strings.Contains(string(s.Parameters.JSON()), `"say"`) {
		t.Errorf("%+v", s)
	}
	for args, want := range map[string]string{
		`{"say":"hi","times":2}`: `{"output":"HIHI"}`, `{"say":"hi","times":"1"}`: `{"output":"HI"}`,
	} {
		if r := call(t, a, args); string(r.Data) != want {
			t.Errorf("%s: %s", args, r.Envelope())
		}
	}
	for _, args := range []string{`{}`, `{"say":1}`, `{"say":"x","times":4}`, `{"say":"x","times":-1}`, `nonsense`} {
		if r := call(t, a, args); r.Code() != tool.InvalidParams {
			t.Errorf("%s: %s", args, r.Envelope())
		}
	}
	p, err := a.Prepare(t.Context(), tool.Place{}, json.RawMessage(`{"say":"x","loud":true}`))
	if err != nil || len(p.Plan.Notes) != 1 || string(p.Args) != `{"text":"X"}` {
		t.Errorf("%v %s %v", p.Plan.Notes, p.Args, err)
	}
	if a.Leads(nil).Spec().Name != "echo" {
		t.Error("it does not lead to its tool")
	}
}

func TestASharedNameGoesByItsArguments(t *testing.T) {
	named := func(name, when string, effect tool.Effect) Alias {
		return As(New(Def[struct{}, echoOutput]{
			Name: name, Effects: []tool.Effect{effect},
			Run: func(context.Context, tool.Place, tool.Grant, struct{}, tool.Progress) (echoOutput, error) {
				return echoOutput{name}, nil
			},
		}), Name{Name: "both", When: when}, func(struct{}) (any, error) { return struct{}{}, nil })
	}
	both := OneOf(named("reads", "command=view", tool.Read), named("writes", "force", tool.Write), named("rest", "", tool.Read))
	for args, want := range map[string]string{
		`{"command":"view"}`: "reads", `{"command":"other"}`: "rest", `{"force":true}`: "writes", `{}`: "rest", `{command: "view"}`: "reads",
	} {
		if r := call(t, both, args); string(r.Data) != fmt.Sprintf(`{"output":%q}`, want) {
			t.Errorf("%s: %s", args, r.Envelope())
		}
		if got := both.Leads(json.RawMessage(args)).Spec().Name; got != want {
			t.Errorf("%s leads to %s", args, got)
		}
	}
	if s := both.Spec(); s.Name != "both" || !s.Has(tool.Read) || !s.Has(tool.Write) {
		t.Errorf("%+v", s)
	}
	strict := OneOf(named("reads", "command=view", tool.Read), named("writes", "command=create", tool.Write))
	if r := call(t, strict, `{"command":"undo"}`); r.Code() != tool.InvalidParams || !strings.Contains(r.Failure.Message, "command=create") {
		t.Errorf("%s", r.Envelope())
	}
}

func TestStrictPathsStayBelowTheFolder(t *testing.T) {
	s := Strict(echo(tool.Read))
	for path, ok := range map[string]bool{
		"a": true, "a/b.txt": true, "./a": true, "": true, "..a": true, "/a": false, "..": false, "../a": false, "a/../b": false, "a/..": false,
	} {
		if r := call(t, s, fmt.Sprintf(`{"text":"x","path":%q}`, path)); r.OK() != ok || !ok && r.Code() != tool.InvalidPath {
			t.Errorf("%q: %s", path, r.Envelope())
		}
	}
	if r := call(t, s, `{}`); r.Code() != tool.InvalidParams {
		t.Errorf("%s", r.Envelope())
	}
	for path, ok := range map[string]bool{"/session/output-1.txt": true, "/session/../etc/passwd": false, "/sessions/x": false, "/session": false} {
		_, err := s.Prepare(t.Context(), tool.Place{Dir: "/session/"}, json.RawMessage(fmt.Sprintf(`{"text":"x","path":%q}`, path)))
		if (err == nil) != ok {
			t.Errorf("%q in a session: %v", path, err)
		}
	}
}

// --- memory ---

func TestMemoryIsSharedAndSafe(t *testing.T) {
	at := tool.Place{Dir: t.TempDir()}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if err := Remember(at, "list", func(all *[]int) error { *all = append(*all, i); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	kept, err := Recall[[]int](at, "list")
	slices.Sort(kept)
	if err != nil || len(kept) != 20 || kept[0] != 0 || kept[19] != 19 {
		t.Errorf("%v %v", kept, err)
	}
}

func TestMemoryKeepsTheOldWhenAChangeFails(t *testing.T) {
	at := tool.Place{Dir: t.TempDir()}
	if err := Remember(at, "n", func(n *int) error { *n = 1; return nil }); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := Remember(at, "n", func(n *int) error { *n = 2; return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if n, err := Recall[int](at, "n"); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

func TestMemoryTellsWhatIsWrong(t *testing.T) {
	nothing := func(*int) error { return nil }
	if err := Remember(tool.Place{}, "n", nothing); tool.CodeOf(err, "") != tool.OpenFailed || !strings.Contains(err.Error(), "IKIGAI_SESSION_DIR") {
		t.Errorf("%v", err)
	}
	if err := Remember(tool.Place{Dir: filepath.Join(t.TempDir(), "gone")}, "n", nothing); tool.CodeOf(err, "") != tool.OpenFailed {
		t.Errorf("%v", err)
	}
	at := tool.Place{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(at.Dir, "n.json"), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remember(at, "n", nothing); tool.CodeOf(err, "") != tool.ReadFailed {
		t.Errorf("%v", err)
	}
}

func BenchmarkCall(b *testing.B) {
	tl := echo(tool.Read)
	for b.Loop() {
		p, err := tl.Prepare(b.Context(), tool.Place{}, json.RawMessage(`{"text":"hi"}`))
		if err != nil {
			b.Fatal(err)
		}
		p.Run(b.Context(), tool.Grant{}, nil)
	}
}

func BenchmarkShow(b *testing.B) {
	text := numbers(100_000)
	for b.Loop() {
		ShowFile("f", text)
	}
}
