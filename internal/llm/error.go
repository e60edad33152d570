package llm

import (
	"fmt"
	"time"
)

// Class is what kind of fault a provider or the way to it had. It decides
// whether to try again and which exit code a headless run has.
type Class string

const (
	Auth        Class = "auth"         // 401, 403: the key was refused
	NotFound    Class = "not_found"    // 404: no such model or address
	BadRequest  Class = "bad_request"  // 400, 413, 422: we sent what they do not take
	TooLong     Class = "too_long"     // the conversation does not fit the model's window
	RateLimited Class = "rate_limited" // 429
	Quota       Class = "quota"        // 429 or 402 that waiting does not mend
	Overloaded  Class = "overloaded"   // 5xx, 529
	Unreachable Class = "unreachable"  // no connection
	Timeout     Class = "timeout"      // connected, but silent for too long
	Truncated   Class = "truncated"    // the stream was cut
	Garbage     Class = "garbage"      // what came is not the provider's format
	Blocked     Class = "blocked"      // the provider's filter refused prompt or reply
	Config      Class = "config"       // no key, no such provider: nothing was sent
	Cancelled   Class = "cancelled"    // we ended it
)

// An Error is a fault of a provider, in words for a person.
type Error struct {
	Class      Class
	Message    string // what the provider said, or what was seen
	Hint       string // the next step
	Status     int    // HTTP status, when there was one
	Code, Type string // the provider's own words
	RetryAfter time.Duration
	Partial    bool // something of the reply had arrived
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s (HTTP %d)", e.Message, e.Status)
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later. What was cut in
// the middle is not repeated by itself: the person sees it and decides.
func (e *Error) Retryable() bool {
	switch e.Class {
	case RateLimited, Overloaded, Unreachable, Timeout:
		return !e.Partial
	case Truncated:
		return !e.Partial
	}
	return false
}
