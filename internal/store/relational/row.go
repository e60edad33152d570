package relational

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"strings"
	"unicode/utf8"

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

// readRow reads what columns wrote. The exact bytes count only while the other
// columns still show them: who changes what is shown has changed the row.
func readRow(rows *sql.Rows) (store.Row, error) {
	var r store.Row
	var exact, prev, hash []byte
	if err := rows.Scan(&r.Seq, &r.Turn, &r.At, &r.Kind, &r.Content, &r.Data, &r.Reply, &r.Keep, &exact, &prev, &hash); err != nil {
		return store.Row{}, err
	}
	if e, err := store.DecodeRow(exact); exact != nil && err == nil && equal(showable(e), r) {
		r = e
	}
	copy(r.Prev[:], prev)
	copy(r.Hash[:], hash)
	return r, nil
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
