package provider

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
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
	for _, c := range []struct {
		name string
		say  func(*watch)
		why  error
		at   time.Duration
	}{
		{"nothing is said", func(*watch) {}, errConnect, 10 * time.Second},
		{"sooner than before", func(w *watch) { w.await(time.Second, errFirst) }, errFirst, time.Second},
		{"later than before", func(w *watch) { w.await(time.Minute, errFirst) }, errFirst, time.Minute},
		{"events go on", func(w *watch) {
			for range 20 {
				w.expect(10*time.Second, errIdle)
				time.Sleep(9 * time.Second)
			}
		}, errIdle, 181 * time.Second},
		{"the writer comes late", func(w *watch) {
			w.expect(time.Second, errIdle)
			w.await(time.Minute, errFirst)
		}, errIdle, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				ctx, end := context.WithCancelCause(t.Context())
				w := newWatch(end, 10*time.Second, errConnect)
				defer w.stop()
				c.say(w)
				<-ctx.Done()
				if context.Cause(ctx) != c.why || time.Since(start) != c.at {
					t.Errorf("%v after %s, want %v after %s", context.Cause(ctx), time.Since(start), c.why, c.at)
				}
			})
		})
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
	out := newSink(c, llm.Request{}, func(llm.Delta, error) bool { return true })
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
