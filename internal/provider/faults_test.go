package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ikigai/internal/llm"
)

const testKey = "sk-secret-0123456789abcdef"

// A step answers one request of a script; the last one answers all that follow.
type step func(w http.ResponseWriter, r *http.Request)

// lines answers with events and a proper end of the body.
func lines(ls ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		write(w, ls...)
	}
}

func write(w http.ResponseWriter, ls ...string) {
	for _, l := range ls {
		fmt.Fprint(w, "data: ", l, "\n\n")
		w.(http.Flusher).Flush()
	}
}

// hi is a good reply.
func hi() step { return lines("T hi", "U 1", "END") }

// status answers with an error; headers come in pairs.
func status(code int, body string, headers ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func said(code int, message string, headers ...string) step {
	return status(code, fmt.Sprintf(`{"error":{"message":%q}}`, message), headers...)
}

// cut sends events and breaks the connection.
func cut(ls ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		write(w, ls...)
		panic(http.ErrAbortHandler)
	}
}

// hang sends events and then nothing, until the client goes.
func hang(ls ...string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		write(w, ls...)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// drip sends events, then the same piece again and again, until the client goes.
func drip(piece string, ls ...string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		write(w, ls...)
		for r.Context().Err() == nil {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// mute never answers at all.
func mute(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// raw sends bytes of its own instead of HTTP and closes.
func raw(bytes string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer c.Close()
		io.WriteString(c, bytes)
	}
}

// reset closes without a word, and hard.
func reset(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

func body(contentType, text string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, text)
	}
}

// short gives the silent cases little time.
func short(o *Options) {
	o.Deadlines = Deadlines{Connect: 5 * time.Second, FirstEvent: 300 * time.Millisecond, Idle: 300 * time.Millisecond, Silent: 800 * time.Millisecond, Linger: 50 * time.Millisecond}
}

func once(o *Options) { short(o); o.Retry.Tries = 1 }

func limited(bytes int64, calls int) func(*Options) {
	return func(o *Options) { o.Limits = Limits{Bytes: bytes, Calls: calls} }
}

const page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>no</body></html>"

type fault struct {
	name    string
	script  []step
	set     func(*Options)
	class   llm.Class // empty: it ends well
	tries   int       // requests that reach the server
	text    string    // what of the reply must have arrived
	partial bool
	says    []string // in message or hint
}

func faults() []fault {
	hundred := make([]string, 0, 102)
	for i := range 101 {
		hundred = append(hundred, fmt.Sprintf("C id%d bash {}", i))
	}
	return []fault{
		{name: "no fault at all", script: []step{hi()}, tries: 1, text: "hi"},
		{name: "401", script: []step{said(401, "bad key")}, class: llm.Auth, tries: 1, says: []string{"bad key", "FAKE_API_KEY", "ikigai key set fake", "401"}},
		{name: "401 that repeats the key", script: []step{said(401, "bad key "+testKey)}, class: llm.Auth, tries: 1, says: []string{"bad key [key]"}},
		{name: "403", script: []step{said(403, "not yours")}, class: llm.Auth, tries: 1, says: []string{"not yours"}},
		{name: "403 page of a firewall", script: []step{status(403, page)}, class: llm.Auth, tries: 1, says: []string{"web page", "Sign in"}},
		{name: "404", script: []step{said(404, "no such model")}, class: llm.NotFound, tries: 1, says: []string{"no such model", "m1"}},
		{name: "404 page", script: []step{status(404, page)}, class: llm.NotFound, tries: 1, says: []string{"web page"}},
		{name: "404 empty", script: []step{status(404, "")}, class: llm.NotFound, tries: 1, says: []string{"Not Found"}},
		{name: "405", script: []step{status(405, "")}, class: llm.BadRequest, tries: 1},
		{name: "400", script: []step{said(400, "what?")}, class: llm.BadRequest, tries: 1, says: []string{"what?"}},
		{name: "400 in plain text", script: []step{status(400, "Client sent an HTTP request to an HTTPS server.\n")}, class: llm.BadRequest, tries: 1, says: []string{"HTTPS server"}},
		{name: "402", script: []step{said(402, "pay")}, class: llm.Quota, tries: 1, says: []string{"pay", "account"}},
		{name: "413", script: []step{said(413, "too big")}, class: llm.BadRequest, tries: 1},
		{name: "422", script: []step{said(422, "cannot")}, class: llm.BadRequest, tries: 1},
		{name: "418 is not known", script: []step{said(418, "teapot")}, class: llm.BadRequest, tries: 1},
		{name: "408 then well", script: []step{said(408, "slow"), hi()}, tries: 2, text: "hi"},
		{name: "409 then well", script: []step{said(409, "busy"), hi()}, tries: 2, text: "hi"},
		{name: "429 then well", script: []step{said(429, "slow down"), hi()}, tries: 2, text: "hi"},
		{name: "429 for ever", script: []step{said(429, "slow down")}, class: llm.RateLimited, tries: 4, says: []string{"slow down"}},
		{name: "429 quota", script: []step{status(429, `{"error":{"message":"no money","code":"insufficient_quota"}}`)}, class: llm.Quota, tries: 1, says: []string{"no money"}},
		{name: "429 with a long wait", script: []step{said(429, "tomorrow", "Retry-After", "3600")}, class: llm.RateLimited, tries: 1, says: []string{"1h0m0s"}},
		{name: "429 with a date", script: []step{said(429, "then", "Retry-After", time.Now().Add(5*time.Second).UTC().Format(http.TimeFormat)), hi()}, tries: 2, text: "hi"},
		{name: "429 with nonsense to wait", script: []step{said(429, "x", "Retry-After", "NaN"), said(429, "x", "Retry-After", "-5"), said(429, "x", "Retry-After-Ms", "abc"), hi()}, tries: 4, text: "hi"},
		{name: "429 with milliseconds", script: []step{said(429, "x", "Retry-After-Ms", "20"), hi()}, tries: 2, text: "hi"},
		{name: "500 then well", script: []step{said(500, "oops"), hi()}, tries: 2, text: "hi"},
		{name: "500 three times, then well", script: []step{said(500, "a"), said(502, "b"), said(503, "c"), hi()}, tries: 4, text: "hi"},
		{name: "502 page of a proxy", script: []step{status(502, page)}, class: llm.Overloaded, tries: 4, says: []string{"web page"}},
		{name: "503 empty", script: []step{status(503, "")}, class: llm.Overloaded, tries: 4, says: []string{"Service Unavailable"}},
		{name: "504 then well", script: []step{status(504, ""), hi()}, tries: 2, text: "hi"},
		{name: "529", script: []step{said(529, "overloaded")}, class: llm.Overloaded, tries: 4, says: []string{"overloaded", "529"}},
		{name: "529 then key refused", script: []step{said(529, "overloaded"), said(401, "no")}, class: llm.Auth, tries: 2},
		{name: "error status with an endless body", script: []step{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1024)); err != nil {
					return
				}
			}
		}}, set: func(o *Options) { o.Retry.Tries = 1 }, class: llm.Overloaded, tries: 1},
		{name: "error status with a body that stalls", script: []step{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}}, set: once, class: llm.Timeout, tries: 1},
		{name: "redirect to another host", script: []step{status(307, "", "Location", "http://evil.invalid/talk")}, class: llm.Garbage, tries: 1, says: []string{"evil.invalid", "--base-url"}},
		{name: "redirect that would drop the body", script: []step{status(302, "", "Location", "/other")}, class: llm.Garbage, tries: 1, says: []string{"redirects"}},
		{name: "redirect without a place", script: []step{status(308, "")}, class: llm.Garbage, tries: 1},
		{name: "redirect on the same server", script: []step{status(307, "", "Location", "/there"), hi()}, tries: 2, text: "hi"},
		{name: "redirect in a circle", script: []step{status(307, "", "Location", "/talk")}, class: llm.Garbage, tries: 4},
		{name: "204", script: []step{status(204, "")}, class: llm.Truncated, tries: 4, says: []string{"nothing"}},
		{name: "200 with nothing", script: []step{status(200, "")}, class: llm.Truncated, tries: 4, says: []string{"nothing"}},
		{name: "200 with nothing, then well", script: []step{status(200, ""), hi()}, tries: 2, text: "hi"},
		{name: "200 with blank lines", script: []step{body("text/event-stream", "\n\n\n\n")}, class: llm.Truncated, tries: 4, says: []string{"nothing"}},
		{name: "200 with a page", script: []step{body("text/html", page)}, class: llm.Garbage, tries: 1, says: []string{"web page", "Sign in", "named by --base-url"}},
		{name: "200 with a page after blanks", script: []step{body("text/html", "\ufeff \r\n"+page)}, class: llm.Garbage, tries: 1, says: []string{"web page"}},
		{name: "200 with plain words", script: []step{body("text/plain", "It works!")}, class: llm.Garbage, tries: 1, says: []string{"It works!", "--dialect"}},
		{name: "200 with a picture", script: []step{body("image/png", "\x89PNG\r\n\x1a\n\x00\x00")}, class: llm.Garbage, tries: 1},
		{name: "200 with compressed bytes that nobody asked for", script: []step{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")
		}}, class: llm.Garbage, tries: 1},
		{name: "right bytes with the wrong type", script: []step{body("text/html", "data: T hi\n\ndata: END\n\n")}, tries: 1, text: "hi"},
		{name: "comments only", script: []step{body("text/event-stream", ": a\n\n: b\n\n")}, class: llm.Truncated, tries: 4},
		{name: "error inside 200 at once, then well", script: []step{lines("E overloaded busy"), hi()}, tries: 2, text: "hi"},
		{name: "error inside 200 for ever", script: []step{lines("E overloaded busy")}, class: llm.Overloaded, tries: 4, says: []string{"busy"}},
		{name: "error inside 200 that stays", script: []step{lines("E bad_request broken")}, class: llm.BadRequest, tries: 1, says: []string{"broken"}},
		{name: "error inside 200 with the key", script: []step{lines("E bad_request echo " + testKey)}, class: llm.BadRequest, tries: 1},
		{name: "error inside 200 after usage only", script: []step{lines("U 1", "E overloaded busy"), hi()}, tries: 2, text: "hi"},
		{name: "error inside 200 after text", script: []step{lines("T half", "E overloaded busy"), hi()}, class: llm.Overloaded, tries: 1, text: "half", partial: true},
		{name: "error after the end signal", script: []step{lines("T all", "END", "E overloaded late")}, class: llm.Overloaded, tries: 1, text: "all", partial: true},
		{name: "connection closed without an answer", script: []step{raw("")}, class: llm.Unreachable, tries: 4, says: []string{"closed the connection"}},
		{name: "connection closed once, then well", script: []step{raw(""), hi()}, tries: 2, text: "hi"},
		{name: "connection reset", script: []step{reset}, class: llm.Unreachable, tries: 4},
		{name: "connection reset once, then well", script: []step{reset, hi()}, tries: 2, text: "hi"},
		{name: "something that is not HTTP", script: []step{raw("SSH-2.0-OpenSSH_9.6\r\n")}, set: once, class: llm.Unreachable, tries: 1},
		{name: "half a header", script: []step{raw("HTTP/1.1 200 OK\r\nContent-Ty")}, set: once, class: llm.Unreachable, tries: 1},
		{name: "cut before the first event", script: []step{cut()}, class: llm.Truncated, tries: 4},
		{name: "cut before the first event, then well", script: []step{cut(), hi()}, tries: 2, text: "hi"},
		{name: "cut after usage only, then well", script: []step{cut("U 1"), hi()}, tries: 2, text: "hi"},
		{name: "cut after text", script: []step{cut("T half"), hi()}, class: llm.Truncated, tries: 1, text: "half", partial: true, says: []string{"kept"}},
		{name: "cut after a call", script: []step{cut("T half", "C i bash {}"), hi()}, class: llm.Truncated, tries: 1, text: "half", partial: true},
		{name: "cut inside a line", script: []step{raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: T half\n\ndata: T wh")}, class: llm.Truncated, tries: 1, text: "half", partial: true},
		{name: "cut after the end signal", script: []step{cut("T whole", "END")}, tries: 1, text: "whole"},
		{name: "ended in good order without end signal", script: []step{lines("T half")}, class: llm.Truncated, tries: 1, text: "half", partial: true},
		{name: "broken chunks", script: []step{raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}, class: llm.Truncated, tries: 4},
		{name: "never answers", script: []step{mute}, set: once, class: llm.Timeout, tries: 1, says: []string{"no event within"}},
		{name: "never answers, then well", script: []step{mute, hi()}, set: short, tries: 2, text: "hi"},
		{name: "headers and then nothing", script: []step{hang()}, set: once, class: llm.Timeout, tries: 1},
		{name: "silent after text", script: []step{hang("T half"), hi()}, set: short, class: llm.Timeout, tries: 1, text: "half", partial: true, says: []string{"silent"}},
		{name: "comments do not count", script: []step{drip(": still here\n\n")}, set: once, class: llm.Timeout, tries: 1},
		{name: "pings do not count", script: []step{drip("event: ping\ndata: {\"type\": \"ping\"}\n\n", "T half")}, set: once, class: llm.Timeout, tries: 1, text: "half", partial: true},
		{name: "blank lines do not count", script: []step{drip("\n")}, set: once, class: llm.Timeout, tries: 1},
		{name: "bytes without an end do not count", script: []step{drip("x", "T half")}, set: once, class: llm.Timeout, tries: 1, text: "half", partial: true},
		{name: "events without a reply count, but not for ever", script: []step{drip("data: {}\n\n")}, set: once, class: llm.Timeout, tries: 1, says: []string{"nothing of a reply"}},
		{name: "does not close after its end signal", script: []step{hang("T hi", "END")}, set: short, tries: 1, text: "hi"},
		{name: "pings after its end signal", script: []step{drip(": x\n\n", "T hi", "END")}, set: short, tries: 1, text: "hi"},
		{name: "endless reply", script: []step{drip("data: T x\n\n")}, set: limited(200, 0), class: llm.Garbage, tries: 1, partial: true, text: "*", says: []string{"200 bytes"}},
		{name: "endless line", script: []step{drip(strings.Repeat("x", 4096))}, set: limited(64<<10, 0), class: llm.Garbage, tries: 1, says: []string{"longer than"}},
		{name: "too many calls", script: []step{lines(append(hundred, "END")...)}, set: limited(0, 100), class: llm.Garbage, tries: 1, partial: true, says: []string{"100 tool calls"}},
		{name: "as many calls as allowed", script: []step{lines(append(hundred, "END")...)}, set: limited(0, 101), tries: 1},
	}
}

// A script is a server that plays one fault.
type script struct {
	mu    sync.Mutex
	steps []step
	asked int
	keys  []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	next := s.steps[min(s.asked, len(s.steps)-1)]
	s.asked++
	s.keys = append(s.keys, r.Header.Get("Authorization"))
	s.mu.Unlock()
	next(w, r)
}

// outcome is all that a person or the agent could see of one Stream.
type outcome struct {
	text    string
	ends    int
	errs    []error
	notices []string
}

func (o outcome) everything() string {
	all := o.text + strings.Join(o.notices, "\n")
	for _, err := range o.errs {
		var e *llm.Error
		errors.As(err, &e)
		all += fmt.Sprintf("%v %+v %q %q %v\n", err, e, e.Message, e.Hint, e.Err)
	}
	return all
}

func (o *outcome) listen(set *Options) {
	set.Notice = func(text, hint string) { o.notices = append(o.notices, text+" "+hint) }
}

func (o *outcome) stream(ctx context.Context, c llm.Conn) {
	for d, err := range c.Stream(ctx, llm.Request{}) {
		if err != nil {
			o.errs = append(o.errs, err)
			continue
		}
		if d.Kind == llm.Text {
			o.text += d.Text
		}
		if d.Kind == llm.Done {
			o.ends++
		}
	}
}

func testOptions(url string) Options {
	return Options{
		Model: "fake/m1", BaseURL: url, Dialect: "fake", format: fakeFormat(),
		Keys: func(context.Context, string, []string) (string, string, error) {
			return testKey, "FAKE_API_KEY", nil
		},
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func TestEveryFaultEndsInSuccessOrOneClearError(t *testing.T) {
	defer goleak.VerifyNone(t)
	all := faults()
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) { f.play(t, httptest.NewServer) })
	}
	t.Logf("%d faults", len(all))
	if len(all) < 61 {
		t.Errorf("only %d faults", len(all))
	}
}

func (f fault) play(t *testing.T, serve func(http.Handler) *httptest.Server) {
	s := &script{steps: f.script}
	srv := serve(s)
	srv.Config.ErrorLog = quiet()
	defer srv.Close()
	o := testOptions(srv.URL)
	if srv.TLS != nil {
		o.Network.CA = []string{pemFile(t, srv.Certificate())}
	}
	if f.set != nil {
		f.set(&o)
	}
	var got outcome
	got.listen(&o)
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	got.stream(ctx, p.Open("s"))
	if ctx.Err() != nil {
		t.Error("it hung")
	}
	f.check(t, got)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.tries != 0 && s.asked != f.tries {
		t.Errorf("the server was asked %d times, want %d", s.asked, f.tries)
	}
	if i := slices.IndexFunc(s.keys, func(k string) bool { return k != "Bearer "+testKey }); i >= 0 {
		t.Errorf("request %d had no key", i+1)
	}
}

func (f fault) check(t *testing.T, got outcome) {
	t.Helper()
	if strings.Contains(got.everything(), testKey) {
		t.Errorf("the key is in the output:\n%s", got.everything())
	}
	if f.text != "*" && got.text != f.text {
		t.Errorf("text %q, want %q", got.text, f.text)
	}
	if f.class == "" {
		if len(got.errs) > 0 || got.ends != 1 {
			t.Fatalf("errors %v, %d end signals; want a whole reply", got.errs, got.ends)
		}
		return
	}
	if len(got.errs) != 1 || got.ends != 0 {
		t.Fatalf("errors %v, %d end signals; want one error", got.errs, got.ends)
	}
	var e *llm.Error
	if !errors.As(got.errs[0], &e) {
		t.Fatalf("%T is no *llm.Error", got.errs[0])
	}
	if e.Class != f.class || e.Partial != f.partial {
		t.Errorf("class %s partial %v (%v), want %s %v", e.Class, e.Partial, e, f.class, f.partial)
	}
	if e.Message == "" {
		t.Error("the error says nothing")
	}
	for _, s := range f.says {
		if !strings.Contains(e.Error()+"\n"+e.Hint, s) {
			t.Errorf("%q is missing in %q, hint %q", s, e.Error(), e.Hint)
		}
	}
}

func TestFaultsOverHTTP2(t *testing.T) {
	defer goleak.VerifyNone(t)
	h2 := func(h http.Handler) *httptest.Server {
		srv := httptest.NewUnstartedServer(h)
		srv.EnableHTTP2 = true
		srv.StartTLS()
		return srv
	}
	n := 0
	for _, f := range faults() {
		if strings.HasPrefix(f.name, "connection") || strings.Contains(f.name, "HTTP") || strings.Contains(f.name, "header") ||
			strings.Contains(f.name, "chunks") || strings.Contains(f.name, "inside a line") {
			continue // HTTP/2 cannot be hijacked
		}
		n++
		t.Run(f.name, func(t *testing.T) { f.play(t, h2) })
	}
	t.Logf("%d faults over HTTP/2", n)
}

func TestUnreachableNamesPlaceCauseAndSetting(t *testing.T) {
	defer goleak.VerifyNone(t)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet()
	defer secure.Close()
	forbidding := httptest.NewServer(&script{steps: []step{status(407, "")}})
	defer forbidding.Close()
	for _, c := range []struct{ name, url, says, proxy string }{
		{name: "refused", url: "http://" + unused(t) + "/v1", says: "connection refused"},
		{name: "no such host", url: "http://no-such-host.invalid/v1", says: "DNS"},
		{name: "TLS to a plain server", url: strings.Replace(plain.URL, "http:", "https:", 1), says: "plain HTTP"},
		{name: "unknown authority", url: secure.URL, says: "unknown authority"},
		{name: "no proxy there", url: "https://h.invalid/v1", says: "HTTPS_PROXY", proxy: "http://" + unused(t)},
		{name: "proxy wants a password", url: "https://h.invalid/v1", says: "Proxy Authentication Required", proxy: forbidding.URL},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got outcome
			o := testOptions(c.url)
			o.Network.Proxy = noProxy
			if c.proxy != "" {
				o.Network.Proxy = through(c.proxy)
			}
			got.listen(&o)
			p, err := open(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			got.stream(t.Context(), p.Open("s"))
			fault{class: llm.Unreachable, says: []string{c.says, p.at.hostPort(), "--base-url"}}.check(t, got)
		})
	}
}

func TestAServerThatNeverAcceptsIsGivenUpWithinOneConnectDeadline(t *testing.T) {
	defer goleak.VerifyNone(t)
	o := testOptions("https://stuck.invalid/v1")
	dials := 0
	o.Deadlines.Connect = 100 * time.Millisecond
	o.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		dials++
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	var got outcome
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	got.stream(t.Context(), p.Open("s"))
	fault{class: llm.Unreachable, says: []string{"timeout", "stuck.invalid:443"}}.check(t, got)
	if dials != 1 {
		t.Errorf("%d dials, want 1", dials)
	}
}

func TestAHandshakeThatStallsIsGivenUp(t *testing.T) {
	defer goleak.VerifyNone(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := testOptions("https://" + l.Addr().String())
	o.Deadlines.Connect = 100 * time.Millisecond
	var got outcome
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got.stream(t.Context(), p.Open("s"))
	fault{class: llm.Unreachable, says: []string{"timeout", l.Addr().String()}}.check(t, got)
}

func TestStoppingEndsEveryWait(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, c := range []struct {
		name    string
		script  []step
		set     func(*Options)
		text    string
		partial bool
	}{
		{name: "before the answer", script: []step{mute}},
		{name: "before the first event", script: []step{hang()}},
		{name: "in the middle", script: []step{hang("T half")}, text: "half", partial: true},
		{name: "while pings come", script: []step{drip(": x\n\n")}},
		{name: "while waiting to try again", script: []step{said(429, "x", "Retry-After", "50")}, set: func(o *Options) { o.Sleep = sleep }},
		{name: "while an error comes in", script: []step{func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}}},
		{name: "while the key is looked for", script: []step{hi()}, set: func(o *Options) {
			o.Keys = func(ctx context.Context, _ string, _ []string) (string, string, error) {
				<-ctx.Done()
				return "", "", ctx.Err()
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(&script{steps: c.script})
			defer srv.Close()
			o := testOptions(srv.URL)
			if c.set != nil {
				c.set(&o)
			}
			var got outcome
			got.listen(&o)
			p, err := open(o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, stop)
			got.stream(ctx, p.Open("s"))
			fault{class: llm.Cancelled, text: c.text, partial: c.partial}.check(t, got)
		})
	}
}

func TestNothingIsSentToWhereARedirectPoints(t *testing.T) {
	defer goleak.VerifyNone(t)
	thief := &script{steps: []step{hi()}}
	elsewhere := httptest.NewServer(thief)
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(&script{steps: []step{status(code, "", "Location", elsewhere.URL+"/talk")}})
		defer srv.Close()
		p, err := open(testOptions(srv.URL))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var got outcome
		got.stream(t.Context(), p.Open("s"))
		fault{class: llm.Garbage, says: []string{elsewhere.URL}}.check(t, got)
	}
	if thief.asked != 0 {
		t.Errorf("%d requests went elsewhere", thief.asked)
	}
}

func TestAReaderMayGoAwayAtAnyDelta(t *testing.T) {
	defer goleak.VerifyNone(t)
	srv := httptest.NewServer(&script{steps: []step{drip("data: T x\n\n")}})
	defer srv.Close()
	p, err := open(testOptions(srv.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range p.Open("s").Stream(t.Context(), llm.Request{}) {
		break
	}
}

func TestALaterTurnIsAsPatientAsTheFirst(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := &script{steps: []step{hi(), said(529, "busy", "Retry-After", "30"), hi(), reset, hi()}}
	srv := httptest.NewServer(s)
	defer srv.Close()
	o := testOptions(srv.URL)
	var waits []time.Duration
	o.Sleep = func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := p.Open("s")
	for range 3 {
		var got outcome
		got.stream(t.Context(), c)
		fault{text: "hi"}.check(t, got)
	}
	if s.asked != 5 || len(waits) != 2 || waits[0] != 30*time.Second || waits[1] > time.Second {
		t.Errorf("asked %d times, waited %v", s.asked, waits)
	}
}

func TestPausesGrowAndStayWithinBounds(t *testing.T) {
	r := Retry{}.filled()
	for try := 1; try < 70; try++ {
		most := min(r.Base<<min(try-1, 16), r.Most)
		if d := r.pause(try, 0); d < most/2 || d > most {
			t.Errorf("try %d: %s, want between %s and %s", try, d, most/2, most)
		}
	}
	if d := r.pause(1, 40*time.Second); d != 40*time.Second {
		t.Errorf("%s, though 40s were asked for", d)
	}
}

func TestTryingEndsWithTheTotal(t *testing.T) {
	srv := httptest.NewServer(&script{steps: []step{said(503, "x", "Retry-After", "25")}})
	defer srv.Close()
	o := testOptions(srv.URL)
	now := time.Now()
	o.Now = func() time.Time { return now }
	o.Sleep = func(_ context.Context, d time.Duration) error {
		now = now.Add(d)
		return nil
	}
	o.Retry.Tries = 99
	var got outcome
	got.listen(&o)
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got.stream(t.Context(), p.Open("s"))
	fault{class: llm.Overloaded, says: []string{"25s"}}.check(t, got)
	if len(got.notices) != 2 {
		t.Errorf("%d retries in a minute of 25 s pauses: %q", len(got.notices), got.notices)
	}
}

func TestGoAwayIsNotSeen(t *testing.T) {
	defer goleak.VerifyNone(t)
	places := map[string]bool{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("spoke %s", r.Proto)
		}
		places[r.RemoteAddr] = true
		hi()(w, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	srv.Config.SetKeepAlivesEnabled(false) // GOAWAY with every answer
	o := testOptions(srv.URL)
	o.Network.CA = []string{pemFile(t, srv.Certificate())}
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := p.Open("s")
	for range 3 {
		var got outcome
		got.listen(&o)
		got.stream(t.Context(), c)
		fault{text: "hi"}.check(t, got)
	}
	if len(places) != 3 {
		t.Errorf("%d connections: there was no GOAWAY", len(places))
	}
}

func TestSessionsShareAProviderSafely(t *testing.T) {
	defer goleak.VerifyNone(t)
	steps := []step{said(529, "busy"), said(401, "no"), reset, cut("T half")}
	srv := httptest.NewServer(&script{steps: append(slices.Repeat(steps, 5), hi())})
	srv.Config.ErrorLog = quiet()
	defer srv.Close()
	p, err := open(testOptions(srv.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			c := p.Open("s")
			for range 4 {
				var got outcome
				got.stream(t.Context(), c)
				if len(got.errs)+got.ends != 1 {
					t.Errorf("%d errors and %d end signals", len(got.errs), got.ends)
				}
			}
		})
	}
	all.Wait()
}

func TestTheCustomAuthorityIsTrusted(t *testing.T) {
	defer goleak.VerifyNone(t)
	srv := httptest.NewTLSServer(&script{steps: []step{hi()}})
	defer srv.Close()
	o := testOptions(srv.URL)
	o.Network.CA = []string{pemFile(t, srv.Certificate())}
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got outcome
	got.stream(t.Context(), p.Open("s"))
	fault{text: "hi"}.check(t, got)
}

func TestTheProxyIsUsed(t *testing.T) {
	defer goleak.VerifyNone(t)
	proxy := httptest.NewServer(&script{steps: []step{hi()}})
	defer proxy.Close()
	o := testOptions("http://somewhere.invalid/v1")
	o.Network.Proxy = through(proxy.URL)
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got outcome
	got.listen(&o)
	got.stream(t.Context(), p.Open("s"))
	fault{text: "hi"}.check(t, got)
}
