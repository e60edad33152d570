package dialect

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/llm"
)

// frames feeds body in pieces and gives "event|data" of each message.
func frames(body []byte, piece func(rest int) int) ([]string, error) {
	var f Frames
	var got []string
	each := func(event, data []byte) error {
		got = append(got, string(event)+"|"+string(data))
		return nil
	}
	for rest := body; len(rest) > 0; {
		n := piece(len(rest))
		p := slices.Clone(rest[:n])
		if err := f.Feed(p, each); err != nil {
			return got, err
		}
		for i := range p {
			p[i] = '#'
		}
		rest = rest[n:]
	}
	return got, f.Close(each)
}

var framed = []struct {
	name, body string
	want       []string
}{
	{"events end in LF", "data: {\"a\":1}\n\ndata: {\"b\":2}\n\n", []string{`|{"a":1}`, `|{"b":2}`}},
	{"events end in CRLF", "data: 1\r\n\r\nevent: x\r\ndata: 2\r\n\r\n", []string{"|1", "x|2"}},
	{"events end in CR", "data: 1\r\revent: x\rdata: 2\r\r", []string{"|1", "x|2"}},
	{"data over several lines", "data: {\"a\":\ndata: 1}\n\n", []string{"|{\"a\":\n1}"}},
	{"no space after the colon", "data:1\n\ndata:  2\n\n", []string{"|1", "| 2"}},
	{"comments and other fields", ": hi\n\n:\n\nid: 7\nretry: 5\nnonsense: x\ndata: 1\n\n", []string{"|1"}},
	{"an event without data", "event: ping\n\ndata: 1\n\n", []string{"|1"}},
	{"a byte order mark", "\ufeffdata: 1\n\n", []string{"|1"}},
	{"the last empty line is missing", "data: {\"a\":1}\n\ndata: [DONE]", []string{`|{"a":1}`, "|[DONE]"}},
	{"the last event is cut", "data: {\"a\":1}\n\ndata: {\"b\":", []string{`|{"a":1}`}},
	{"a bare object between events", "data: 1\n\n{\"error\":\"gone\"}\n", []string{"|1", `|{"error":"gone"}`}},
	{"lines of objects", "{\"a\":\"}{\"}\n{\"b\":[{}]}\n", []string{`|{"a":"}{"}`, `|{"b":[{}]}`}},
	{"one object over lines", " {\n \"a\": \"\\\"}\"\n}\n", []string{"|{\n \"a\": \"\\\"}\"\n}"}},
	{"objects without anything between", `{"a":1}{"b":2}`, []string{`|{"a":1}`, `|{"b":2}`}},
	{"an array of objects", "[{\"a\":1},\r\n{\"b\":[2]}]", []string{`|{"a":1}`, `|{"b":[2]}`}},
	{"an object that is cut", `{"a":1}{"b":`, []string{`|{"a":1}`}},
	{"nothing", "", nil},
	{"space alone", " \n\n", nil},
	{"a huge line", "data: \"" + strings.Repeat("x", 3<<20) + "\"\n\n", []string{`|"` + strings.Repeat("x", 3<<20) + `"`}},
}

func TestFramingIsToldByTheFirstBytesHoweverTheyAreCut(t *testing.T) {
	for _, c := range framed {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			ways := map[string]func(int) int{
				"whole":  func(rest int) int { return rest },
				"random": func(rest int) int { return 1 + r.IntN(min(rest, 1+len(c.body)/8)) },
			}
			if len(c.body) < 1000 {
				ways["byte by byte"] = func(int) int { return 1 }
			}
			for how, piece := range ways {
				got, err := frames([]byte(c.body), piece)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if !slices.Equal(got, c.want) {
					t.Fatalf("%s: got %.200q, want %.200q", how, got, c.want)
				}
			}
		})
	}
}

func TestWhatIsNoFormatOfOursIsGarbageWithAnExcerpt(t *testing.T) {
	for _, c := range []struct{ body, excerpt string }{
		{"<!DOCTYPE html><html><head><title>502 Bad\nGateway</title></head><body>x</body></html>", "502 Bad Gateway"},
		{"<html><script>evil()</script><p>proxy <b>login</b></p></html>", "proxy login"},
		{"upstream connect error\x1b[31m or disconnect", "upstream connect error [31m or disconnect"},
		{`{"a":1} and then words`, "and then words"},
		{"<html>" + strings.Repeat("<br>", 2000), ""},
	} {
		for _, step := range []int{1, 1 << 20} {
			_, err := frames([]byte(c.body), func(rest int) int { return min(rest, step) })
			e := (*llm.Error)(nil)
			if !errors.As(err, &e) || e.Class != llm.Garbage {
				t.Fatalf("%.40q: %v", c.body, err)
			}
			if !strings.HasSuffix(e.Message, c.excerpt) && step > 1 {
				t.Errorf("%.40q: %q does not end in %q", c.body, e.Message, c.excerpt)
			}
		}
	}
}

func FuzzFramesDoNotCareWhereBytesAreCut(f *testing.F) {
	for i, c := range framed {
		if len(c.body) < 1000 {
			f.Add([]byte(c.body), uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		whole, wholeErr := frames(body, func(rest int) int { return rest })
		r := rand.New(rand.NewPCG(seed, 1))
		cut, cutErr := frames(body, func(rest int) int { return 1 + r.IntN(min(rest, 40)) })
		if !slices.Equal(whole, cut) || (wholeErr == nil) != (cutErr == nil) {
			t.Fatalf("whole %q %v, cut %q %v", whole, wholeErr, cut, cutErr)
		}
	})
}

func BenchmarkFramesOnly(b *testing.B) {
	body := bytes.Repeat([]byte("data: "+strings.Repeat("x", 320)+"\n\n"), 100)
	var f Frames
	n := 0
	each := func(_, data []byte) error { n += len(data); return nil }
	b.ReportAllocs()
	for b.Loop() {
		_ = f.Feed(body, each)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/event")
}
