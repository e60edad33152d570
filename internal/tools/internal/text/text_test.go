package text

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Lines before and after a change stay as they are, byte for byte.
func TestSpliceLeavesTheOtherLinesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,5}`), 1, 8).Draw(t, "lines")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		data := []byte(strings.Join(lines, eol) + eol)
		first := rapid.IntRange(1, len(lines)).Draw(t, "first")
		end := rapid.IntRange(first, len(lines)+1).Draw(t, "end")
		fresh := rapid.SliceOfN(rapid.StringMatching(`[A-Z]{1,5}`), 0, 4).Draw(t, "fresh")
		want := strings.Join(append(append(append([]string{}, lines[:first-1]...), fresh...), lines[end-1:]...), eol)
		if want != "" || len(lines)-(end-first)+len(fresh) > 0 {
			want += eol
		}
		if got := string(Splice(data, first, end, strings.Join(fresh, "\n"))); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestSpliceInAFileWithoutLastLineEnd(t *testing.T) {
	for _, c := range []struct {
		data, content, want string
		first, end          int
	}{
		{"1\n2", "x", "1\nx", 2, 3},
		{"1\n2", "x", "1\n2\nx", 3, 3},
		{"1\n2", "x\n", "1\n2\nx\n", 3, 3},
		{"1\n2", "x", "x\n1\n2", 1, 1},
		{"1\n2", "", "1\n", 2, 3},
		{"", "x", "x\n", 1, 1},
		{"1\r\n2", "x\ny", "1\r\nx\r\ny", 2, 3},
	} {
		if got := string(Splice([]byte(c.data), c.first, c.end, c.content)); got != c.want {
			t.Errorf("%q with %q at %d to %d is %q, want %q", c.data, c.content, c.first, c.end, got, c.want)
		}
	}
}

func TestTextIsToldFromOtherData(t *testing.T) {
	long := strings.Repeat("é", Head) // a character is cut where the head ends
	for data, want := range map[string]bool{
		"": true, "plain": true, "caf\xe9 au lait": true, "x" + long: true, long: true, "BM bitmap?": true, "GIF89a is the name of a format": true,
		"a\x00b": false, "\x89PNG\r\n\x1a\n": false, "%PDF-1.4\n%\xe2\xe3\xcf\xd3": false,
	} {
		if got := Plain([]byte(data)); got != want {
			t.Errorf("%.20q is text: %v", data, got)
		}
	}
}

func TestNumbersAndCounts(t *testing.T) {
	if got := Numbered("a\n\nb", 9); got != "9: a\n10: \n11: b" {
		t.Errorf("%q", got)
	}
	for data, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2} {
		if got := Lines([]byte(data)); got != want {
			t.Errorf("%q has %d lines", data, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("text\xe2\x82"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := Decode("f", bytes.Clone(data))
		if err == nil && len(out) > 3*len(data)+3 {
			t.Errorf("%d bytes became %d", len(data), len(out))
		}
	})
}
