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
	return sha256.Sum256(r.appendTo(append(make([]byte, 0, len(prev)+r.size()), prev[:]...)))
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
	c := chain{session: session, at: map[Hash]int{}}
	for r, err := range rows {
		if err != nil {
			return err
		}
		c.add(r)
	}
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
	was     int64        // the number that the first row that is not sound once had, 0 when it had none
	unsound bool
}

func (c *chain) add(r Row) {
	l := link{r.Seq, r.Prev, r.Hash, Link(r.Prev, r) == r.Hash}
	if !l.sound && !c.unsound {
		c.unsound, c.was = true, formerSeq(r)
	}
	c.at[l.hash] = len(c.links)
	c.links = append(c.links, l)
}

// formerSeq finds the number under which the hash of a row holds: someone who
// removes an event may close the gap in the numbers.
func formerSeq(r Row) int64 {
	const far = 1000
	for seq, end := r.Seq+1, r.Seq+far; seq < end; seq++ {
		r.Seq = seq
		if Link(r.Prev, r) == r.Hash {
			return seq
		}
	}
	return 0
}

func (c chain) firstBreak(head string) *Broken {
	last := Genesis(c.session)
	for i, l := range c.links {
		if l.seq == int64(i+1) && l.prev == last && l.sound {
			last = l.hash
			continue
		}
		if last.String() == head {
			return c.broken(int64(i+1), Inserted) // the session ended before it
		}
		return c.diagnose(i, last)
	}
	if last.String() == head {
		return nil
	}
	return c.wrongEnd(head)
}

// diagnose says what happened at i, before which everything is sound. An event
// that was only altered still has its place: its neighbours link to it.
func (c chain) diagnose(i int, last Hash) *Broken {
	l, seq := c.links[i], int64(i+1)
	_, known := c.at[l.prev]
	switch {
	case i > 0 && l.prev == c.links[i-1].prev:
		return c.broken(seq-1, Inserted) // it stands between two that know each other
	case l.prev == last:
		return c.broken(seq, Altered)
	case c.follows(i, last) && c.elsewhere(i):
		return c.broken(seq, Reordered)
	case c.follows(i, last):
		return c.broken(seq, Inserted)
	case l.seq > seq || !l.sound && c.was > seq:
		return c.broken(seq, Missing)
	case i > 0 && l.sound && !known:
		return c.broken(seq-1, Altered) // with a new hash, which this one does not know
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

// elsewhere reports whether the event at i belongs behind another one than that
// behind which it stands.
func (c chain) elsewhere(i int) bool {
	before, known := c.at[c.links[i].prev]
	return known && before != i-1 && before != i
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
