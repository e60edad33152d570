package tui

import (
	"fmt"
	"slices"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/clean"
	"ikigai/internal/spell"
	"ikigai/internal/tui/keys"
	"ikigai/internal/view"
)

// Welcome is what the first run needs when no model is set up.
type Welcome struct {
	Found func() []Found                             // looks for models that could be used; may take a moment
	Keep  func(provider, key string) (string, error) // keeps a key and says where; nil when it cannot
	Chose func(model string) string                  // remembers a choice, where it can, and says how to change it; may be nil
	Demo  string                                     // the name of the offline model
}

// Found is a provider: one that can be used now, or what is missing for it.
type Found struct {
	Name    string
	Where   string // its address
	Missing string // the variable a key would be in
	Models  []string
	Usable  bool
}

// welcome asks the person which model to use.
type welcome struct {
	*Welcome
	found  []Found
	looked bool
	over   bool

	asking   string // what is being typed: "", "provider" or "key"
	typed    string
	provider string
	said     string
}

func newWelcome(w *Welcome) *welcome {
	if w == nil {
		return nil
	}
	return &welcome{Welcome: w}
}

func (w *welcome) open() bool { return w != nil && !w.over }

// typing reports whether keys belong to the welcome alone.
func (w *welcome) typing() bool { return w.open() && w.asking != "" }

// look looks for models beside the loop.
func (w *welcome) look(jobs chan<- func()) {
	found := w.Found()
	jobs <- func() { w.found, w.looked = found, true }
}

func (w *welcome) head() []view.Line {
	return []view.Line{{{Text: "No model is set up yet. Nothing has been sent anywhere."}}}
}

// A choice is a key of the welcome.
type choice struct {
	text string
	do   func(*chat)
}

// choices are the models that can be used, and what else there is.
func (w *welcome) choices() []choice {
	var all []choice
	for _, f := range w.found {
		if f.Usable && len(f.Models) > 0 && len(all) < 5 {
			all = append(all, w.use(f.Models[0], "use "+f.Models[0]))
		}
	}
	if w.Keep != nil {
		all = append(all, choice{"give an API key", func(*chat) { w.asking, w.said = "provider", "" }})
	}
	return append(all, w.use(w.Demo, "offline demo"), choice{"later", func(*chat) { w.over = true }})
}

func (w *welcome) use(model, text string) choice {
	return choice{text, func(c *chat) {
		w.over = true
		c.transcript.lines(0, []view.Line{{{Role: view.Good, Text: "The model is " + clean.Line(model) + "."}}})
		if w.Chose != nil && model != w.Demo {
			c.transcript.lines(0, view.Text(view.Faint, w.Chose(model)))
		}
		go c.send(agent.SetModel{Model: model})
	}}
}

func (w *welcome) rows(width int) []view.Line {
	lines := []view.Line{{{Role: view.Faint, Text: "  looking for models here …"}}}
	if w.looked {
		lines = w.report()
	}
	if w.said != "" {
		lines = append(lines, view.Line{{Role: view.Warning, Text: "  " + clean.Line(w.said)}})
	}
	lines = append(lines, w.question())
	var rows []view.Line
	for _, l := range lines {
		rows = append(rows, wrapped(l, width, margin)...)
	}
	return rows
}

// question is what is asked now.
func (w *welcome) question() view.Line {
	switch w.asking {
	case "provider":
		return view.Line{{Role: view.Name, Text: "  whose key? "}, {Text: clean.Line(w.typed)}, {Role: view.Cursor, Text: " "}, {Role: view.Faint, Text: "   " + strings.Join(w.names(), " ") + " · esc back"}}
	case "key":
		return view.Line{{Role: view.Name, Text: "  key of " + clean.Line(w.provider) + " (not shown): "}, {Text: strings.Repeat("•", min(len(w.typed), 20))}, {Role: view.Cursor, Text: " "}, {Role: view.Faint, Text: "   esc back"}}
	}
	l := view.Line{}
	for i, c := range w.choices() {
		l = append(l, view.Span{Role: view.Name, Text: fmt.Sprintf("  [%d] ", i+1)}, view.Span{Text: clean.Line(c.text)})
	}
	return l
}

// names are the providers that want a key.
func (w *welcome) names() []string {
	var names []string
	for _, f := range w.found {
		if f.Missing != "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// report says what was found.
func (w *welcome) report() []view.Line {
	var rows []view.Line
	var missing []string
	for _, f := range w.found {
		if f.Usable {
			rows = append(rows, view.Line{{Role: view.Good, Text: "  found here  "}, {Text: fmt.Sprintf("%s at %s (%d models)", f.Name, clean.Line(f.Where), len(f.Models))}})
		} else if f.Missing != "" {
			missing = append(missing, f.Missing)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  found here  no local server and no key"}})
	}
	if len(missing) > 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  not set     " + strings.Join(missing, " ")}})
	}
	return append(rows, view.Line{{Role: view.Faint, Text: "  elsewhere   /model PROVIDER/MODEL, or start with --model and --base-url URL"}})
}

// key takes a choice, or what is typed for one. It reports whether the key was
// meant for it.
func (w *welcome) key(c *chat, k keys.Key) bool {
	if w.asking != "" {
		w.typeKey(c, k)
		return true
	}
	n := slices.Index(strings.Split("123456789", ""), k.Name)
	if all := w.choices(); n >= 0 && n < len(all) {
		all[n].do(c)
		return true
	}
	return false
}

func (w *welcome) typeKey(c *chat, k keys.Key) {
	switch {
	case k.Name == "esc", k.Name == "ctrl+c":
		w.asking, w.typed, w.said = "", "", ""
	case k.Name == "backspace":
		if r := []rune(w.typed); len(r) > 0 {
			w.typed = string(r[:len(r)-1])
		}
	case k.Name == "enter":
		w.answer(c)
	default:
		w.typed += strings.TrimSpace(k.Text)
	}
}

// answer takes what was typed.
func (w *welcome) answer(c *chat) {
	text := w.typed
	w.typed, w.said = "", ""
	switch {
	case text == "":
	case w.asking == "key":
		w.keep(c, text)
	case slices.Contains(w.names(), text):
		w.provider, w.asking = text, "key"
	default:
		w.said = strings.TrimSpace("there is no provider " + text + " that wants a key; " + spell.DidYouMean(text, w.names()))
	}
}

// keep keeps a key and looks again: its provider can be used now.
func (w *welcome) keep(c *chat, key string) {
	where, err := w.Keep(w.provider, key)
	w.asking = ""
	if err != nil {
		w.said = err.Error()
		return
	}
	w.said = where
	c.beside(func() { w.look(c.jobs) })
}
