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
	var undone []convo.Undo
	for _, e := range slices.Backward(a.history.Events()) {
		if e.Kind == convo.KindUser {
			break
		}
		if b, ok := e.Body.(convo.Undo); ok {
			undone = append(undone, b)
		}
	}
	for _, b := range slices.Backward(undone) {
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
