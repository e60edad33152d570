package keys

import (
	"slices"
	"strings"
	"testing"
)

func names(all []Key) []string {
	var n []string
	for _, k := range all {
		name := k.Name
		if k.Text != "" && k.Text != k.Name {
			name += "=" + k.Text
		}
		n = append(n, name)
	}
	return n
}

// table is what terminals send, and what it means.
var table = map[string]string{
	"a":                                "a",
	"é漢👍":                              "é 漢 👍",
	"\r":                               "enter",
	"\n":                               "ctrl+j",
	"\t":                               "tab",
	"\x7f\x08":                         "backspace backspace",
	"\x03\x1a\x12":                     "ctrl+c ctrl+z ctrl+r",
	"\x1b[A\x1bOB":                     "up down",
	"\x1b[1;5C\x1b[1;3D":               "ctrl+right alt+left",
	"\x1b[3~\x1b[5~":                   "delete pageup",
	"\x1b[H\x1b[4~":                    "home end",
	"\x1b[Z":                           "shift+tab",
	"\x1b\r":                           "alt+enter",
	"\x1b[13;2u":                       "shift+enter",
	"\x1b[27;2;13~":                    "shift+enter",
	"\x1b[27u":                         "esc",
	"\x1b[99;5u":                       "ctrl+c",
	"\x1b[97u":                         "a",
	"\x1b[97;1:3u":                     "",
	"\x1bb":                            "alt+b",
	"\x1b\x7f":                         "alt+backspace",
	"\x1b[I\x1b[O":                     "focus blur",
	"\x1b[200~x\r\ny\x1b[201~z":        "paste=x\ny z",
	"\x1b]11;rgb:0/0/0\x07q":           "dark q",
	"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\": "light",
	"\x1b]11;rgba:fa/fa/fa/ff\x07":     "light",
	"\x1b]11;rgb:x/y\x07q":             "q",
	"\x1b]4;1;rgb:f/f/f\x07q":          "q",
	"\x1b[?997;2n\x1b[?997;1n\x1b[0n":  "light dark",
	"\x1bP>|term\x1b\\q":               "q",
	"\x1b[12;3R\x1b[?1;2c":             "",
	"\xff\xfea":                        "a",
	"\x1b[999999999999999u":            "",
	"\x1b[57358u":                      "",
}

func TestKeysOfManyTerminals(t *testing.T) {
	for in, want := range table {
		var p Parser
		got := strings.Join(names(append(p.Feed([]byte(in)), p.Flush()...)), " ")
		got = strings.ReplaceAll(got, "space= ", "space")
		if got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestBytesMayComeCutAnywhere(t *testing.T) {
	for in := range table {
		var whole Parser
		want := names(append(whole.Feed([]byte(in)), whole.Flush()...))
		for cut := 1; cut < len(in); cut++ {
			var p Parser
			got := append(p.Feed([]byte(in[:cut])), p.Feed([]byte(in[cut:]))...)
			got = append(got, p.Flush()...)
			if !slices.Equal(names(got), want) {
				t.Errorf("%q cut at %d is %q, want %q", in, cut, names(got), want)
			}
		}
	}
}

func TestALoneEscapeIsTheKeyWhenNothingFollows(t *testing.T) {
	var p Parser
	if got := p.Feed([]byte{0x1b}); len(got) > 0 || !p.Waiting() {
		t.Fatalf("an escape was not waited for: %v", got)
	}
	if got := names(p.Flush()); !slices.Equal(got, []string{"esc"}) {
		t.Errorf("got %v", got)
	}
}

func TestAPasteWithoutAnEndIsBounded(t *testing.T) {
	var p Parser
	p.Feed([]byte("\x1b[200~"))
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 24 {
		p.Feed(chunk)
	}
	if len(p.held) > maxPaste+1<<20 {
		t.Errorf("%d bytes are held", len(p.held))
	}
	if got := p.Feed(pasteEnd); len(got) != 1 || got[0].Name != "paste" {
		t.Errorf("the paste did not end: %d keys", len(got))
	}
}

func FuzzKeys(f *testing.F) {
	for in := range table {
		f.Add([]byte(in), 1)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		var whole, parts Parser
		want := names(append(whole.Feed(in), whole.Flush()...))
		cut = min(max(cut, 0), len(in))
		got := append(parts.Feed(in[:cut]), parts.Feed(in[cut:])...)
		got = append(got, parts.Flush()...)
		if !slices.Equal(names(got), want) {
			t.Errorf("%q cut at %d: %q, whole: %q", in, cut, names(got), want)
		}
	})
}
