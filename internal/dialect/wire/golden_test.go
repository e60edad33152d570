package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

var update = flag.Bool("update", false, "write what the code does now into the golden files")

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", file, got, want)
	}
}

func TestStreamsDecodeAsTheirGoldenFilesSay(t *testing.T) {
	for _, f := range Formats() {
		files, err := filepath.Glob(filepath.Join("testdata", f.Name, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".golden") {
				continue
			}
			t.Run(file, func(t *testing.T) {
				body, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var whole bytes.Buffer
				if err := Decode(f, 200, bytes.NewReader(body), &whole); err != nil {
					t.Fatal(err)
				}
				golden(t, file+".golden", whole.Bytes())
				for how, pieces := range cuts(body) {
					if diff := compare(expectation{Events: asMaps(t, Events(f, 200, slices.Values([][]byte{body})))}, asMaps(t, Events(f, 200, pieces))); diff != "" {
						t.Errorf("fed %s: %s", how, diff)
					}
				}
			})
		}
	}
}

func TestARichSessionEncodesAsItsGoldenFilesSay(t *testing.T) {
	for _, f := range Formats() {
		r := llm.Request{Model: testModel, System: "Be good.", Events: richSession(f.Name), Tools: testTools(t), Effort: llm.LowEffort, MaxReply: 4096}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, encode(t, f.Encoder(dialect.Quirks{Window: 8192}), r).Bytes(), "", " "); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
		golden(t, filepath.Join("testdata", f.Name+"-request.golden"), pretty.Bytes())
	}
}

func TestStoredEventsBecomeABody(t *testing.T) {
	lines := `{"kind":"system","content":"Be good."}

{"kind":"user","content":"hi"}
{"kind":"tool_call","content":"","data_json":{"id":"a","type":"function","function":{"name":"glob","arguments":"{\"p\": 1}"}}}
{"kind":"tool_result","content":"","data_json":"{\"tool_call_id\":\"a\",\"name\":\"glob\",\"output\":\"{}\",\"success\":true}"}`
	for _, f := range Formats() {
		body, err := Encode(f, "m", testTools(t), strings.NewReader(lines))
		if err != nil {
			t.Fatal(err)
		}
		if err := check(f.Name, body.Bytes()); err != nil {
			t.Errorf("%s: %v\n%s", f.Name, err, body.Bytes())
		}
		if !bytes.Contains(body.Bytes(), []byte("Be good.")) {
			t.Errorf("%s: no system prompt in %s", f.Name, body.Bytes())
		}
	}
	if _, err := Encode(Formats()[0], "m", nil, strings.NewReader("{}\n{broken")); err == nil || !strings.Contains(err.Error(), "event 2") {
		t.Errorf("broken events: %v", err)
	}
}

func FuzzDecodersDoNotCareWhereBytesAreCut(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if body, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".golden") {
			f.Add(body, uint64(1))
		}
	}
	formats := Formats()
	for _, format := range formats {
		begin, body := streamOf(format.Name, 4)
		all := slices.Concat(begin, body)
		f.Add(all, uint64(2))
		f.Add(bytes.ReplaceAll(all, []byte("\n"), []byte("\r\n")), uint64(3))
		f.Add(slices.Concat(all, []byte("data:  \n\n: ping\n\n"), body), uint64(4))
		f.Add(bytes.ReplaceAll(all, []byte("words2"), []byte(`a\n\"`)), uint64(5))
	}
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		for _, format := range formats {
			whole := asMaps(t, Events(format, 200, slices.Values([][]byte{body})))
			cut := asMaps(t, Events(format, 200, randomPieces(body, seed)))
			if diff := compare(expectation{Events: whole}, cut); diff != "" && !excerpts(whole, cut) {
				t.Fatalf("%s: %s", format.Name, diff)
			}
			for _, e := range whole {
				if args, ok := e["arguments"]; ok && args == nil && e["complete"] != false {
					t.Fatalf("%s: a call without arguments is called complete: %v", format.Name, e)
				}
			}
		}
	})
}

// excerpts reports whether both end in garbage: how much of it is shown depends
// on how much had come.
func excerpts(a, b []map[string]any) bool {
	last := func(events []map[string]any) any {
		if len(events) == 0 {
			return nil
		}
		return events[len(events)-1]["class"]
	}
	return last(a) == string(llm.Garbage) && last(b) == string(llm.Garbage)
}

// FuzzMemoryChangesNothing decodes lines as messages, once with what a decoder
// remembers of the message before and once without.
func FuzzMemoryChangesNothing(f *testing.F) {
	for _, format := range Formats() {
		begin, body := streamOf(format.Name, 5)
		begin = append(begin, body...)
		f.Add(bytes.ReplaceAll(bytes.ReplaceAll(begin, []byte("\n\n"), []byte("\n")), []byte("data: "), nil))
	}
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"[1"} }
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":",2]"}   }
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"x"}}`))
	f.Fuzz(func(t *testing.T, lines []byte) {
		for _, format := range Formats() {
			if with, without := remembered(format, lines, false), remembered(format, lines, true); !slices.Equal(with, without) {
				t.Fatalf("%s: %s\nwith    %q\nwithout %q", format.Name, lines, with, without)
			}
		}
	})
}

func remembered(f dialect.Format, lines []byte, forget bool) []string {
	d := f.Decoder()
	var got []string
	emit := func(x llm.Delta) {
		if x.Text+x.ID+x.Name != "" || x.Kind == llm.Done || x.Keep != nil || x.Broken {
			got = append(got, fmt.Sprintf("%d %d %q %q %q %v %v", x.Kind, x.Block, x.Text, x.ID, x.Name, x.Stop, x.Broken))
		}
	}
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		if forget {
			d.(interface{ Forget() }).Forget()
		}
		if err := d.Feed(append(append([]byte("data: "), line...), "\n\n"...), emit); err != nil {
			return append(got, err.Error())
		}
	}
	if err := d.Close(emit); err != nil {
		got = append(got, err.Error())
	}
	return got
}
