package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// An attempt is one way to the provider and back: it may run several times,
// until the first event has come.
type attempt struct {
	c         *conn
	secret    secret
	body      dialect.Body
	out       *sink
	connectBy time.Time   // while no connection has ever stood
	reached   atomic.Bool // one has, or an answer came; told by the transport's goroutines too
}

// run posts the body and reads the reply. Whatever ends it, nothing is left
// behind: ending the context frees the connection.
func (a *attempt) run(ctx context.Context) *llm.Error {
	a.out.again()
	client, err := a.c.p.dial()
	if err != nil {
		return asFault(err)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	d := a.c.p.o.Deadlines
	connect := d.Connect
	if !a.reached.Load() {
		connect = time.Until(a.connectBy)
	}
	w := newWatch(end, connect, errConnect)
	defer w.stop()
	req := a.request(httptrace.WithClientTrace(ctx, a.trace(w)))
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			client.CloseIdleConnections() // also ends the dial that the transport would go on with
		}
		return a.lost(ctx, err)
	}
	defer resp.Body.Close()
	a.reached.Store(true)
	if resp.StatusCode/100 != 2 {
		return a.refusal(ctx, resp)
	}
	return a.read(ctx, w, resp.Body)
}

// trace starts the next clock when the connection stands, and again when the
// request is written: a long conversation takes its time on a slow line.
func (a *attempt) trace(w *watch) *httptrace.ClientTrace {
	first := func() { w.await(a.c.p.o.Deadlines.FirstEvent, errFirst) }
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if !info.Reused { // an old one may be dead
				a.reached.Store(true)
			}
			first()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { first() },
	}
}

func (a *attempt) request(ctx context.Context) *http.Request {
	p := a.c.p
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream, application/x-ndjson, application/json"},
		"User-Agent":   {"ikigai"},
	}
	p.format.Header(a.secret.key, h)
	if p.row.KeyHeader != "" && a.secret.key != "" {
		h.Del("Authorization")
		h.Set(p.row.KeyHeader, a.secret.key)
	}
	req := &http.Request{
		Method: http.MethodPost, URL: p.url, Header: h,
		Body: a.body.Reader(), ContentLength: a.body.Len(),
		GetBody: func() (io.ReadCloser, error) { return a.body.Reader(), nil },
	}
	return req.WithContext(ctx)
}

// lost says why no response came.
func (a *attempt) lost(ctx context.Context, err error) *llm.Error {
	why := context.Cause(ctx)
	switch {
	case why == errFirst:
		return a.c.p.overdue(why, a.c.p.o.Deadlines)
	case why == errConnect:
		err = why
	}
	return a.c.p.unreachable(err)
}

// refusal reads a response whose status is an error.
func (a *attempt) refusal(ctx context.Context, resp *http.Response) *llm.Error {
	if resp.StatusCode/100 == 3 {
		return a.redirect(resp)
	}
	p := a.c.p
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil && len(body) == 0 && ctx.Err() != nil {
		return a.lost(ctx, err)
	}
	e := p.format.Decoder().Fault(resp.StatusCode, resp.Header, body)
	if isPage(body) {
		e.Message = fmt.Sprintf("%s answered with a web page: %s", p.at.hostPort(), dialect.Excerpt(body))
		e.Hint = fmt.Sprintf("a proxy or firewall may stand between; check the address %s (%s)", p.url.Redacted(), p.at.origin())
		return e
	}
	return p.advise(e, a.secret)
}

func (a *attempt) redirect(resp *http.Response) *llm.Error {
	to := "elsewhere"
	if u, err := resp.Location(); err == nil {
		to = "to " + u.Scheme + "://" + u.Host + u.EscapedPath()
	}
	return &llm.Error{
		Class: llm.Garbage, Status: resp.StatusCode,
		Message: fmt.Sprintf("%s redirects %s, where neither key nor conversation is sent unasked", a.c.p.at.hostPort(), to),
		Hint:    "if that is right, name the new address with --base-url",
	}
}

// read feeds the reply to a decoder until it ends, by itself or by force.
func (a *attempt) read(ctx context.Context, w *watch, body io.Reader) *llm.Error {
	in := &intake{a: a, w: w, dec: a.c.p.format.Decoder(), emit: a.body.Back(a.out.take), quiet: time.Now()}
	if a.c.buf == nil {
		a.c.buf = make([]byte, 32<<10)
	}
	for {
		n, err := body.Read(a.c.buf)
		if fault := in.take(a.c.buf[:n]); fault != nil {
			return fault
		}
		switch {
		case a.out.left:
			return nil
		case err != nil:
			return in.close(ctx, err)
		}
	}
}

// An intake is the reply while it comes in.
type intake struct {
	a     *attempt
	w     *watch
	dec   dialect.Decoder
	emit  func(llm.Delta)
	pulse pulse
	quiet time.Time // since when nothing of the reply came
	over  bool      // the end signal came: no event puts off the end any more
	size  int64
	head  []byte // how the body begins, for errors
}

// take handles the next bytes.
func (in *intake) take(b []byte) *llm.Error {
	if len(b) == 0 {
		return nil
	}
	p, out := in.a.c.p, in.a.out
	if p.o.tap != nil {
		p.o.tap(b)
	}
	in.size += int64(len(b))
	if in.size > p.o.Limits.Bytes {
		return garbage(fmt.Sprintf("the reply is longer than %d bytes and was cut off", p.o.Limits.Bytes), "try again; the limit is a setting")
	}
	if len(in.head) < 512 {
		in.head = append(in.head, b[:min(len(b), 512-len(in.head))]...)
		if isPage(in.head) {
			return in.page()
		}
	}
	before := out.seen
	if err := in.dec.Feed(b, in.emit); err != nil {
		return in.said(err)
	}
	if out.fault != nil {
		return out.fault
	}
	in.clock(in.pulse.beat(b), out.seen > before)
	return nil
}

// clock says when the next event is due. Events that carry nothing of the reply
// put it off too, but not for ever.
func (in *intake) clock(event, something bool) {
	d := in.a.c.p.o.Deadlines
	now := time.Now()
	if something {
		in.quiet = now
	}
	switch left := d.Silent - now.Sub(in.quiet); {
	case in.over, !event && !something:
	case in.a.out.done:
		in.over = true
		in.w.expect(d.Linger, errLinger)
	case left < d.Idle:
		in.w.expect(left, errSilent)
	default:
		in.w.expect(d.Idle, errIdle)
	}
}

// close handles the end of the bytes. An end signal that has come makes the
// reply whole, however the connection ended.
func (in *intake) close(ctx context.Context, end error) *llm.Error {
	out := in.a.out
	err := in.dec.Close(in.emit)
	switch why := context.Cause(ctx); {
	case out.fault != nil:
		return out.fault
	case out.done && (err == nil || why == errLinger):
		out.finish()
		return nil
	case why == errFirst || why == errIdle || why == errSilent:
		return in.a.c.p.overdue(why, in.a.c.p.o.Deadlines)
	}
	if !errors.Is(end, io.EOF) {
		return in.broken(end)
	}
	return in.ended(err)
}

func (in *intake) broken(end error) *llm.Error {
	when := "before the reply began"
	if in.a.out.content {
		when = "in the middle of the reply"
	}
	return in.truncated(fmt.Sprintf("the connection to %s broke %s: %s", in.a.c.p.at.hostPort(), when, causeOf(end).text), inner(end))
}

// ended says what is wrong with a body that ended in good order but is no reply.
func (in *intake) ended(err error) *llm.Error {
	p, head := in.a.c.p, bytes.TrimSpace(in.head)
	var e *llm.Error
	switch {
	case len(head) == 0:
		return in.truncated(p.at.hostPort()+" answered with nothing", err)
	case !in.a.out.content && !framed(head):
		return garbage(fmt.Sprintf("%s answered with something that is not the %s format: %s", p.at.hostPort(), p.format.Name, dialect.Excerpt(head)), in.where())
	case err == nil, errors.As(err, &e) && e.Class == llm.Truncated:
		return in.truncated("the reply ended before its end signal", err)
	}
	return in.said(err)
}

func (in *intake) truncated(message string, err error) *llm.Error {
	hint := "try again"
	if in.a.out.content {
		hint = "what had arrived is kept, and none of its calls were run; try again"
	}
	return &llm.Error{Class: llm.Truncated, Message: message, Hint: hint, Err: err}
}

// said is an error that the decoder found in the bytes.
func (in *intake) said(err error) *llm.Error {
	return in.a.c.p.advise(asFault(err), in.a.secret)
}

func (in *intake) page() *llm.Error {
	return garbage(fmt.Sprintf("%s answered with a web page (%s) instead of a reply", in.a.c.p.at.hostPort(), dialect.Excerpt(in.head)), in.where())
}

func (in *intake) where() string {
	p := in.a.c.p
	return fmt.Sprintf("check the address %s (%s) and the wire format %s (--dialect); a proxy or login page may stand between", p.url.Redacted(), p.at.origin(), p.format.Name)
}

func asFault(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		copied := *e
		return &copied
	}
	return &llm.Error{Class: llm.Garbage, Message: err.Error(), Err: err}
}

// isPage reports whether a body is HTML or XML: no format of ours begins so.
func isPage(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n"), []byte("<"))
}

// framed reports whether a body begins like server-sent events or JSON.
func framed(head []byte) bool {
	if bytes.ContainsAny(head[:1], "{[:") {
		return true
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(head, []byte(field)) {
			return true
		}
	}
	return false
}
