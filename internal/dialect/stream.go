package dialect

import (
	"bytes"
	"encoding/json"

	"ikigai/internal/convo"
	"ikigai/internal/llm"
)

// A Stream is what all decoders share: the way from bytes to messages, and from
// there to deltas. A decoder embeds one and gives it its two functions.
type Stream struct {
	Faults
	Texts Strings
	Begun bool // something of the reply was emitted
	Over  bool // the end signal was emitted; what comes after it is not read

	// Message reads one message.
	Message Each
	// Closing runs when no more bytes come, before it is asked whether the end
	// signal came. It may be nil.
	Closing func()

	frames Frames
	block  int
	emit   func(llm.Delta)
	each   Each
	said   error // what Message said last

	same    template  // the last message, when it was one piece of an item
	skipped []gap     // what the reading of a message skipped
	piece   llm.Delta // that piece
	grown   *[]byte   // where the dialect gathers the pieces, if it does
}

// Feed takes the next bytes.
func (s *Stream) Feed(p []byte, emit func(llm.Delta)) error {
	s.start(emit)
	return s.seen(s.frames.Feed(p, s.each))
}

// Close says that no more bytes come.
func (s *Stream) Close(emit func(llm.Delta)) error {
	s.start(emit)
	if err := s.seen(s.frames.Close(s.each)); err != nil {
		return err
	}
	if s.Closing != nil && !s.Over {
		s.Closing()
	}
	if !s.Over {
		return Cut(s.Begun)
	}
	return nil
}

func (s *Stream) start(emit func(llm.Delta)) {
	s.emit = emit
	if s.each == nil {
		s.frames.short = s
		s.each = func(event, data []byte) error {
			if data = bytes.TrimSpace(data); s.Over || len(data) == 0 || s.again(data) {
				return nil
			}
			s.same.forget()
			s.said = s.Message(event, data)
			return s.said
		}
	}
}

// seen drops a fault of the framing that comes after the end of the reply.
func (s *Stream) seen(err error) error {
	if s.Over && s.said == nil {
		return nil
	}
	return err
}

// Scan reads a message, and notes what it skips for Learn.
func (s *Stream) Scan(data []byte) Scan {
	s.skipped = s.skipped[:0]
	return Scan{src: data, skipped: &s.skipped}
}

// Learn says that the message, read with Scan, was nothing but one more piece of
// an item: part, as it stands between its quotes. Another that differs in the
// piece alone is then emitted without being read, and appended to gathered.
func (s *Stream) Learn(data, part []byte, piece llm.Delta, gathered *[]byte) {
	s.same.learn(data, part, s.skipped)
	s.piece, s.grown = llm.Delta{Kind: piece.Kind, Block: piece.Block}, gathered
}

// Forget makes sure that the next message is read.
func (s *Stream) Forget() { s.same.forget() }

// again emits a message that is like the one before.
func (s *Stream) again(data []byte) bool {
	part, ok := s.same.fits(data)
	if ok {
		s.more(part)
	}
	return ok
}

// take is again for a message that is still in its frame.
func (s *Stream) take(stream []byte) int {
	part, n, ok := s.same.takes(stream)
	if !ok || s.Over {
		return 0
	}
	s.more(part)
	return n
}

// lay remembers what stood round the last message.
func (s *Stream) lay(frame, data []byte) { s.same.within(frame, data) }

// more emits another piece of the item in hand.
func (s *Stream) more(part []byte) {
	if len(part) == 0 {
		return
	}
	s.piece.Text = s.Texts.Copy(part)
	if s.grown != nil {
		*s.grown = append(*s.grown, part...)
	}
	s.Emit(s.piece)
}

// Block is a new number for an item.
func (s *Stream) Block() int {
	s.block++
	return s.block
}

// Emit hands a delta on.
func (s *Stream) Emit(d llm.Delta) {
	s.Begun = s.Begun || d.Kind != llm.UsageDelta && d.Kind != llm.Done
	s.emit(d)
}

// End emits the end signal, once.
func (s *Stream) End(stop llm.Stop, native string) {
	if !s.Over {
		s.Over = true
		s.Emit(llm.Delta{Kind: llm.Done, Stop: stop, Native: native})
	}
}

// Fail is the error that a message reports, or nil when it reports none.
func (s *Stream) Fail(event, data []byte) error {
	e := Complaint(event, data)
	if e == nil {
		return nil
	}
	e.Partial = s.Begun
	return e
}

// Unreadable is the error of a message that is no JSON.
func (s *Stream) Unreadable(data []byte) error {
	e := garbage(data)
	e.Partial = s.Begun
	return e
}

// Keeping makes what goes back with an item.
func Keeping(dialect string, data any) *convo.Opaque {
	if raw, ok := data.(json.RawMessage); ok {
		return &convo.Opaque{Dialect: dialect, Data: raw}
	}
	return &convo.Opaque{Dialect: dialect, Data: JSON(data)}
}
