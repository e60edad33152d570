package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"ikigai/internal/convo"
)

// A Row is an event as it is stored: these very bytes, and its place in the
// chain. A nil Data or Keep is the absence of one.
type Row struct {
	Seq     int64
	Turn    int64
	At      int64 // nanoseconds since 1970; 0 for none
	Kind    string
	Content string
	Data    []byte // data_json
	Reply   string
	Keep    []byte
	Prev    Hash // the hash of the row before
	Hash    Hash // Link(Prev, this row)
}

// NewRow writes an event as a row that is not linked yet. When its data cannot
// be written as JSON the row is whole but for the data, and the error says why.
func NewRow(e convo.Event) (Row, error) {
	r := Row{Seq: e.Seq, Turn: int64(e.Turn), At: Nanos(e.At), Kind: string(e.Kind), Content: e.Text, Reply: e.Reply}
	var bad, worse error
	if o, ok := e.Body.(convo.Opaque); ok {
		r.Data, bad = opaque(o)
	} else {
		r.Data, bad = e.Data()
	}
	if e.Keep != nil {
		r.Keep, worse = opaque(*e.Keep)
	}
	return r, errors.Join(bad, worse)
}

// Event reads the row. What this version cannot read of it is kept as it is. The
// event holds no bytes of the row, so that a database may lend them.
func (r Row) Event() convo.Event {
	e := r.bare()
	if err := e.Read(r.Data); err != nil {
		e.Body = convo.Unknown{Of: e.Kind, Data: bytes.Clone(r.Data)}
	}
	return e
}

// Verbatim is the event with its data unread, so that it is written again byte
// for byte.
func (r Row) Verbatim() convo.Event {
	e := r.bare()
	if r.Data != nil {
		e.Body = convo.Unknown{Of: e.Kind, Data: r.Data}
	}
	return e
}

func (r Row) bare() convo.Event {
	e := convo.Event{Seq: r.Seq, Turn: int(r.Turn), At: Moment(r.At), Kind: convo.Kind(r.Kind), Text: r.Content, Reply: r.Reply}
	if r.Keep == nil {
		return e
	}
	if body, err := convo.DecodeBody(convo.KindOpaque, r.Keep); err == nil && body != nil {
		o := body.(convo.Opaque)
		e.Keep = &o
	}
	return e
}

// opaque writes o around its data, which must not lose even a blank: a vendor
// may have signed it.
func opaque(o convo.Opaque) ([]byte, error) {
	data := o.Data
	o.Data = json.RawMessage("null")
	if len(data) > 0 && !json.Valid(data) {
		return nil, fmt.Errorf("encoding what %s wants back: it is not JSON", o.Dialect)
	}
	around, err := json.Marshal(o)
	if err != nil || len(data) == 0 {
		return around, err
	}
	around = bytes.TrimSuffix(around, []byte("null}"))
	return append(append(around, data...), '}'), nil
}

// Nanos is a time as it is stored: nanoseconds since 1970, 0 for none.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Moment is the time that Nanos wrote.
func Moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// absent stands in the encoding for the length of what is not there.
const absent = ^uint64(0)

// Encode writes the bytes that a hash covers: seq, turn, at, kind, content,
// data_json, reply, keep, in this order. A number is 8 bytes, big endian; a text
// is its length as a number and then its bytes; an absent one is eight bytes of
// 255. Prev and Hash are no part of it.
func (r Row) Encode() []byte { return r.appendTo(make([]byte, 0, r.size())) }

func (r Row) size() int {
	return 8*8 + len(r.Kind) + len(r.Content) + len(r.Data) + len(r.Reply) + len(r.Keep)
}

func (r Row) appendTo(b []byte) []byte {
	for _, n := range []int64{r.Seq, r.Turn, r.At} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	b = appendText(b, r.Kind)
	b = appendText(b, r.Content)
	b = appendBytes(b, r.Data)
	b = appendText(b, r.Reply)
	return appendBytes(b, r.Keep)
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendBytes(b, data []byte) []byte {
	if data == nil {
		return binary.BigEndian.AppendUint64(b, absent)
	}
	return append(binary.BigEndian.AppendUint64(b, uint64(len(data))), data...)
}

// DecodeRow reads what Encode wrote.
func DecodeRow(b []byte) (Row, error) {
	d := decoder{rest: b}
	r := Row{Seq: int64(d.number()), Turn: int64(d.number()), At: int64(d.number())}
	r.Kind, r.Content = d.text(), d.text()
	r.Data = d.bytes()
	r.Reply = d.text()
	r.Keep = d.bytes()
	if d.bad || len(d.rest) > 0 {
		return Row{}, errors.New("reading a stored event: its encoding is damaged")
	}
	return r, nil
}

type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() uint64 {
	if len(d.rest) < 8 {
		d.bad = true
		return 0
	}
	n := binary.BigEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return n
}

// text is never absent.
func (d *decoder) text() string {
	b := d.bytes()
	d.bad = d.bad || b == nil
	return string(b)
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if d.bad || n == absent {
		return nil
	}
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// Decode reads rows as events.
func Decode(rows iter.Seq2[Row, error]) iter.Seq2[convo.Event, error] {
	return func(yield func(convo.Event, error) bool) {
		for r, err := range rows {
			if err != nil {
				yield(convo.Event{}, err)
				return
			}
			if !yield(r.Event(), nil) {
				return
			}
		}
	}
}
