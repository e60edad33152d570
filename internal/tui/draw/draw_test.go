package draw

import (
	"bytes"
	"strings"
	"testing"

	"ikigai/internal/view"
)

func plain(text string) view.Line { return view.Line{{Text: text}} }

func rowsOf(all []view.Line) string {
	var rows []string
	for _, l := range all {
		rows = append(rows, l.String())
	}
	return strings.Join(rows, "|")
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, hang int
		want        string
	}{
		{"one two three", 20, 0, "one two three"},
		{"one two three", 8, 0, "one two|three"},
		{"one two three", 7, 2, "one two|  three"},
		{"abcdefghij", 4, 0, "abcd|efgh|ij"},
		{"a abcdefghij b", 4, 0, "a|abcd|efgh|ij b"},
		{"漢字漢字", 4, 0, "漢字|漢字"},
		{"漢字漢字", 3, 0, "漢|字|漢|字"},
		{"x", 0, 0, "x"},
		{"ab cd", 1, 0, "a|b|c|d"},
		{"", 5, 0, ""},
	} {
		if got := rowsOf(Wrap(plain(c.text), c.width, c.hang)); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrapKeepsRoles(t *testing.T) {
	l := view.Line{{Text: "one "}, {Role: view.Strong, Text: "two three"}, {Text: " four"}}
	rows := Wrap(l, 9, 0)
	if rowsOf(rows) != "one two|three|four" || rows[1][0].Role != view.Strong {
		t.Errorf("got %v", rows)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢字漢", 4, "漢…"}, {"abc", 0, ""}, {"abc", 1, "…"}} {
		if got := Cut(plain(c.text), c.width).String(); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func FuzzRowsFit(f *testing.F) {
	f.Add("one two three 漢字 👩‍👩‍👧 e\u0301", 7, 2)
	f.Fuzz(func(t *testing.T, text string, width, hang int) {
		text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, ""))
		width, hang = 2+abs(width)%200, abs(hang)%20
		for _, r := range Wrap(plain(text), width, hang) {
			if w := LineWidth(r); w > width && len([]rune(r.String())) > 2 && w > hang+2 {
				t.Errorf("%q takes %d of %d columns", r, w, width)
			}
		}
		if w := LineWidth(Cut(plain(text), width)); w > width {
			t.Errorf("cut to %d of %d columns", w, width)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func TestColours(t *testing.T) {
	for _, c := range []struct {
		env  string
		flag string
		tty  bool
		want Paint
	}{
		{"", "auto", true, Dark},
		{"", "auto", false, Plain},
		{"NO_COLOR=1", "always", true, Plain},
		{"CLICOLOR_FORCE=1", "never", true, Plain},
		{"CLICOLOR_FORCE=1 CLICOLOR=0", "auto", false, Dark},
		{"CLICOLOR=0", "auto", true, Plain},
		{"TERM=dumb", "auto", true, Plain},
		{"TERM=dumb", "always", true, Dark},
		{"COLORFGBG=0;15", "auto", true, Light},
		{"COLORFGBG=0;default;15", "always", true, Light},
		{"COLORFGBG=15;0", "auto", true, Dark},
		{"COLORFGBG=0;15 NO_COLOR=1", "auto", true, Plain},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := Chosen(func(n string) string { return env[n] }, c.flag, c.tty); got != c.want {
			t.Errorf("%s --color %s, terminal %v: %v", c.env, c.flag, c.tty, got)
		}
	}
}

func TestNothingIsWrittenWhenNothingIsNew(t *testing.T) {
	var s Screen
	f := Frame{Live: []string{"one", "two"}}
	if len(s.Draw(f)) == 0 {
		t.Fatal("the first frame is not written")
	}
	if b := s.Draw(f); len(b) > 0 {
		t.Errorf("the same frame is written again: %q", b)
	}
	s.Resized()
	if len(s.Draw(f)) == 0 {
		t.Error("after another size the frame is not written")
	}
}

func TestAFrameIsOneSynchronizedUpdate(t *testing.T) {
	var s Screen
	b := s.Draw(Frame{Done: []string{"done"}, Live: []string{"live"}, Cursor: &Pos{Col: 2}})
	if !bytes.HasPrefix(b, []byte("\x1b[?2026h")) || !bytes.HasSuffix(b, []byte("\x1b[?2026l")) {
		t.Errorf("got %q", b)
	}
}

func TestADiffSideBySide(t *testing.T) {
	got := rowsOf(Beside(view.Diff(" same\n-old\n+new one\n+more\n-gone"), 19))
	want := " same    │  same|-old     │ +new one|-gone    │ +more"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
