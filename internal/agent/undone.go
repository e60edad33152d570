package agent

import (
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/convo"
	"ikigai/internal/window"
)

// tellOfUndo tells the model that files were put back since it was last asked: it
// would go on with what it believes to stand in them.
func (a *Agent) tellOfUndo() {
	events := a.history.Events()
	from := len(events)
	for from > 0 && events[from-1].Kind != convo.KindUser {
		from--
	}
	var open []convo.Undo
	for _, e := range events[from:] {
		b, ok := e.Body.(convo.Undo)
		if !ok {
			continue
		}
		opposite := func(o convo.Undo) bool { return o.Redo != b.Redo && slices.Equal(o.Turns, b.Turns) }
		if i := slices.IndexFunc(open, opposite); i >= 0 {
			open = slices.Delete(open, i, i+1) // it was taken back in turn
		} else {
			open = append(open, b)
		}
	}
	for _, b := range open {
		a.emit(window.Remark(undoText(b)))
	}
}

func undoText(b convo.Undo) string {
	const most = 30
	did, now := "took back", "are as they were before"
	if b.Redo {
		did, now = "brought back", "are again as they were after"
	}
	files := strings.Join(b.Files[:min(most, len(b.Files))], ", ")
	if more := len(b.Files) - most; more > 0 {
		files += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("The person %s what turns %s had done to files. These %s: %s. Read them again before you rely on them.",
		did, strings.Trim(fmt.Sprint(b.Turns), "[]"), now, files)
}
