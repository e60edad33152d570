package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
)

// A Hash names an event and everything before it in its session.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Genesis is what the first event of a session links to: SHA-256 of its id.
func Genesis(session string) Hash { return sha256.Sum256([]byte(session)) }

// Link is the hash of a row that follows prev: SHA-256 of prev and Row.Encode.
func Link(prev Hash, r Row) Hash {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(r.Encode())
	return Hash(h.Sum(nil))
}

// After is the row linked behind prev.
func (r Row) After(prev Hash) Row {
	r.Prev, r.Hash = prev, Link(prev, r)
	return r
}

// Broken names the first event at which a session is not what was written.
type Broken struct {
	Session string
	Seq     int64
	Fault   Fault
}

func (b *Broken) Error() string {
	return fmt.Sprintf("event %d of session %s was %s", b.Seq, b.Session, b.Fault)
}

// A Fault is what was done to an event.
type Fault string

// The faults.
const (
	Altered   Fault = "altered"
	Missing   Fault = "removed"
	Inserted  Fault = "inserted"
	Reordered Fault = "moved"
)

// Verify walks a whole session and returns *Broken at the first event that is
// altered, removed, inserted or moved. The last hash must be head, the store's
// own record; each of seen, which a person wrote down earlier, must be the hash
// of some event: whoever rewrites all of a session cannot know those.
func Verify(session, head string, rows iter.Seq2[Row, error], seen ...string) error {
	var links []link
	for r, err := range rows {
		if err != nil {
			return err
		}
		links = append(links, link{r.Seq, r.Prev, r.Hash, Link(r.Prev, r) == r.Hash})
	}
	c := newChain(session, links)
	if b := c.firstBreak(head); b != nil {
		return b
	}
	return c.holds(seen)
}

// link is what the walk needs to know of a row.
type link struct {
	seq        int64
	prev, hash Hash
	sound      bool // hash covers the row as it stands
}

type chain struct {
	session string
	links   []link
	at      map[Hash]int // where a hash stands
}

func newChain(session string, links []link) chain {
	c := chain{session, links, make(map[Hash]int, len(links))}
	for i, l := range links {
		c.at[l.hash] = i
	}
	return c
}

func (c chain) firstBreak(head string) *Broken {
	last := Genesis(c.session)
	for i, l := range c.links {
		if l.seq == int64(i+1) && l.prev == last && l.sound {
			last = l.hash
			continue
		}
		return c.diagnose(i, last)
	}
	if last.String() == head {
		return nil
	}
	return c.wrongEnd(head)
}

// diagnose says what happened at i, behind which everything is sound. An event
// that was only altered still has its place: its neighbours link to it.
func (c chain) diagnose(i int, last Hash) *Broken {
	l, seq := c.links[i], int64(i+1)
	switch {
	case i > 0 && l.prev == c.links[i-1].prev && l.prev != last:
		return c.broken(seq-1, Inserted) // the row before, though sound, stands between two that knew each other
	case l.seq > seq && !c.follows(i, last):
		return c.broken(seq, Missing)
	case l.prev == last:
		return c.broken(seq, Altered)
	case c.elsewhere(i, last):
		return c.broken(seq, Reordered)
	case c.follows(i, last):
		return c.broken(seq, Inserted)
	}
	return c.broken(seq, Altered)
}

// follows reports whether an event from i on links to last: the true next one
// is still there.
func (c chain) follows(i int, last Hash) bool {
	for _, l := range c.links[i:] {
		if l.prev == last {
			return true
		}
	}
	return false
}

// elsewhere reports whether the event at i belongs behind another event than
// the one it stands behind, while the true next one stands somewhere else.
func (c chain) elsewhere(i int, last Hash) bool {
	before, known := c.at[c.links[i].prev]
	return known && before != i-1 && c.follows(i, last)
}

// wrongEnd is for a session in which every link holds but the last is not the
// one that the store remembers.
func (c chain) wrongEnd(head string) *Broken {
	for i, l := range c.links {
		if l.hash.String() == head {
			return c.broken(int64(i+2), Inserted)
		}
	}
	if Genesis(c.session).String() == head {
		return c.broken(1, Inserted)
	}
	return c.broken(int64(len(c.links)+1), Missing)
}

func (c chain) holds(seen []string) error {
	known := map[string]bool{Genesis(c.session).String(): true}
	for _, l := range c.links {
		known[l.hash.String()] = true
	}
	for _, h := range seen {
		if !known[h] {
			return fmt.Errorf("session %s never had the head %s: its events were written anew", c.session, h)
		}
	}
	return nil
}

func (c chain) broken(seq int64, f Fault) *Broken { return &Broken{c.session, seq, f} }
