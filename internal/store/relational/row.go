package relational

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"ikigai/internal/convo"
	"ikigai/internal/store"
)

// Not every database takes every byte: in PostgreSQL a text has no NUL and is
// UTF-8, and a json is JSON. A row that has such bytes is stored whole in the
// column exact, in the encoding that its hash covers, and the other columns get
// what can be shown of it.

// columns are the values of insertEvent.
func columns(session string, r store.Row) []any {
	shown, exact := r, []byte(nil)
	if !plain(r) {
		shown, exact = showable(r), r.Encode()
	}
	return []any{
		session, r.Seq, r.Turn, r.At, r.Kind, shown.Content, text(shown.Data), shown.Reply, text(shown.Keep),
		exact, bytesOf(r.Prev), bytesOf(r.Hash),
	}
}

// shownColumns are the columns of a row without its place in the chain.
const shownColumns = `seq, turn, at, kind, content, data_json, reply, keep, exact`

// eventReader reads rows that nobody needs but as events. Their JSON stays where
// the database has it, and one row is read into the place of the one before: a
// long session has megabytes of it.
func eventReader() func(*sql.Rows) (convo.Event, error) {
	var r store.Row
	var data, keep, exact sql.RawBytes
	into := append(shown(&r, &data, &keep), &exact)
	return func(rows *sql.Rows) (convo.Event, error) {
		if err := rows.Scan(into...); err != nil {
			return convo.Event{}, err
		}
		return whole(r, data, keep, exact).Event(), nil
	}
}

// readRow reads what columns wrote.
func readRow(rows *sql.Rows) (r store.Row, err error) {
	var data, keep, exact []byte
	var prev, hash sql.RawBytes
	if err := rows.Scan(append(shown(&r, &data, &keep), &exact, &prev, &hash)...); err != nil {
		return store.Row{}, err
	}
	r = whole(r, data, keep, exact)
	copy(r.Prev[:], prev)
	copy(r.Hash[:], hash)
	return r, nil
}

// shown is where shownColumns but the last go.
func shown(r *store.Row, data, keep any) []any {
	return []any{&r.Seq, &r.Turn, &r.At, &r.Kind, &r.Content, data, &r.Reply, keep}
}

// whole is the row with its exact bytes, where it has some. They count only while
// the other columns still show them: who changes what is shown has changed the row.
func whole(r store.Row, data, keep, exact []byte) store.Row {
	r.Data, r.Keep = data, keep
	if exact == nil {
		return r
	}
	if e, err := store.DecodeRow(exact); err == nil && equal(showable(e), r) {
		return e
	}
	return r
}

func plain(r store.Row) bool {
	return isText(r.Kind) && isText(r.Content) && isText(r.Reply) && isJSON(r.Data) && isJSON(r.Keep)
}

func showable(r store.Row) store.Row {
	r.Kind, r.Content, r.Reply = clean(r.Kind), clean(r.Content), clean(r.Reply)
	if !isJSON(r.Data) {
		r.Data = nil
	}
	if !isJSON(r.Keep) {
		r.Keep = nil
	}
	return r
}

func equal(a, b store.Row) bool {
	return a.Seq == b.Seq && a.Turn == b.Turn && a.At == b.At && a.Kind == b.Kind && a.Content == b.Content &&
		bytes.Equal(a.Data, b.Data) && a.Reply == b.Reply && bytes.Equal(a.Keep, b.Keep)
}

func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func isJSON(b []byte) bool {
	return b == nil || utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 && json.Valid(b)
}

// clean is text as every database takes it.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\u2400")
}

// text is JSON as a parameter: a string where there is some, NULL where not.
func text(b []byte) any {
	if b == nil {
		return nil
	}
	return string(b)
}

func bytesOf(h store.Hash) []byte { return h[:] }
