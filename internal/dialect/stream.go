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
		s.each = func(event, data []byte) error {
			if data = bytes.TrimSpace(data); s.Over || len(data) == 0 {
				return nil
			}
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
