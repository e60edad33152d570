package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"ikigai/internal/dialect"
	"ikigai/internal/llm"
)

// A conn talks for one session. Its encoder keeps what was already encoded.
type conn struct {
	p     *Provider
	enc   dialect.Encoder
	info  Info
	reply int    // the limit to name where the format wants one and the request has none; zero: the format's own
	buf   []byte // for reading; one stream at a time uses it
}

// Stream asks for one reply. The request's model is the one the provider was
// opened with, whatever the request says.
func (c *conn) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		out := newSink(c, r, yield)
		if err := c.ask(ctx, r, out); err != nil {
			out.fail(err)
		}
	}
}

// ask encodes once and tries until a reply came or trying is of no use. The
// error is an *llm.Error; a nil one of that type must not leave here.
func (c *conn) ask(ctx context.Context, r llm.Request, out *sink) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	s, err := c.p.key(ctx)
	if err != nil {
		return asError(ctx, err)
	}
	r.Model = c.p.model
	if r.MaxReply == 0 {
		r.MaxReply = c.reply
	}
	body, err := c.enc.Encode(r)
	if err != nil {
		return s.clean(encodeError(err))
	}
	for _, n := range body.Notices {
		c.p.o.Notice(n, "")
	}
	if e := c.persist(ctx, &attempt{c: c, secret: s, body: body, out: out}); e != nil {
		return s.clean(e)
	}
	return nil
}

// persist repeats the attempt while that may help and there is time.
func (c *conn) persist(ctx context.Context, a *attempt) *llm.Error {
	o := c.p.o
	start := o.Now()
	a.connectBy = time.Now().Add(o.Deadlines.Connect)
	for try := 1; ; try++ {
		err := a.run(ctx)
		if err == nil || a.out.left {
			return nil
		}
		err.Partial = a.out.content
		if ctx.Err() != nil {
			e := cancelled(ctx)
			e.Partial = a.out.content
			return e
		}
		if err.Class == llm.Auth {
			c.p.forget()
		}
		wait := o.Retry.pause(try, err.RetryAfter)
		if try >= o.Retry.Tries || !a.again(err, wait) || wait > o.Retry.Total-o.Now().Sub(start) {
			return err
		}
		o.Notice(fmt.Sprintf("%s; trying again in %s (%d of %d)", a.secret.scrub(err.Error()), wait.Round(100*time.Millisecond), try+1, o.Retry.Tries), "")
		if o.Sleep(ctx, wait) != nil {
			return cancelled(ctx)
		}
	}
}

// again reports whether another attempt after the pause makes sense. Where no
// connection ever stood, all attempts together have the time of one.
func (a *attempt) again(err *llm.Error, wait time.Duration) bool {
	if !worthwhile(err) {
		return false
	}
	if a.reached.Load() {
		return true
	}
	nobody := a.c.p.local() && isAny(refused)(err.Err)
	return !nobody && time.Until(a.connectBy) > wait
}

// asError makes an *llm.Error of whatever a lookup returned.
func asError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cancelled(ctx)
	}
	return err
}

func encodeError(err error) *llm.Error {
	var e *llm.Error
	if errors.As(err, &e) {
		return e
	}
	return &llm.Error{Class: llm.BadRequest, Message: "encoding the request: " + err.Error(), Err: err}
}
