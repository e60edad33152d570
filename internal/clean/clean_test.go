package clean

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ikigai/internal/corpus"
)

type row struct {
	ID      string  `json:"id"`
	Where   string  `json:"where"`
	Raw     string  `json:"raw"`
	RawB64  string  `json:"raw_b64"`
	RawGz   string  `json:"raw_gz_b64"`
	Shown   string  `json:"shown"`
	ShownGz string  `json:"shown_gz_b64"`
	Model   *string `json:"model"`
	Reason  string  `json:"reason"`
}

func (r row) raw(t testing.TB) string   { return string(corpus.Value(t, r.Raw, r.RawB64, r.RawGz)) }
func (r row) shown(t testing.TB) string { return string(corpus.Value(t, r.Shown, "", r.ShownGz)) }

// filters are the two forms by the name that the corpus gives them.
var filters = map[string]func(string) string{"block": Block, "line": Line}

func TestCorpusOfScreensByteForByte(t *testing.T) {
	right, unsafe, wrong := 0, 0, 0
	for _, r := range corpus.Rows[row](t, "testdata/screen.jsonl") {
		raw, want := r.raw(t), r.shown(t)
		got := filters[r.Where](raw)
		model, wantModel := Model(raw), raw
		if r.Model != nil {
			wantModel = *r.Model
		}
		if bad := harm(got, r.Where == "line"); bad != "" || strings.ContainsFunc(model, isTag) {
			unsafe++
			t.Errorf("%s (%s): %s in %.200q", r.ID, r.Reason, bad, got)
		}
		if got != want || model != wantModel {
			wrong++
			t.Errorf("%s (%s): %.200q\n shown %.200q\n  want %.200q\n model %.200q\n  want %.200q", r.ID, r.Reason, raw, got, want, model, wantModel)
			continue
		}
		right++
	}
	t.Logf("right %d, safety failures %d, other differences %d", right, unsafe, wrong)
}

// harm names something in s that must not reach a terminal.
func harm(s string, line bool) string {
	if !utf8.ValidString(s) {
		return "a byte that is not UTF-8"
	}
	left := strings.NewReplacer(flags()...).Replace(s)
	for _, r := range left {
		switch {
		case (r == '\n' || r == '\t') && !line:
		case unicode.IsControl(r):
			return "a control character"
		case unicode.Is(hidden, r):
			return "a hidden character"
		}
	}
	return ""
}

// flags pairs each flag that may be shown with what stands for it in a check.
func flags() []string {
	var pairs []string
	for _, name := range regions {
		tags := ""
		for _, c := range name {
			tags += string(0xE0000 + c)
		}
		pairs = append(pairs, string(blackFlag)+tags+string(rune(0xE007F)), "flag")
	}
	return pairs
}

// inPieces feeds s in pieces of n bytes.
func inPieces(f *Filter, s string, n int) string {
	var b strings.Builder
	for len(s) > 0 {
		n = min(n, len(s))
		b.WriteString(f.Feed(s[:n]))
		s = s[n:]
	}
	return b.String() + f.Close()
}

func TestAnyCuttingGivesTheSame(t *testing.T) {
	for _, r := range corpus.Rows[row](t, "testdata/screen.jsonl") {
		raw := r.raw(t)
		for _, n := range []int{1, 2, 3, 5, 4096} {
			got := inPieces(&Filter{line: r.Where == "line"}, raw, n)
			if want := filters[r.Where](raw); got != want {
				t.Errorf("%s in pieces of %d: %.200q, whole %.200q", r.ID, n, got, want)
			}
		}
	}
}

func TestEveryCutInTwoGivesTheSame(t *testing.T) {
	raw := "\ufeffa\r\nb\r\x1b[31mc\x1b]0;t\x1b\\é\xff\u0915\u094d\u200d\u09371\ufe0f\u20e3\U0001f3f4" +
		"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\U0001f469\U0001f3fd\u200d\U0001f4bb\x1b"
	want := Block(raw)
	for i := range len(raw) {
		f := NewBlock()
		if got := f.Feed(raw[:i]) + f.Feed(raw[i:]) + f.Close(); got != want {
			t.Errorf("cut at %d: %q, whole %q", i, got, want)
		}
	}
}

func TestSequencesAreBounded(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		vanishes  bool
	}{
		{"CSI of the greatest length", "\x1b[" + strings.Repeat("1", maxSequence) + "m", true},
		{"CSI too long", "\x1b[" + strings.Repeat("1", maxSequence+1) + "m", false},
		{"OSC of the greatest length", "\x1b]" + strings.Repeat("日", maxSequence) + "\a", true},
		{"OSC too long", "\x1b]" + strings.Repeat("日", maxSequence+1) + "\a", false},
		{"DCS of the greatest length", "\x1bP" + strings.Repeat("x", maxSequence) + "\x1b\\", true},
		{"DCS too long", "\x1bP" + strings.Repeat("x", maxSequence+1) + "\x1b\\", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Block(c.raw); (got == "") != c.vanishes {
				t.Errorf("shown: %.40q", got)
			}
		})
	}
}

func TestAnUnendingSequenceIsNotHeldForEver(t *testing.T) {
	f := NewBlock()
	shown := f.Feed("\x1b]0;")
	for range 3 * maxSequence {
		shown += f.Feed("x")
	}
	if !strings.HasPrefix(shown, "␛]0;xxx") {
		t.Errorf("still held: %.40q", shown)
	}
}

func TestRunsOfMarks(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"a selector ends a run", "☀́̂̃\ufe0f́", "☀́̂̃<U+FE0F>́"},
		{"a marked rune ends a run", "à̀̀̀\u200b̀", "à̀̀̀<U+200B>̀"},
		{"a joiner inside does not count", "क\u094d\u200d\u094d\u094d\u094dx", "क\u094d\u200d\u094d\u094d\u094dx"},
		{"a joiner is cut with the rest", "क\u094d\u094d\u094d\u094d\u200d\u094d\u094d", "क\u094d\u094d\u094d\u094d<U+094D…>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Block(c.raw); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestModelGetsValidTextWithoutTags(t *testing.T) {
	for raw, want := range map[string]string{
		"a\x1b[31m\r\n":             "a\x1b[31m\r\n",
		"a\xffb":                    `a\xffb`,
		"x\U000e0041\U000e0100y":    "x\U000e0100y",
		"\xf3\xa0\x80":              `\xf3\xa0\x80`,
		"\xed\xa0\x80 half a pair ": `\xed\xa0\x80 half a pair `,
	} {
		if got := Model(raw); got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	s := strings.Repeat("plain text, as most output is\n", 100)
	name := "name.txt"
	f := NewBlock()
	for what, do := range map[string]func(){
		"Block": func() { Block(s) }, "Line": func() { Line(name) }, "Model": func() { Model(s) }, "Feed": func() { f.Feed(s) },
	} {
		if n := testing.AllocsPerRun(300, do); n > 1 { // Block and Line may make their Filter
			t.Errorf("%s allocates %v times", what, n)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, r := range corpus.Rows[row](f, "testdata/screen.jsonl") {
		if raw := r.raw(f); len(raw) < 5000 {
			f.Add(raw, uint8(3))
		}
	}
	f.Fuzz(func(t *testing.T, raw string, n uint8) {
		for name, whole := range filters {
			shown := whole(raw)
			if bad := harm(shown, name == "line"); bad != "" {
				t.Fatalf("%s shows %s: %q", name, bad, shown)
			}
			if got := inPieces(&Filter{line: name == "line"}, raw, int(n)%16+1); got != shown {
				t.Fatalf("%s in pieces %q, whole %q", name, got, shown)
			}
		}
		if m := Model(raw); !utf8.ValidString(m) || strings.ContainsFunc(m, isTag) {
			t.Fatalf("model gets %q", m)
		}
	})
}

func benchmark(b *testing.B, s string) {
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Block(s)
	}
}

func BenchmarkPlain(b *testing.B) { benchmark(b, strings.Repeat("a line of a build log\n", 5000)) }

func BenchmarkColoured(b *testing.B) {
	benchmark(b, strings.Repeat("\x1b[32mok\x1b[0m a line of a build log\n", 5000))
}

func BenchmarkWide(b *testing.B) { benchmark(b, strings.Repeat("日本語のテキスト\n", 5000)) }
