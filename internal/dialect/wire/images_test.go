package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

var dot = convo.Image{Name: "dot.gif", Media: "image/gif", Data: []byte("GIF89a\x01\x00\x01\x00\xff")}

const dotBase64 = "R0lGODlhAQABAP8="

func shown(text string, images ...convo.Image) convo.Event {
	return convo.Of(text, convo.Words{Images: images})
}

// asked is the last message of the body that a format makes of events.
func asked(t *testing.T, f dialect.Format, q dialect.Quirks, events ...convo.Event) (body []byte, last any) {
	t.Helper()
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	body = encode(t, f.Encoder(q), llm.Request{Model: "m", Events: events}).Bytes()
	var all map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	for _, list := range []string{"messages", "input", "contents"} {
		if m, ok := all[list].([]any); ok {
			return body, m[len(m)-1]
		}
	}
	t.Fatalf("no messages in %.300s", body)
	return nil, nil
}

func same(t *testing.T, name string, got any, want string) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, w) {
		raw, _ := json.Marshal(got)
		t.Errorf("%s:\n got %s\nwant %s", name, raw, want)
	}
}

func TestPicturesAreWrittenAsEachFormatHasThem(t *testing.T) {
	for name, want := range map[string]string{
		"openai":    `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,` + dotBase64 + `"}},{"type":"text","text":"What is it?"}]}`,
		"responses": `{"type":"message","role":"user","content":[{"type":"input_image","detail":"auto","image_url":"data:image/gif;base64,` + dotBase64 + `"},{"type":"input_text","text":"What is it?"}]}`,
		"anthropic": `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"` + dotBase64 + `"}},{"type":"text","text":"What is it?","cache_control":{"type":"ephemeral"}}]}`,
		"gemini":    `{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"` + dotBase64 + `"}},{"text":"What is it?"}]}`,
		"ollama":    `{"role":"user","content":"What is it?","images":["` + dotBase64 + `"]}`,
	} {
		f, _ := Find(name)
		_, got := asked(t, f, dialect.Quirks{}, shown("What is it?", dot))
		same(t, name, got, want)
	}
}

func TestPictureWithoutWordsIsSent(t *testing.T) {
	for name, want := range map[string]string{
		"openai":    `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,` + dotBase64 + `"}}]}`,
		"responses": `{"type":"message","role":"user","content":[{"type":"input_image","detail":"auto","image_url":"data:image/gif;base64,` + dotBase64 + `"}]}`,
		"anthropic": `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"` + dotBase64 + `"},"cache_control":{"type":"ephemeral"}}]}`,
		"gemini":    `{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"` + dotBase64 + `"}}]}`,
		"ollama":    `{"role":"user","content":"","images":["` + dotBase64 + `"]}`,
	} {
		f, _ := Find(name)
		_, got := asked(t, f, dialect.Quirks{}, shown(" ", dot))
		same(t, name, got, want)
	}
}

func TestModelThatTakesNoPicturesIsToldOfThem(t *testing.T) {
	for _, f := range Formats() {
		body, _ := asked(t, f, dialect.Quirks{Blind: true}, shown("What is it?", dot, dot), convo.Event{Kind: convo.KindAssistant, Text: "Hm."}, shown("", dot))
		line := "[image dot.gif, 1 kB, not sent: m takes no images]"
		if bytes.Count(body, []byte(line)) != 3 || bytes.Contains(body, []byte(dotBase64)) {
			t.Errorf("%s: %s", f.Name, body)
		}
		if !bytes.Contains(body, []byte(`What is it?\n\n`+line)) {
			t.Errorf("%s: the line does not stand with the words: %s", f.Name, body)
		}
	}
}

// Servers in front of others mark what may be cached on a part of the message.
func TestCacheMarkStandsOnTheWordsBesideAPicture(t *testing.T) {
	f, _ := Find("openai")
	_, got := asked(t, f, dialect.Quirks{CacheMarks: true}, shown("What is it?", dot))
	same(t, "openai", got, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,`+dotBase64+`"}},{"type":"text","text":"What is it?","cache_control":{"type":"ephemeral"}}]}`)
	body, _ := asked(t, f, dialect.Quirks{CacheMarks: true}, shown("", dot))
	if bytes.Contains(body, []byte("cache_control")) {
		t.Errorf("a mark on a picture: %s", body)
	}
}

func TestRichSessionWithPicturesIsValidForEveryProvider(t *testing.T) {
	big := dot
	big.Data = append(slices.Clone(dot.Data), make([]byte, 300_000)...) // larger than a block of the encoder
	for _, f := range Formats() {
		events := richSession(f.Name)
		for i, e := range events {
			if e.Kind == convo.KindUser {
				events[i].Body = convo.Words{Images: []convo.Image{dot, big}}
			}
		}
		going := f.Encoder(dialect.Quirks{})
		for _, n := range []int{1, 10, len(events)} {
			r := llm.Request{Model: testModel, Events: events[:n:n], Tools: testTools(t)}
			body := encode(t, going, r).Bytes()
			if err := check(f.Name, withoutPictures(body)); err != nil {
				t.Fatalf("%s after event %d: %v", f.Name, n, err)
			}
			if fresh := encode(t, f.Encoder(dialect.Quirks{}), r).Bytes(); !bytes.Equal(fresh, body) {
				t.Fatalf("%s after event %d: an encoder that went along and a new one differ", f.Name, n)
			}
		}
		body := encode(t, going, llm.Request{Model: testModel, Events: events, Tools: testTools(t)}).Bytes()
		if bytes.Count(body, []byte(base64.StdEncoding.EncodeToString(big.Data))) != 2 {
			t.Errorf("%s: the pictures are not all there", f.Name)
		}
	}
}

// withoutPictures takes the parts out that the checker knows nothing of.
func withoutPictures(body []byte) []byte {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return body
	}
	raw, _ := json.Marshal(strip(v))
	return raw
}

func strip(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, e := range v {
			if m, ok := e.(map[string]any); ok && isPicture(m) {
				continue
			}
			out = append(out, strip(e))
		}
		return out
	case map[string]any:
		for k, e := range v {
			v[k] = strip(e)
		}
	}
	return v
}

func isPicture(m map[string]any) bool {
	return m["type"] == "image" || m["type"] == "image_url" || m["type"] == "input_image" || m["inlineData"] != nil
}

func TestPictureOfAModelGoesBackAsItCame(t *testing.T) {
	for name, c := range map[string]struct{ stream, kept string }{
		"gemini": {
			`data: {"candidates":[{"content":{"parts":[{"text":"here"},{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"s"}],"role":"model"},"finishReason":"STOP"}]}` + "\n\n",
			`{"inlineData":{"mimeType":"image/png","data":"aGk="},"thoughtSignature":"s"}`,
		},
		"responses": {
			`data: {"type":"response.output_item.added","output_index":0,"item":{"id":"ig_1","type":"image_generation_call","status":"in_progress"}}` + "\n\n" +
				`data: {"type":"response.output_item.done","output_index":0,"item":{"id":"ig_1","type":"image_generation_call","status":"completed","result":"aGk="}}` + "\n\n" +
				`data: {"type":"response.completed","response":{"status":"completed"}}` + "\n\n",
			`{"id":"ig_1","type":"image_generation_call","status":"completed","result":"aGk="}`,
		},
	} {
		f, _ := Find(name)
		d := f.Decoder()
		events := []convo.Event{{Seq: 1, Kind: convo.KindUser, Text: "draw"}}
		emit := func(x llm.Delta) {
			e := convo.Event{Kind: convo.KindAssistant, Text: x.Text, Keep: x.Keep, Seq: int64(len(events) + 1), Reply: "r"}
			switch {
			case x.Kind == llm.Block:
				e.Kind, e.Body, e.Keep = convo.KindOpaque, *x.Keep, nil
			case x.Text == "":
				return
			}
			events = append(events, e)
		}
		if err := d.Feed([]byte(c.stream), emit); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(emit); err != nil {
			t.Fatal(err)
		}
		if body := encode(t, f.Encoder(dialect.Quirks{}), llm.Request{Model: "m", Events: events}).Bytes(); !bytes.Contains(body, []byte(c.kept)) {
			t.Errorf("%s: %s", name, body)
		}
	}
}
