package app

import (
	"context"
	"fmt"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/tool"
)

// past is an event of this session, also one that a compaction left out.
func (h *house) past(ctx context.Context, event int64) (kind, text string, err error) {
	e, err := eventOf(ctx, h.store, h.id, event)
	return string(e.Kind), wholeText(e), err
}

// eventOf is one event of a session.
func eventOf(ctx context.Context, s store.Store, session string, seq int64) (convo.Event, error) {
	for e, err := range s.Events(ctx, session, seq-1) {
		switch {
		case err != nil:
			return convo.Event{}, fmt.Errorf("reading event %d: %w", seq, err)
		case e.Seq == seq && seq > 0:
			return e, nil
		}
		break
	}
	return convo.Event{}, tool.Errorf(tool.Missing, "session %s has no event %d", session, seq)
}

// wholeText is all that an event says.
func wholeText(e convo.Event) string {
	switch b := e.Body.(type) {
	case convo.ToolCall:
		return b.Name + " " + string(b.Args)
	case convo.ToolResult:
		return string(b.Envelope())
	}
	return e.Text
}
