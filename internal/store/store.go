// Package store says what keeping a session means. The stores themselves are
// one folder each below this one, and every one of them passes storetest.
package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"ikigai/internal/convo"
)

// A Session is what is known of a conversation besides its events.
type Session struct {
	ID        string    `json:"id"` // uuid v7: ids sort by birth
	Title     string    `json:"title"`
	Dir       string    `json:"dir"` // the folder it was begun in, a real path
	Branch    string    `json:"branch,omitempty"`
	Model     string    `json:"model,omitempty"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Parent    string    `json:"parent,omitempty"`     // the session it was forked from
	ParentSeq int64     `json:"parent_seq,omitempty"` // and the last event it shares with it
	Events    int64     `json:"events"`
	Calls     int64     `json:"tool_calls"`
	LastWords string    `json:"last_words,omitempty"` // the last text of the person or the model, shortened
}

// A Store keeps sessions and their durable events. It is safe for several
// goroutines, several processes and, where the store is shared, several machines.
type Store interface {
	// Begin makes a session, or opens one that exists for appending. A session
	// that is open already, here or in another living process, is refused with
	// *Busy. With *Unsaved it has begun, but in memory only until space returns.
	Begin(ctx context.Context, s Session) error

	// End lets the session go, so that another process may open it.
	End(ctx context.Context, session string) error

	// Session finds one by its id or a unique prefix of it. An unknown one is
	// *NoSession.
	Session(ctx context.Context, id string) (Session, error)

	// Sessions lists them, the last used first.
	Sessions(ctx context.Context, f Filter) iter.Seq2[Session, error]

	// Update changes title, branch and model.
	Update(ctx context.Context, s Session) error

	// Remove deletes a session and its events; one that is open elsewhere is *Busy.
	Remove(ctx context.Context, session string) error

	// Append keeps an event of a session that was begun here. Its Seq must be the
	// next one: the first is 1. It hands the event to the one writer and does not
	// wait for the disk. What could not be written stays queued, in order, and is
	// tried again with the next Append, Flush or Sync; until then the error is
	// *Unsaved and the event is in good hands. With any other error it was refused.
	Append(ctx context.Context, session string, e convo.Event) error

	// Flush returns when everything appended before it outlives this process
	// (kill -9), or with *Unsaved. Whoever shows an event as kept calls it first.
	Flush(ctx context.Context) error

	// Sync returns when everything appended before it outlives a loss of power,
	// or with *Unsaved.
	Sync(ctx context.Context) error

	// Events gives the stored events with a Seq above after, in order. A body
	// that cannot be read is a convo.Unknown.
	Events(ctx context.Context, session string, after int64) iter.Seq2[convo.Event, error]

	// Rows gives the same events as they are stored, for Verify and Fork.
	Rows(ctx context.Context, session string, after int64) iter.Seq2[Row, error]

	// Head is the hash of the session's last event; each covers the one before
	// it. It is kept beside the events, so that a cut at the end shows.
	Head(ctx context.Context, session string) (string, error)

	// Close writes what is queued, ends the sessions of this process and frees the store.
	Close() error
}

// A Filter picks sessions; the zero Filter picks all.
type Filter struct {
	Dir   string // only those begun in this folder
	Limit int
}

// A Searcher finds words in the events of all sessions.
type Searcher interface {
	// Search gives the events whose text holds every one of the words, whatever
	// their case, the last used session first and its newest event first; at most
	// limit of them, all when limit is 0.
	Search(ctx context.Context, words string, limit int) iter.Seq2[Hit, error]
}

// A Hit is one event that Search found.
type Hit struct {
	Session string     `json:"session"`
	Title   string     `json:"title"`
	Seq     int64      `json:"seq"`
	At      time.Time  `json:"at"`
	Kind    convo.Kind `json:"kind"`
	Excerpt string     `json:"excerpt"` // one line around the first word
}

// Unsaved says that events are in memory only, and why. They are tried again
// with the next Append, Flush or Sync. What can never be kept is told once: an
// event whose data is no JSON (kept without it), or *Lost.
type Unsaved struct {
	Events int
	Err    error
}

func (u *Unsaved) Error() string {
	if u.Events == 0 {
		return fmt.Sprintf("the session is not saved to disk: %v", u.Err)
	}
	return fmt.Sprintf("%d events are not saved to disk: %v", u.Events, u.Err)
}

func (u *Unsaved) Unwrap() error { return u.Err }

// Lost says that events cannot be kept in their session, because another process
// went on with it while this one was cut off from the store.
type Lost struct {
	Session string
	Events  int
}

func (l *Lost) Error() string {
	return fmt.Sprintf("%d events of session %s are not kept: another process went on with it", l.Events, l.Session)
}

// Busy says that another process has the session open.
type Busy struct {
	Session string
	PID     int
	Host    string
}

func (b *Busy) Error() string {
	return fmt.Sprintf("session %s is open in another ikigai (pid %d)", b.Session, b.PID)
}

// NoSession says that no session has that id.
type NoSession struct {
	ID      string
	Several []string // the ids that begin so, when there are several
}

func (n *NoSession) Error() string {
	if len(n.Several) > 0 {
		return fmt.Sprintf("%d sessions begin with %s", len(n.Several), n.ID)
	}
	return fmt.Sprintf("no session %s", n.ID)
}

// Unusable says that a store cannot be opened and was left as it is: it is
// newer than this program, or damaged.
type Unusable struct {
	Where string
	Why   string
	Hint  string // the next step
}

func (u *Unusable) Error() string { return fmt.Sprintf("opening the store %s: %s", u.Where, u.Why) }
