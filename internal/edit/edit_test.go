package edit

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/corpus"
	"ikigai/internal/tool"
)

type row struct {
	ID       string `json:"id"`
	Mode     string `json:"mode"`
	File     string `json:"file"`
	FileB64  string `json:"file_b64"`
	FileGz   string `json:"file_gz_b64"`
	Result   string `json:"result"`
	ResultGz string `json:"result_gz_b64"`
	Error    string `json:"error"`
	Edits    []struct {
		Old string `json:"old_text"`
		New string `json:"new_text"`
		All bool   `json:"replace_all"`
	} `json:"edits"`
	AlsoOK []string `json:"also_ok"`
	Reason string   `json:"reason"`
}

func (r row) file(t testing.TB) []byte { return corpus.Value(t, r.File, r.FileB64, r.FileGz) }

func (r row) result(t testing.TB) []byte { return corpus.Value(t, r.Result, "", r.ResultGz) }

func (r row) edits() []Edit {
	var out []Edit
	for _, e := range r.Edits {
		out = append(out, Edit{OldText: e.Old, NewText: e.New, ReplaceAll: e.All})
	}
	return out
}

func (r row) mode() Mode {
	if r.Mode == "fuzzy" {
		return Fuzzy
	}
	return Exact
}

func TestCorpusOfEditsByteForByte(t *testing.T) {
	exact, accepted, wrong := 0, 0, 0
	for _, r := range corpus.Rows[row](t, "testdata/edits.jsonl") {
		file := r.file(t)
		before := bytes.Clone(file)
		out, err := Apply(file, r.edits(), r.mode())
		if !bytes.Equal(file, before) {
			t.Errorf("%s: the input was changed", r.ID)
		}
		code := string(tool.CodeOf(err, ""))
		switch {
		case code == r.Error && (err != nil || bytes.Equal(out.Text, r.result(t))):
			exact++
		case err != nil && slices.Contains(r.AlsoOK, code), err == nil && slices.Contains(r.AlsoOK, "result:"+string(out.Text)):
			accepted++
		default:
			wrong++
			t.Errorf("%s (%s): got %.80q, error %v; want %.80q, error %q", r.ID, r.Reason, out.Text, err, r.result(t), r.Error)
		}
	}
	t.Logf("exact %d, accepted %d, wrong %d", exact, accepted, wrong)
}

func TestLineEndsOfTheFileStay(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, want string }{
		{"LF text into CR LF", "a\r\nb\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\n"},
		{"CR LF text into LF", "a\nb\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\n"},
		{"LF found inside CR LF", "a\r\nb\r\n", "\nb", "\nx", "a\r\nx\r\n"},
		{"joining CR LF lines", "a\r\nb\r\n", "\nb", "b", "ab\r\n"},
		{"CR found inside CR LF", "a\r\nb\r\n", "a\r", "x", "x\r\nb\r\n"},
		{"each line of a mixed file", "a\r\nb\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\nc\r\n"},
		{"inserted into a mixed file", "a\r\nb\nc\r\n", "b", "b\nb2", "a\r\nb\nb2\nc\r\n"},
		{"last line takes the end of the one before", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"no line end to go by", "a", "a", "x\r\ny", "x\r\ny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := Apply([]byte(c.file), []Edit{{OldText: c.old, NewText: c.new}}, Exact)
			if err != nil || string(out.Text) != c.want {
				t.Errorf("got %q, %v; want %q", out.Text, err, c.want)
			}
		})
	}
}

func TestByteOrderMarkStays(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"\ufeffa\n", "x\n", "\ufeffx\nb\n"},
		{"\ufeffa\n", "\ufeffx\n", "\ufeffx\nb\n"},
		{"a\n", "\ufeffx\n", "\ufeffx\nb\n"},
		{"a \nb\n", "x\n", "\ufeffx\n"},
		{"\ufeffa \nb\n", "\ufeffx\n", "\ufeffx\n"},
	} {
		out, err := Apply([]byte("\ufeffa\nb\n"), []Edit{{OldText: c.old, NewText: c.new}}, Fuzzy)
		if err != nil || string(out.Text) != c.want {
			t.Errorf("%q to %q: got %q, %v; want %q", c.old, c.new, out.Text, err, c.want)
		}
	}
	_, err := Apply([]byte("\ufeffa\n"), []Edit{{OldText: "\ufeff"}}, Fuzzy)
	if tool.CodeOf(err, "") != NoChange {
		t.Errorf("removing the mark: got %v, want %s", err, NoChange)
	}
}

func TestIndentIsShiftedByOneCommonChange(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, want string }{
		{"too deep", "a\n  b\n", "\ta\n\t  b\n", "\ta\n\t  c\n", "a\n  c\n"},
		{"a line further out stays there", "\ta\n\tb\n", "    a\n    b\n", "    a\nlabel:\n    b\n", "\ta\nlabel:\n\tb\n"},
		{"nothing to take away is no harm", "a\nb\n", "    a\n    b\n", "    a\n  b\nc\n", "a\nb\nc\n"},
		{"leading blank line", "x\n\n\ta\n", "\n  a\n", "\n  b\n", "x\n\n\tb\n"},
		{"first line deeper than the next", "\t\ta\n\tb\n", "\ta\nb\n", "\ta\nc\n", "\t\ta\n\tc\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := Apply([]byte(c.file), []Edit{{OldText: c.old, NewText: c.new}}, Fuzzy)
			if err != nil || string(out.Text) != c.want {
				t.Fatalf("got %q, %v; want %q", out.Text, err, c.want)
			}
			if len(out.Fuzzy) != 1 || out.Fuzzy[0] != (Loose{Edit: 0, Rung: Indent}) {
				t.Errorf("rungs: got %v", out.Fuzzy)
			}
		})
	}
	for _, old := range []string{"  a\n\tb\n", "a\n  b\n"} {
		_, err := Apply([]byte("\ta\n\tb\n"), []Edit{{OldText: old, NewText: "x\n"}}, Fuzzy)
		if tool.CodeOf(err, "") != NotFound {
			t.Errorf("%q: lines with different shifts: got %v, want %s", old, err, NotFound)
		}
	}
}

func TestErrorsHelpTheModel(t *testing.T) {
	for _, c := range []struct {
		name, file, old string
		all             bool
		code            tool.Code
		want            []string
	}{
		{"nearest lines", "one\ntwo\nfunc main() {\nfour\n", "func Main() int {\n", false, NotFound, []string{"3: func main() {"}},
		{"case", "Hello world\n", "hello world", false, NotFound, []string{"upper and lower case", "1: Hello world"}},
		{"blanks", "f(a, b)\n", "f(a,b)", false, NotFound, []string{"blanks", "1: f(a, b)"}},
		{"line numbers", "a\nb\n", "1: a\n2: b\n", false, NotFound, []string{"line numbers"}},
		{"dots", "a\nb\n", "// ... existing code ...\nb\n", false, NotFound, []string{"dots"}},
		{"empty file", "", "a", false, NotFound, []string{"empty"}},
		{"nothing alike", "abc\n", "xyz", false, NotFound, []string{"No line"}},
		{"replace_all is exact", "a \nb\n", "a\nb\n", true, NotFound, []string{"replace_all takes exact matches"}},
		{"where it matches", "x\na\nx\nx x\n", "x", false, Ambiguous, []string{"1, 3, 4", "replace_all"}},
		{"two that share bytes", "aaa", "aa", false, Ambiguous, []string{"line 1:"}},
		{"many matches", strings.Repeat("x\n", 100), "x", false, Ambiguous, []string{"1, 2, 3", "and more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Apply([]byte(c.file), []Edit{{OldText: c.old, NewText: "new", ReplaceAll: c.all}}, Fuzzy)
			if tool.CodeOf(err, "") != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

func TestEditsThatMeetAreRefused(t *testing.T) {
	for _, edits := range [][]Edit{
		{{OldText: "b", NewText: "x"}, {OldText: "b", NewText: "y"}},
		{{OldText: "abc", NewText: "x"}, {OldText: "b", NewText: "y"}},
		{{OldText: "c", NewText: "x", ReplaceAll: true}, {OldText: "bc", NewText: "y"}},
	} {
		_, err := Apply([]byte("abcd\n"), edits, Exact)
		if tool.CodeOf(err, "") != Overlap {
			t.Errorf("%v: got %v, want %s", edits, err, Overlap)
		}
	}
}

func TestHostileRepetitionStaysLinear(t *testing.T) {
	file := []byte(strings.Repeat("a\n", 200_000))
	old := strings.Repeat("a\n", 50_000) + " a\n"
	_, err := Apply(file, []Edit{{OldText: old, NewText: "x"}}, Fuzzy)
	if tool.CodeOf(err, "") != NotFound {
		t.Errorf("got %v, want %s", err, NotFound)
	}
}

func FuzzApply(f *testing.F) {
	for _, r := range corpus.Rows[row](f, "testdata/edits.jsonl") {
		file := r.file(f)
		if len(file) > 10_000 {
			continue
		}
		for _, e := range r.edits() {
			f.Add(file, e.OldText, e.NewText, e.ReplaceAll, r.Mode == "fuzzy")
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, old, new string, all, fuzzy bool) {
		mode := Exact
		if fuzzy {
			mode = Fuzzy
		}
		before := bytes.Clone(file)
		out, err := Apply(file, []Edit{{OldText: old, NewText: new, ReplaceAll: all}}, mode)
		if !bytes.Equal(before, file) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			var coded *tool.Error
			if !errors.As(err, &coded) || coded.Code == "" || out.Text != nil || out.Replacements != 0 {
				t.Fatalf("an error must have a code and come alone: %#v, %v", out, err)
			}
			return
		}
		checkOutside(t, string(file), string(out.Text), new)
		if s := string(file); !strings.Contains(s+old+new, "\r") && !strings.HasPrefix(s, mark) && strings.Contains(s, old) {
			if want := strings.ReplaceAll(s, old, new); string(out.Text) != want {
				t.Fatalf("got %q, plain replacing gives %q", out.Text, want)
			}
		}
	})
}

// checkOutside: what a single edit keeps in front of and behind itself holds
// the line ends of the file; only new can bring others, and only when the file
// has none to go by.
func checkOutside(t *testing.T, file, got, new string) {
	t.Helper()
	crlf, lf := strings.Count(file, "\r\n"), strings.Count(file, "\n")
	if strings.Contains(new, "\r") || strings.Contains(file, "\r\r") || strings.Contains(strings.ReplaceAll(file, "\r\n", ""), "\r") {
		return // a lone CR can join a line end it did not belong to
	}
	switch {
	case lf > 0 && crlf == lf && strings.Count(got, "\n") != strings.Count(got, "\r\n"):
		t.Fatalf("a CR LF file got another line end: %q", got)
	case crlf == 0 && strings.Contains(got, "\r\n"):
		t.Fatalf("an LF file got CR LF: %q", got)
	}
}

func BenchmarkExactEditOfALargeFile(b *testing.B) {
	file := []byte(strings.Repeat("some line of code here\n", 50_000) + "the one\n")
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := Apply(file, []Edit{{OldText: "the one", NewText: "that one"}}, Fuzzy); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNotFoundInALargeFile(b *testing.B) {
	file := []byte(strings.Repeat("some line of code here\n", 50_000))
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := Apply(file, []Edit{{OldText: "some lime of code hear\n", NewText: "x"}}, Fuzzy); err == nil {
			b.Fatal("found")
		}
	}
}
