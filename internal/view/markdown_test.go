package view

import (
	"reflect"
	"strings"
	"testing"
)

// drawn shows paragraphs with their roles, for comparing.
func drawn(all []Para) string {
	names := map[Role]string{Heading: "H", Strong: "B", Emphasis: "I", Code: "C", Link: "L", Keyword: "K", Quoted: "Q", Comment: "#", Faint: "f", Added: "+", Removed: "-"}
	var rows []string
	for _, p := range all {
		row := ""
		for _, s := range p.Line {
			if n := names[s.Role]; n != "" {
				row += n + "(" + s.Text + ")"
			} else {
				row += s.Text
			}
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n")
}

var markdowns = map[string]string{
	"plain words":                          "plain words",
	"two\nlines":                           "two lines",
	"one\n\n\n\ntwo":                       "one\n\ntwo",
	"# Title\ntext":                        "H(Title)\ntext",
	"#hashtag":                             "#hashtag",
	"a **bold** and *soft* word":           "a B(bold) and I(soft) word",
	"some_snake_case and __init__":         "some_snake_case and B(init)",
	"**/*.go and *.c stay":                 "**/*.go and *.c stay",
	"use `go test` now":                    "use C(go test) now",
	"`` a ` b ``":                          "C(a ` b)",
	"an open ` tick":                       "an open ` tick",
	"- one\n- two\n  more":                 "f(• )one\nf(• )two more",
	"1. first\n2) second":                  "f(1. )first\nf(2) )second",
	"- [ ] open\n- [x] done":               "f(☐ )open\nf(☑ )done",
	"> said":                               "f(│ )said",
	"---":                                  "f(———)",
	"[docs](https://x.dev/a)":              "docs (L(https://x.dev/a))",
	"see https://x.dev/a.":                 "see L(https://x.dev/a).",
	"\\*not soft\\*":                       "*not soft*",
	"```go\nfunc f() { // hi\n}\n```\nend": "K(func) f() { #(// hi)\n}\nend",
	"```\nraw **text**\n```":               "C(raw **text**)",
	"```diff\n+a\n-b\n c\n```":             "+(+a)\n-(-b)\n c",
	"~~~\n```\n~~~":                        "C(```)",
	"| a | bb |\n|---|:--|\n| ccc | d |":   "B(a)    B(bb)\nccc  d",
	"text\x1b[31m red\x1b[0m":              "text red",
	"line one  \nline two":                 "line one\nline two",
}

func TestMarkdown(t *testing.T) {
	for in, want := range markdowns {
		var m Markdown
		if got := drawn(append(m.Feed(in), m.Close()...)); got != want {
			t.Errorf("%q is\n%s\nwant\n%s", in, got, want)
		}
	}
}

// What is shown does not depend on how the text was cut on its way, and what
// was given back never changes.
func TestMarkdownMayComeCutAnywhere(t *testing.T) {
	for in := range markdowns {
		var whole Markdown
		want := append(whole.Feed(in), whole.Close()...)
		var m Markdown
		var got []Para
		for _, r := range in {
			got = append(got, m.Feed(string(r))...)
			if rest := m.Rest(); !reflect.DeepEqual(rest, m.Rest()) {
				t.Fatalf("%q: looking at the rest changes it", in)
			}
		}
		got = append(got, m.Close()...)
		if drawn(got) != drawn(want) {
			t.Errorf("%q in pieces is\n%s\nwhole\n%s", in, drawn(got), drawn(want))
		}
	}
}

func TestAnEndlessParagraphIsGivenBackInParts(t *testing.T) {
	var m Markdown
	given := 0
	for range 10_000 {
		given += len(m.Feed("words without an end and a line end\n"))
	}
	if given == 0 || size(m.words) > 2*maxBlock {
		t.Errorf("%d paragraphs, %d bytes held", given, size(m.words))
	}
}

func FuzzMarkdown(f *testing.F) {
	for in := range markdowns {
		f.Add(in, 3)
	}
	f.Fuzz(func(t *testing.T, in string, cut int) {
		cut = min(max(cut, 0), len(in))
		var whole, parts Markdown
		want := append(whole.Feed(in), whole.Close()...)
		got := parts.Feed(in[:cut])
		parts.Rest()
		got = append(got, parts.Feed(in[cut:])...)
		got = append(got, parts.Close()...)
		if drawn(got) != drawn(want) {
			t.Errorf("%q cut at %d is\n%s\nwhole\n%s", in, cut, drawn(got), drawn(want))
		}
		for _, p := range want {
			if strings.ContainsAny(p.Line.String(), "\x1b\x07\n\r") {
				t.Errorf("%q reaches the terminal", p.Line)
			}
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	text := strings.Repeat("Some **words** of a reply with `code` and more words.\n\n- an item\n", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var m Markdown
		m.Feed(text)
		m.Close()
	}
}
