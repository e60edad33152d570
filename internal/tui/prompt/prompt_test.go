package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ikigai/internal/tui/draw"
)

// do types what is between brackets as keys and all else as text.
func do(p *Prompt, script string) {
	for script != "" {
		if name, rest, ok := strings.Cut(script[1:], ">"); script[0] == '<' && ok {
			p.Key(name)
			script = rest
			continue
		}
		i := strings.IndexByte(script, '<')
		if i < 0 {
			i = len(script)
		}
		p.Insert(script[:i])
		script = script[i:]
	}
}

func TestEditing(t *testing.T) {
	for script, want := range map[string]string{
		"abc<left><left>X":                      "aXbc",
		"abc<backspace>":                        "ab",
		"abc<home><delete>":                     "bc",
		"one two three<ctrl+w>":                 "one two ",
		"one two<alt+b><alt+b>X":                "Xone two",
		"one two<home><ctrl+right>X":            "oneX two",
		"one<ctrl+j>two<ctrl+u>":                "one\n",
		"one<ctrl+j>two<home><backspace>":       "onetwo",
		"one two<ctrl+w><home><ctrl+y>":         "twoone ",
		"one<ctrl+j>two<left><left><ctrl+k>":    "one\nt",
		"one<ctrl+j>two<home><left><ctrl+k>":    "onetwo",
		"e\u0301<backspace>":                    "",
		"👩‍👩‍👧<left>x":                          "x👩‍👩‍👧",
		"<left><right><backspace><delete><end>": "",
	} {
		var p Prompt
		do(&p, script)
		if got := p.Text(); got != want {
			t.Errorf("%s gives %q, want %q", script, got, want)
		}
	}
}

func TestACharacterTypedInPiecesIsOne(t *testing.T) {
	var p Prompt
	for _, r := range "👩‍👩‍👧" {
		p.Insert(string(r))
	}
	p.Key("backspace")
	if !p.Empty() {
		t.Errorf("%q is left", p.Text())
	}
}

func TestABigPasteIsFoldedAndSentWhole(t *testing.T) {
	var p Prompt
	text := strings.Repeat("line\n", 40)
	p.Insert("see ")
	p.Paste(text)
	rows, _ := p.Rows(80)
	if got := rows[0].String(); got != "see [pasted 41 lines, 200 bytes]" {
		t.Errorf("shown as %q", got)
	}
	if p.Text() != "see "+text {
		t.Error("the paste is not whole")
	}
	p.Key("backspace")
	if p.Text() != "see " {
		t.Errorf("one key does not take it away: %q", p.Text())
	}
}

func TestReplaceTakesTheWordBeforeTheCursor(t *testing.T) {
	var p Prompt
	p.Insert("look at @re now")
	for range 4 {
		p.Key("left")
	}
	p.Replace(len("@re"), "@internal/retry.go")
	if got := p.Text(); got != "look at @internal/retry.go now" {
		t.Errorf("got %q", got)
	}
}

func TestUpAndDownGoByRows(t *testing.T) {
	var p Prompt
	p.Insert("0123456789abcdef\nxy\n0123456789")
	if !p.Vertical(-1, 12) || p.Before() != "0123456789abcdef\nxy" {
		t.Errorf("up goes to %q", p.Before())
	}
	if !p.Vertical(-1, 12) || p.Before() != "0123456789abcdef" {
		t.Errorf("up again goes to %q", p.Before())
	}
	p.Vertical(-1, 12)
	if p.Vertical(-1, 12) {
		t.Error("there is nothing above the first row")
	}
}

func TestHistory(t *testing.T) {
	h := NewHistory([]string{"first", "second"})
	h.Add("third")
	if h.Add("third") {
		t.Error("the same words are kept twice")
	}
	for _, want := range []string{"third", "second", "first"} {
		if got, _ := h.Older("draft"); got != want {
			t.Errorf("older is %q, want %q", got, want)
		}
	}
	if _, ok := h.Older(""); ok {
		t.Error("there is something before the first")
	}
	for _, want := range []string{"second", "third", "draft"} {
		if got, _ := h.Newer(); got != want {
			t.Errorf("newer is %q, want %q", got, want)
		}
	}
	if got, ok := h.Find("IR", 1); !ok || got != "first" {
		t.Errorf("the second with ir is %q", got)
	}
}

func FuzzPromptNeverLosesItsCursor(f *testing.F) {
	f.Add("hello 漢字", "left backspace ctrl+w", 10)
	f.Fuzz(func(t *testing.T, text, script string, width int) {
		var p Prompt
		p.Insert(text)
		for name := range strings.FieldsSeq(script) {
			if !p.Key(name) && utf8.ValidString(name) {
				p.Paste(name)
			}
			p.Vertical(-1, width)
		}
		width = max(1, width%500)
		rows, at := p.Rows(width)
		if at.Row >= len(rows) || at.Col > max(width, 80) {
			t.Fatalf("the cursor is at %v of %d rows", at, len(rows))
		}
		if got := draw.Width(p.Text()); got < 0 {
			t.Fatal(got)
		}
	})
}
