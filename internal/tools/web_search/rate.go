package web_search

import (
	"context"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// One search a second, three at once.
const (
	perSecond = 1.0
	burst     = 3.0
	patience  = 10 * time.Second // a longer queue is refused
)

// A bucket is how many searches are free. It is kept with the session, so that
// it holds by both roads.
type bucket struct {
	Free float64   `json:"free"`
	At   time.Time `json:"at"`
}

// take takes one search out and says how long to wait before it is made.
func (b *bucket) take(now time.Time) (time.Duration, bool) {
	free := burst
	if past := now.Sub(b.At); !b.At.IsZero() && past >= 0 {
		free = min(burst, b.Free+past.Seconds()*perSecond)
	}
	free--
	wait := time.Duration(max(0, -free) / perSecond * float64(time.Second))
	if wait > patience {
		return 0, false
	}
	b.Free, b.At = free, now
	return wait, true
}

func (s *searcher) wait(ctx context.Context, at tool.Place) error {
	if at.Dir == "" {
		return nil // a single call, of nobody's session
	}
	var wait time.Duration
	err := toolkit.Remember(at, "web_search", func(b *bucket) error {
		var ok bool
		if wait, ok = b.take(s.Now()); !ok {
			return tool.Errorf("RATE_LIMITED", "too many searches are waiting: one a second is made, three at once")
		}
		return nil
	})
	if err != nil || wait == 0 {
		return err
	}
	return s.Sleep(ctx, wait)
}
