package app

import (
	"context"
	"fmt"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// recallName is the tool that is offered once something was left out of what the
// model sees.
const recallName = "recall"

type recallInput struct {
	Event int64 `json:"event" doc:"Its number"`
}

type recallOutput struct {
	toolkit.Shown
	Kind string `json:"kind"`
}

// recall gives the model back an event of this session that a compaction left out.
func (h *house) recall() tool.Tool {
	return toolkit.New(toolkit.Def[recallInput, recallOutput]{
		Name: recallName, Doc: "An earlier event of this conversation, by its number.", Risk: tool.Safe, Effects: []tool.Effect{tool.Read},
		Run: func(ctx context.Context, at tool.Place, _ tool.Grant, in recallInput, _ tool.Progress) (recallOutput, error) {
			e, err := eventOf(ctx, h.store, h.id, in.Event)
			if err != nil {
				return recallOutput{}, err
			}
			return recallOutput{toolkit.Show(at, clean.Model(wholeText(e))), string(e.Kind)}, nil
		},
	})
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
	return convo.Event{}, tool.Errorf(tool.Code("NOT_FOUND"), "session %s has no event %d", session, seq)
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
