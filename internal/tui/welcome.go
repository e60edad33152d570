package tui

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/clean"
	"ikigai/internal/spell"
	"ikigai/internal/tui/keys"
	"ikigai/internal/view"
)

// Welcome is what the first run needs when no model is set up. A function that
// is nil means that this cannot be done.
type Welcome struct {
	Found    func() []Found                                          // looks for models that could be used; may take a moment
	Key      func(ctx context.Context, provider, key string) Outcome // tests a key with one call, and keeps it unless it is refused
	Endpoint func(ctx context.Context, e Endpoint) Outcome           // tests an address with one call; when it works, the face begins again with it
	Chose    func(model string) string                               // remembers a choice, where it can, and says how to change it
	Demo     string                                                  // the name of the offline model
	Dialects []string                                                // the wire formats, the usual one first
	Ready    func() string                                           // what can be used without any model
}

// Found is a provider: one that can be used now, or what is missing for it.
type Found struct {
	Name    string
	Where   string // its address
	Missing string // the variable a key would be in
	Models  []string
	Usable  bool
}

// An Endpoint is an address of the person's own that speaks a known wire format.
type Endpoint struct{ URL, Dialect, Model, Key string }

// An Outcome is what came of a test, in plain words.
type Outcome struct {
	OK   bool
	Text string
}

// welcome asks the person which model to use.
type welcome struct {
	*Welcome
	found  []Found
	looked bool
	over   bool

	form  *form
	tests string // what is being tested
	stop  context.CancelFunc
	said  Outcome
}

func newWelcome(w *Welcome) *welcome {
	if w == nil {
		return nil
	}
	return &welcome{Welcome: w}
}

func (w *welcome) open() bool { return w != nil && !w.over }

// typing reports whether keys belong to the welcome alone.
func (w *welcome) typing() bool { return w.open() && (w.form != nil || w.tests != "") }

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

// choices are the models that can be used, and what else there is. Until it is
// known what is here there are none: a number would soon mean something else.
func (w *welcome) choices() []choice {
	if !w.looked {
		return nil
	}
	var all []choice
	for _, f := range w.found {
		if f.Usable && len(f.Models) > 0 && len(all) < 5 {
			all = append(all, w.use(f.Models[0], "use "+f.Models[0]))
		}
	}
	if w.Key != nil {
		all = append(all, choice{"give an API key", func(*chat) { w.begin(w.keyForm()) }})
	}
	if w.Endpoint != nil {
		all = append(all, choice{"other endpoint (URL)", func(*chat) { w.begin(w.endpointForm()) }})
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
	rows := []view.Line{{{Role: view.Faint, Text: "  looking for models here …"}}}
	if w.looked {
		rows = nil
		for _, l := range w.report() {
			rows = append(rows, wrapped(l, width, reportHang)...)
		}
	}
	var lines []view.Line
	if w.said.Text != "" {
		role := view.Warning
		if w.said.OK {
			role = view.Good
		}
		lines = append(lines, view.Line{{Role: role, Text: "  " + clean.Line(w.said.Text)}})
	}
	for _, l := range lines {
		rows = append(rows, wrapped(l, width, margin)...)
	}
	return append(rows, w.question(width)...)
}

// question is what is asked now.
func (w *welcome) question(width int) []view.Line {
	switch {
	case w.tests != "":
		return wrapped(view.Line{{Role: view.Faint, Text: "  testing " + clean.Line(w.tests) + " with one call …   esc stops it"}}, width, margin)
	case w.form != nil:
		return wrapped(w.form.line(), width, margin)
	case !w.looked:
		return nil
	}
	var all []view.Span
	for i, c := range w.choices() {
		all = append(all, view.Span{Text: fmt.Sprintf("  [%d] %s", i+1, clean.Line(c.text))})
	}
	return flow(width, all...)
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

// reportHang is where the second column of the report begins.
const reportHang = 14

// mostMissing is how many variables are named that could hold a key.
const mostMissing = 3

// report says what was found.
func (w *welcome) report() []view.Line {
	var rows []view.Line
	var missing []string
	for _, f := range w.found {
		if f.Usable {
			rows = append(rows, view.Line{{Role: view.Good, Text: "  found here  "}, {Text: fmt.Sprintf("%s at %s (%s)", f.Name, clean.Line(f.Where), models(len(f.Models)))}})
		} else if f.Missing != "" {
			missing = append(missing, f.Missing)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  found here  no local server and no key"}})
	}
	if left := len(missing) - mostMissing; left > 0 {
		missing = append(missing[:mostMissing:mostMissing], fmt.Sprintf("and %d more (ikigai models)", left))
	}
	if len(missing) > 0 {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  not set     " + strings.Join(missing, " ")}})
	}
	if w.Ready != nil {
		rows = append(rows, view.Line{{Role: view.Faint, Text: "  ready       " + clean.Line(w.Ready())}})
	}
	return rows
}

func models(n int) string {
	if n == 1 {
		return "1 model"
	}
	return fmt.Sprintf("%d models", n)
}

// key takes a choice, or what is typed for one. It reports whether the key was
// meant for it.
func (w *welcome) key(c *chat, k keys.Key) bool {
	switch {
	case w.tests != "":
		if k.Name == "esc" || k.Name == "ctrl+c" {
			w.stop()
		}
		return true
	case w.form != nil:
		w.formKey(c, k)
		return true
	}
	n := slices.Index(strings.Split("123456789", ""), k.Name)
	if all := w.choices(); n >= 0 && n < len(all) {
		all[n].do(c)
		return true
	}
	return false
}

func (w *welcome) begin(f *form) { w.form, w.said = f, Outcome{} }

func (w *welcome) formKey(c *chat, k keys.Key) {
	if k.Name == "esc" || k.Name == "ctrl+c" {
		w.begin(nil)
		return
	}
	f := w.form
	fault := f.key(k)
	w.said = Outcome{Text: fault}
	if len(f.values) == len(f.fields) {
		w.form = nil
		f.done(c, f.values)
	}
}

// test tests something beside the loop, and says what came of it.
func (w *welcome) test(c *chat, what string, do func(context.Context) Outcome, then func(Outcome)) {
	ctx, cancel := context.WithCancel(context.Background())
	w.tests, w.stop = what, cancel
	c.beside(func() {
		defer cancel()
		defer func() { c.jobs <- func() { w.tests = "" } }() // also when it crashed
		out := do(ctx)
		c.jobs <- func() { w.said = out; then(out) }
	})
}

// keyForm asks whose key it is, and for the key.
func (w *welcome) keyForm() *form {
	names := w.names()
	return &form{
		fields: []field{
			{ask: "whose key?", hint: strings.Join(names, " "), fault: func(s string) string {
				if slices.Contains(names, s) {
					return ""
				}
				return strings.TrimSpace("there is no provider " + s + " that wants a key; " + spell.DidYouMean(s, names))
			}},
			{ask: "the key (not shown):", hidden: true, fault: needed("a key")},
		},
		done: func(c *chat, v []string) {
			w.test(c, v[0], func(ctx context.Context) Outcome { return w.Key(ctx, v[0], v[1]) }, func(Outcome) {
				c.beside(func() { w.look(c.jobs) })
			})
		},
	}
}

// endpointForm asks for an address and what is spoken there.
func (w *welcome) endpointForm() *form {
	return &form{
		fields: []field{
			{ask: "address?", hint: "such as http://127.0.0.1:8000/v1", fault: badAddress},
			{ask: "wire format?", hint: strings.Join(w.Dialects, " "), usual: w.Dialects[0], fault: func(s string) string {
				if slices.Contains(w.Dialects, s) {
					return ""
				}
				return strings.TrimSpace("there is no wire format " + s + "; " + spell.DidYouMean(s, w.Dialects))
			}},
			{ask: "model?", hint: "its name there", fault: needed("a model")},
			{ask: "key (not shown; enter for none):", hidden: true},
		},
		done: func(c *chat, v []string) {
			e := Endpoint{URL: v[0], Dialect: v[1], Model: v[2], Key: v[3]}
			w.test(c, e.Model+" at "+e.URL, func(ctx context.Context) Outcome { return w.Endpoint(ctx, e) }, func(o Outcome) {
				if !o.OK {
					return
				}
				w.over = true
				c.transcript.lines(0, view.Text(view.Good, o.Text))
				c.again = true
				c.leave(exitDone)
			})
		},
	}
}

func needed(what string) func(string) string {
	return func(s string) string {
		if s == "" {
			return "it needs " + what
		}
		return ""
	}
}

func badAddress(s string) string {
	if u, err := url.Parse(s); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "an address begins with http:// or https:// and names a host"
	}
	return ""
}

// A form asks for several things, one after another.
type form struct {
	fields []field
	values []string // of the fields that were answered
	typed  string
	done   func(c *chat, values []string)
}

// A field is one thing that a form asks for.
type field struct {
	ask, hint string
	usual     string              // taken when nothing is typed
	hidden    bool                // nobody looks over the shoulder
	fault     func(string) string // what is wrong with a value; nil when nothing can be
}

func (f *form) line() view.Line {
	now := f.fields[len(f.values)]
	text := clean.Line(f.typed)
	if now.hidden {
		text = strings.Repeat("•", min(len(f.typed), 20))
	}
	hint := "   " + now.hint + " · esc back"
	if now.hint == "" {
		hint = "   esc back"
	}
	return view.Line{{Role: view.Name, Text: "  " + now.ask + " "}, {Text: text}, {Role: view.Cursor, Text: " "}, {Role: view.Faint, Text: hint}}
}

// key types; enter goes on to the next field. It gives what is wrong with what
// was typed.
func (f *form) key(k keys.Key) (fault string) {
	switch k.Name {
	case "backspace":
		if r := []rune(f.typed); len(r) > 0 {
			f.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		f.typed = ""
	case "enter":
		return f.take()
	default:
		f.typed += strings.TrimSpace(k.Text)
	}
	return ""
}

func (f *form) take() (fault string) {
	now, text := f.fields[len(f.values)], f.typed
	f.typed = ""
	if text == "" {
		text = now.usual
	}
	if now.fault != nil {
		if fault = now.fault(text); fault != "" {
			return fault
		}
	}
	f.values = append(f.values, text)
	return ""
}
