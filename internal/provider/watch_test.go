package provider

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"ikigai/internal/llm"
)

func TestPulseTellsEventsFromKeepAlives(t *testing.T) {
	for _, c := range []struct {
		bytes string
		beats bool
	}{
		{"data: {\"choices\":[]}\n\n", true},
		{"data:{\"x\":1}\r\n\r\n", true},
		{"event: message_start\ndata: {\"type\":\"message_start\"}\n\n", true},
		{"{\"model\":\"x\",\"done\":false}\n", true},
		{"[{\n", true},
		{"data: [DONE]\n\n", true},
		{"", false},
		{"\n\n\r\n", false},
		{": OPENROUTER PROCESSING\n\n", false},
		{"event: ping\ndata: {\"type\": \"ping\"}\n\n", false},
		{"event: ping\ndata: {}\n\n", false},
		{"data: {\"type\":\"keepalive\"}\n\n", false},
		{"data:\n\n", false},
		{"id: 7\nretry: 100\n\n", false},
		{"data: {\"no\":\"end", false},
		{"event: ping\ndata: {}\n\nevent: x\ndata: {}\n\n", true},
	} {
		if got := beats(c.bytes, len(c.bytes)); got != c.beats {
			t.Errorf("%q: %v", c.bytes, got)
		}
		if got := beats(c.bytes, 1); got != c.beats {
			t.Errorf("%q byte by byte: %v", c.bytes, got)
		}
	}
}

// beats feeds in pieces of that size.
func beats(text string, size int) bool {
	var p pulse
	seen := false
	for len(text) > 0 {
		n := min(max(size, 1), len(text))
		seen = p.beat([]byte(text[:n])) || seen
		text = text[n:]
	}
	return seen
}

func FuzzPulseIsTheSameInPieces(f *testing.F) {
	f.Add("event: ping\ndata: {}\n\ndata: x\n", uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		if whole, pieces := beats(text, len(text)), beats(text, 1+r.IntN(7)); whole != pieces {
			t.Errorf("%q: whole %v, in pieces %v", text, whole, pieces)
		}
	})
}

func TestAWatchEndsWhatIsOverdueAndNothingElse(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	w := newWatch(end, time.Hour, errConnect)
	defer w.stop()
	w.expect(time.Millisecond, errFirst) // sooner than before
	<-ctx.Done()
	if context.Cause(ctx) != errFirst {
		t.Errorf("cause %v", context.Cause(ctx))
	}

	ctx, end = context.WithCancelCause(t.Context())
	w = newWatch(end, time.Millisecond, errConnect)
	defer w.stop()
	w.expect(time.Hour, errIdle) // later than before
	time.Sleep(20 * time.Millisecond)
	if cause := context.Cause(ctx); cause != nil && cause != errConnect {
		t.Errorf("cause %v", cause)
	}
}

// The provider's own share of an event, without the dialect's.
func BenchmarkIntakeOfOneEvent(b *testing.B) {
	p, err := open(testOptions("http://127.0.0.1:9"))
	if err != nil {
		b.Fatal(err)
	}
	p.o.Limits.Bytes = 1 << 62
	c := p.Open("s").(*conn)
	out := newSink(p, llm.Request{}, func(llm.Delta, error) bool { return true })
	_, end := context.WithCancelCause(b.Context())
	w := newWatch(end, time.Hour, errFirst)
	defer w.stop()
	in := &intake{a: &attempt{c: c, out: out}, w: w, dec: &constant{}, emit: out.take, quiet: time.Now()}
	event := []byte(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n")
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		if e := in.take(event); e != nil {
			b.Fatal(e)
		}
	}
}

// constant is a decoder that costs nothing.
type constant struct{ fakeDecoder }

func (*constant) Feed(_ []byte, emit func(llm.Delta)) error {
	emit(llm.Delta{Kind: llm.Text, Text: " word"})
	return nil
}
