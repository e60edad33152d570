package store_test

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"testing"

	"ikigai/internal/store"
	"ikigai/internal/store/storetest"
)

// rowsOf are n linked rows of the session "a".
func rowsOf(n int64) []store.Row {
	var rows []store.Row
	last := store.Genesis("a")
	for i := int64(1); i <= n; i++ {
		r, err := store.NewRow(storetest.Event(i))
		if err != nil {
			panic(err)
		}
		r = r.After(last)
		last = r.Hash
		rows = append(rows, r)
	}
	return rows
}

func each(rows []store.Row) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// numbered gives rows the Seq of their places, as someone would who hides a change.
func numbered(rows []store.Row) []store.Row {
	for i := range rows {
		rows[i].Seq = int64(i + 1)
	}
	return rows
}

func forged(n int64, after store.Hash) store.Row {
	return store.Row{Seq: n, Kind: "user", Content: "forged"}.After(after)
}

func TestVerifyNamesTheFirstBreak(t *testing.T) {
	type change func([]store.Row) []store.Row
	edit := func(i int, f func(*store.Row)) change {
		return func(r []store.Row) []store.Row { f(&r[i]); return r }
	}
	swap := func(r []store.Row, i, j int) []store.Row { r[i], r[j] = r[j], r[i]; return r }
	for _, c := range []struct {
		name  string
		do    change
		seq   int64
		fault store.Fault
	}{
		{"text changed", edit(4, func(r *store.Row) { r.Content += "!" }), 5, store.Altered},
		{"first text changed", edit(0, func(r *store.Row) { r.Content = "" }), 1, store.Altered},
		{"last text changed", edit(11, func(r *store.Row) { r.Content = "" }), 12, store.Altered},
		{"data changed", edit(5, func(r *store.Row) { r.Data = []byte(`{}`) }), 6, store.Altered},
		{"data removed", edit(5, func(r *store.Row) { r.Data = nil }), 6, store.Altered},
		{"time changed", edit(2, func(r *store.Row) { r.At++ }), 3, store.Altered},
		{"turn changed", edit(2, func(r *store.Row) { r.Turn++ }), 3, store.Altered},
		{"kind changed", edit(2, func(r *store.Row) { r.Kind = "user" }), 3, store.Altered},
		{"reply changed", edit(2, func(r *store.Row) { r.Reply = "x" }), 3, store.Altered},
		{"keep changed", edit(1, func(r *store.Row) { r.Keep = nil }), 2, store.Altered},
		{"hash changed", edit(2, func(r *store.Row) { r.Hash[0]++ }), 3, store.Altered},
		{"link changed", edit(2, func(r *store.Row) { r.Prev[0]++ }), 3, store.Altered},
		{"text and hash changed", edit(4, func(r *store.Row) { r.Content += "!"; *r = r.After(r.Prev) }), 5, store.Altered},
		{"one removed", func(r []store.Row) []store.Row { return slices.Delete(r, 4, 5) }, 5, store.Missing},
		{"one removed, numbers closed up", func(r []store.Row) []store.Row { return numbered(slices.Delete(r, 4, 5)) }, 5, store.Missing},
		{"three removed", func(r []store.Row) []store.Row { return slices.Delete(r, 4, 7) }, 5, store.Missing},
		{"first removed", func(r []store.Row) []store.Row { return slices.Delete(r, 0, 1) }, 1, store.Missing},
		{"last removed", func(r []store.Row) []store.Row { return r[:11] }, 12, store.Missing},
		{"all removed", func([]store.Row) []store.Row { return nil }, 1, store.Missing},
		{"neighbours swapped", func(r []store.Row) []store.Row { return numbered(swap(r, 4, 5)) }, 5, store.Reordered},
		{"far ones swapped", func(r []store.Row) []store.Row { return numbered(swap(r, 2, 9)) }, 3, store.Reordered},
		{"first two swapped", func(r []store.Row) []store.Row { return numbered(swap(r, 0, 1)) }, 1, store.Reordered},
		{"last two swapped", func(r []store.Row) []store.Row { return numbered(swap(r, 10, 11)) }, 11, store.Reordered},
		{"one inserted", func(r []store.Row) []store.Row { return numbered(slices.Insert(r, 4, forged(5, r[3].Hash))) }, 5, store.Inserted},
		{"one inserted without a link", func(r []store.Row) []store.Row { return numbered(slices.Insert(r, 4, store.Row{Kind: "user"})) }, 5, store.Inserted},
		{"one inserted at the front", func(r []store.Row) []store.Row {
			return numbered(slices.Insert(r, 0, forged(1, store.Genesis("a"))))
		}, 1, store.Inserted},
		{"one added at the end", func(r []store.Row) []store.Row { return append(r, forged(13, r[11].Hash)) }, 13, store.Inserted},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := rowsOf(12)
			head := rows[11].Hash.String()
			err := store.Verify("a", head, each(c.do(rows)))
			if b := (*store.Broken)(nil); !errors.As(err, &b) || b.Seq != c.seq || b.Fault != c.fault || b.Session != "a" {
				t.Errorf("got %v, want event %d %s", err, c.seq, c.fault)
			}
		})
	}
}

func TestVerifyAcceptsWhatWasWritten(t *testing.T) {
	rows := rowsOf(12)
	for n := range 13 {
		head := store.Genesis("a")
		if n > 0 {
			head = rows[n-1].Hash
		}
		if err := store.Verify("a", head.String(), each(rows[:n]), head.String(), store.Genesis("a").String()); err != nil {
			t.Errorf("%d events: %v", n, err)
		}
	}
}

func TestWrittenDownHeadBetraysARewrittenSession(t *testing.T) {
	rows := rowsOf(12)
	seen := rows[6].Hash.String()
	last := rows[3].Hash
	for i := 4; i < 12; i++ { // everything behind a change is linked anew
		rows[i].Content += "!"
		rows[i] = rows[i].After(last)
		last = rows[i].Hash
	}
	if err := store.Verify("a", last.String(), each(rows)); err != nil {
		t.Fatalf("a session that was rewritten whole cannot be told by itself: %v", err)
	}
	if err := store.Verify("a", last.String(), each(rows), seen); err == nil {
		t.Error("the head that was written down is not in the session, and nobody noticed")
	}
}

func TestSessionsHaveChainsOfTheirOwn(t *testing.T) {
	rows := rowsOf(3)
	if err := store.Verify("b", rows[2].Hash.String(), each(rows)); err == nil {
		t.Error("the events of a pass for those of b")
	}
}

func TestVerifyPassesOnWhatCannotBeRead(t *testing.T) {
	broken := errors.New("disk")
	err := store.Verify("a", "", func(yield func(store.Row, error) bool) { yield(store.Row{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// The encoding is a promise to every store that was ever written.
func TestLinkIsStable(t *testing.T) {
	r := store.Row{Seq: 1, Turn: 2, At: 3, Kind: "user", Content: "hé", Data: []byte(`{}`), Reply: "r"}
	const want = "0c67573d6caaaab38031d103c8bea85c23aeab19fe4ce6eb7fcbd8c31442f6a9"
	if got := store.Link(store.Genesis("a"), r).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzRowComesBack(f *testing.F) {
	f.Add(int64(1), int64(2), int64(3), "user", "text", []byte(`{}`), "reply", []byte(nil))
	f.Add(int64(-1), int64(0), int64(0), "", "\x00\xff", []byte{}, "", []byte("null"))
	f.Fuzz(func(t *testing.T, seq, turn, at int64, kind, content string, data []byte, reply string, keep []byte) {
		r := store.Row{Seq: seq, Turn: turn, At: at, Kind: kind, Content: content, Data: data, Reply: reply, Keep: keep}
		got, err := store.DecodeRow(r.Encode())
		if err != nil || store.Link(store.Hash{}, got) != store.Link(store.Hash{}, r) || got.Content != content || (got.Data == nil) != (data == nil) {
			t.Errorf("%+v came back as %+v, %v", r, got, err)
		}
	})
}

func FuzzDamagedRowIsRefused(f *testing.F) {
	f.Add([]byte("short"))
	f.Add(append(make([]byte, 48), bytes.Repeat([]byte{0xff}, 16)...)) // a text that is absent
	f.Add(store.Row{Seq: 1, Content: "x"}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := store.DecodeRow(b); err == nil && string(r.Encode()) != string(b) {
			t.Errorf("%x was read as %+v, which is written otherwise", b, r)
		}
	})
}
