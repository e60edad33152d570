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
	// that another living process has open is refused with *Busy.
	Begin(ctx context.Context, s Session) error

	// End lets the session go, so that another process may open it.
	End(ctx context.Context, session string) error

	// Session finds one by its id or a unique prefix of it. An unknown one is
	// *NoSession.
	Session(ctx context.Context, id string) (Session, error)

	// Sessions lists them, the newest first.
	Sessions(ctx context.Context, f Filter) iter.Seq2[Session, error]

	// Update changes title, branch and model.
	Update(ctx context.Context, s Session) error

	// Remove deletes a session and its events.
	Remove(ctx context.Context, session string) error

	// Append keeps an event. It hands it to the one writer and does not wait for
	// the disk. What could not be written stays queued, in order, and is tried
	// again with the next Append or Sync; the error says what is wrong until then.
	Append(ctx context.Context, session string, e convo.Event) error

	// Sync returns when everything before it is durable, or with the reason why not.
	Sync(ctx context.Context) error

	// Events gives the stored events with a Seq above after, in order.
	Events(ctx context.Context, session string, after int64) iter.Seq2[convo.Event, error]

	// Head is the hash of the session's last event; each covers the one before it.
	Head(ctx context.Context, session string) (string, error)

	// Close writes what is queued, ends the sessions of this process and frees the store.
	Close() error
}

// A Filter picks sessions; the zero Filter picks all.
type Filter struct {
	Dir   string // only those begun in this folder
	Limit int
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
