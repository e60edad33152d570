package provider

import (
	"math/rand/v2"
	"net/http"
	"time"

	"ikigai/internal/llm"
)

// Retry says how patient to be before the first event of a reply. Afterwards
// nothing is repeated: the person saw the beginning and decides.
type Retry struct {
	Tries int           // in all; 4
	Total time.Duration // from the first try to the start of the last; 60 s
	Base  time.Duration // the first pause, doubled each time; 500 ms
	Most  time.Duration // the longest pause of our own choice; 15 s
}

func (r Retry) filled() Retry {
	if r.Tries == 0 {
		r.Tries = 4
	}
	if r.Total == 0 {
		r.Total = time.Minute
	}
	if r.Base == 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Most == 0 {
		r.Most = 15 * time.Second
	}
	return r
}

// pause is how long to wait after the given try. What the provider asks for
// counts; our own choice is spread, so that many clients do not come back together.
func (r Retry) pause(try int, asked time.Duration) time.Duration {
	own := min(r.Base<<min(try-1, 16), r.Most)
	own = own/2 + rand.N(own/2+1)
	return max(own, asked)
}

// worthwhile reports whether the same request may succeed later.
func worthwhile(e *llm.Error) bool {
	switch {
	case e.Partial || settled(e.Err):
		return false
	case e.Class == llm.Quota || e.Class == llm.TooLong || e.Class == llm.Blocked:
		return false
	case e.Status == http.StatusRequestTimeout || e.Status == http.StatusConflict || e.Status == http.StatusTooManyRequests:
		return true
	case e.Status >= 500:
		return true
	case e.Status >= 300:
		return false
	}
	return e.Retryable()
}
