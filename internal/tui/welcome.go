package tui

import (
	"fmt"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/clean"
	"ikigai/internal/tui/keys"
	"ikigai/internal/view"
)

// Welcome is what the first run needs when no model is set up.
type Welcome struct {
	Found func() []Found                             // looks for models that could be used; may take a moment
	Keep  func(provider, key string) (string, error) // keeps a key; the word says where
	Demo  string                                     // the name of the offline model
	Tools func() int                                 // how many tools are ready
}

// Found is something usable that was found, or what is missing for it.
type Found struct {
	Name   string // of the provider
	Where  string // its address, or where its key came from
	Models []string
	Usable bool
}

// welcome asks the person which model to use.
type welcome struct {
	*Welcome
	found  []Found
	looked bool
	over   bool
}

func newWelcome(w *Welcome) *welcome {
	if w == nil {
		return nil
	}
	return &welcome{Welcome: w}
}

func (w *welcome) open() bool { return !w.over }

// look looks for models beside the loop.
func (w *welcome) look(jobs chan<- func()) {
	found := w.Found()
	jobs <- func() { w.found, w.looked = found, true }
}

func (w *welcome) head() []view.Line {
	return []view.Line{{{Text: "No model is set up yet. Nothing has been sent anywhere."}}}
}

// usable are the models that could be used at once, a few of each provider.
func (w *welcome) usable() []string {
	var models []string
	for _, f := range w.found {
		if f.Usable && len(models) < 3 {
			models = append(models, f.Models[:min(1, len(f.Models))]...)
		}
	}
	return models
}

func (w *welcome) rows(width int) []view.Line {
	lines := []view.Line{{{Role: view.Faint, Text: "  looking for models here …"}}}
	if w.looked {
		lines = w.report()
	}
	var rows []view.Line
	for _, l := range append(lines, w.choices()) {
		rows = append(rows, wrapped(l, width, 15)...)
	}
	return rows
}

// report says what was found.
func (w *welcome) report() []view.Line {
	var rows []view.Line
	var missing []string
	for _, f := range w.found {
		if !f.Usable {
			missing = append(missing, f.Where)
			continue
		}
		rows = append(rows, view.Line{{Role: view.Good, Text: "  found here   "}, {Text: fmt.Sprintf("%s at %s (%d models)", f.Name, clean.Line(f.Where), len(f.Models))}})
	}
	if len(rows) == 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  found here   no local server, no key"}})
	}
	if len(missing) > 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  not set      " + strings.Join(missing, ", ")}})
	}
	return rows
}

// choices are the models that can be used, and what else there is.
func (w *welcome) choices() view.Line {
	l := view.Line{}
	n := 0
	add := func(text string) {
		n++
		l = append(l, view.Span{Role: view.Name, Text: fmt.Sprintf("  [%d] ", n)}, view.Span{Text: text})
	}
	for _, m := range w.usable() {
		add("use " + clean.Line(m))
	}
	add("offline demo")
	add("later")
	return append(l, view.Span{Role: view.Faint, Text: "   or /model PROVIDER/MODEL, ikigai key set PROVIDER"})
}

// key takes a choice.
func (w *welcome) key(c *chat, k keys.Key) bool {
	models := append(w.usable(), w.Demo)
	n := strings.Index("123456789", k.Name)
	switch {
	case len(k.Name) != 1 || n < 0 || n > len(models):
		return false
	case n == len(models): // later
		w.over = true
		return true
	}
	w.over = true
	go c.send(agent.SetModel{Model: models[n]})
	c.transcript.lines(0, []view.Line{{{Role: view.Good, Text: "The model is " + clean.Line(models[n]) + "."}}})
	return true
}
