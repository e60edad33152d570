package tool

import (
	"slices"
	"sync"
)

// A Memo is what tools remember between the calls of one session, to be quicker:
// a call without it gives the same answer. It belongs to the session and goes
// with it. Of what is kept the least recently used gives way when there is too
// much, so each thing should be small or bound itself. It is safe for concurrent
// use; a nil Memo keeps nothing.
type Memo struct {
	mu   sync.Mutex // guards kept
	kept []memory   // the one used last comes last
}

type memory struct{ key, value any }

// mostMemories is how many things a Memo keeps: each is looked for one by one.
const mostMemories = 16

// Remember gives what is kept under key, or what make gives, which is kept. The
// type of key should belong to who asks, as with the values of a context. The
// value is given to several calls at once. While make runs others wait, so it
// only makes, and does not fill.
func Remember[T any](m *Memo, key any, make func() T) T {
	if m == nil {
		return make()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.kept, func(k memory) bool { return k.key == key })
	if at < 0 {
		m.kept = append(m.kept, memory{key, make()})
		at = len(m.kept) - 1
	}
	found := m.kept[at]
	m.kept = append(slices.Delete(m.kept, at, at+1), found)
	if over := len(m.kept) - mostMemories; over > 0 {
		m.kept = slices.Delete(m.kept, 0, over)
	}
	return found.value.(T)
}
