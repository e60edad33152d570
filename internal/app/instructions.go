package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/convo"
	"ikigai/internal/instruct"
)

// instructed is the system prompt with the standing instructions that hold here.
// What was read, cut or changed is told, unless the run is quiet.
func (a *app) instructed(h *house, system string) string {
	text, notes := a.instructions(h)
	for _, n := range notes {
		if !h.cfg.Screen.Quiet {
			fmt.Fprintf(a.env.Stderr, "note: %s\n", n)
		}
	}
	if text == "" {
		return system
	}
	return system + "\n\n" + text
}

// instructions are those of the person and of the project, as the model gets
// them, and what the person should know about them: which files were read, what
// was cut or left out, and whether they changed since the session began.
func (a *app) instructions(h *house) (text string, notes []string) {
	in := instruct.Read(h.dir, filepath.Join(a.places().Config, "AGENTS.md"))
	text = clean.Model(in.Text())
	if list := filesRead(in.Files); list != "" {
		notes = append(notes, list)
	}
	for _, n := range in.Notes {
		notes = append(notes, clean.Line(n))
	}
	if then, known := a.instructedThen(h); known && then != a.masked(text) {
		notes = append(notes, "the instructions changed since this session began; those of now hold")
	}
	return text, notes
}

func filesRead(files []instruct.File) string {
	var names []string
	for _, f := range files {
		names = append(names, fmt.Sprintf("%s (%s)", clean.Line(f.Path), bytesOf(int64(len(f.Text)))))
	}
	if len(names) == 0 {
		return ""
	}
	return "instructions read from " + strings.Join(names, ", ")
}

// instructedThen is what the system prompt of a session that goes on says of
// instructions; nothing is known of a new one.
func (a *app) instructedThen(h *house) (text string, known bool) {
	if len(h.stored) == 0 || h.stored[0].Kind != convo.KindSystem {
		return "", false
	}
	_, rest, found := strings.Cut(h.stored[0].Text, "\n\n"+instruct.Head)
	if !found {
		return "", true
	}
	return instruct.Head + rest, true
}

// masked is text as a session records it.
func (a *app) masked(text string) string {
	if r := a.redactor(); r != nil {
		return r.Text(text)
	}
	return text
}
