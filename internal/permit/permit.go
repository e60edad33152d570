// Package permit answers one question: may this call run? Judge is pure, and
// the same code answers for the run, the prompt, policy check and policy test.
// Explicit rules come first (deny over ask over allow), then the matrix of the
// mode. Rules and prompts only decide how often we ask; the boundary is the
// sandbox, which is built from the Grant of the verdict.
package permit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/convo"
	"ikigai/internal/tool"
)

// A Request is a call that was understood, before it runs.
type Request struct {
	Spec tool.Spec
	Call tool.Call
	Plan tool.Plan
}

// Decision is what may become of a call.
type Decision uint8

const (
	Ask Decision = iota // the zero value never lets anything run
	Allow
	Deny
)

var decisionNames = [...]string{"ask", "allow", "deny"}

// String is the word used in rules and listings.
func (d Decision) String() string { return decisionNames[d] }

// A Verdict is the answer to a Request.
type Verdict struct {
	Decision Decision
	Grant    tool.Grant // what an allowed call may touch beyond the workspace
	Risk     tool.Risk
	Reason   string // for the person and for the model
	Rule     string // which rule said so, with file:line; or the mode
	By       convo.By
	Covers   []string // the rules that would be written to allow this from now on
	Reads    bool     // the call changes nothing, whatever its tool could do
	Parts    []Part   // for shell lines, one per simple command
}

// A Part is one simple command of a shell line, judged by itself.
type Part struct {
	Command string
	Class   string
	Reason  string
	Rule    string // the rule that decided this part; empty when the mode did
}

// Mode is who decides when no rule does.
type Mode string

const (
	Plan     Mode = "plan"
	AskMode  Mode = "ask"
	AutoEdit Mode = "auto-edit"
	Auto     Mode = "auto"
	Yolo     Mode = "yolo"
)

// Modes are all modes, from the strictest to the loosest.
var Modes = []Mode{Plan, AskMode, AutoEdit, Auto, Yolo}

// ParseMode reads a mode by its name.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); slices.Contains(Modes, m) {
		return m, nil
	}
	return "", fmt.Errorf("there is no mode %q: it is one of plan, ask, auto-edit, auto, yolo", s)
}

// class is what a call would do, as far as the matrix tells calls apart. They
// are in order of weight: a call that does several things is the heaviest.
type class uint8

const (
	readInside class = iota
	execReads
	writeInside
	execWrites
	network
	mustAsk
	danger // outside the workspace, sensitive, or destructive
)

var classNames = [...]string{
	"reads inside the workspace", "runs a command that only reads", "writes inside the workspace",
	"runs a command that writes in the workspace", "uses the network", "cannot be known beforehand", "is dangerous or reaches outside the workspace",
}

func (c class) String() string { return classNames[c] }

// matrix is the decision table of the requirements (X8). Auto has two rows: it
// trusts the sandbox only where the whole jail stands.
var matrix = map[Mode][danger + 1]Decision{
	//        readInside execReads writeInside execWrites network mustAsk danger
	Plan:     {Allow, Allow, Deny, Deny, Deny, Deny, Deny},
	AskMode:  {Allow, Allow, Ask, Ask, Ask, Ask, Ask},
	AutoEdit: {Allow, Allow, Allow, Ask, Ask, Ask, Ask},
	Auto:     {Allow, Allow, Allow, Allow, Ask, Allow, Ask},
	autoOpen: {Allow, Allow, Allow, Ask, Ask, Ask, Ask},
	Yolo:     {Allow, Allow, Allow, Allow, Allow, Allow, Allow},
}

// autoOpen is Auto where the sandbox is not whole.
const autoOpen Mode = "auto, sandbox not full"

// Options say where and how an Engine judges.
type Options struct {
	Mode     Mode
	Confined func() bool // whether the whole jail stands, always the same; asked where it matters, since to find out costs a start. nil means no
	Dir      string      // the working folder, a real path
	Roots    []string    // real paths of the workspace
	Scratch  []string    // the session's own folders: reading and writing there is inside
	Home     string
	Own      []string // our own configuration and data: sensitive to read, never written
	Rules    Rules    // where remembered rules are kept; nil keeps none
	Fixed    []Rule   // rules of flags and files, in force from the start

	// AskReads picks tools whose reading inside the workspace is asked too,
	// where the mode asks for anything; nil picks none.
	AskReads func(Request) bool
}

// Rules keep remembered answers.
type Rules interface {
	Save(ctx context.Context, r Rule) error
}

// Engine judges calls of one session.
type Engine struct {
	opts    Options
	secrets []string // Secrets of the home folder

	mu    sync.Mutex // guards mode and rules
	mode  Mode
	rules []Rule
}

// New makes an engine. Its rules are checked when they are parsed, not here.
func New(o Options) *Engine {
	return &Engine{opts: o, secrets: Secrets(o.Home), mode: o.Mode, rules: slices.Clone(o.Fixed)}
}

// Mode is the mode in force.
func (e *Engine) Mode() Mode {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mode
}

// SetMode changes the mode for the calls that follow.
func (e *Engine) SetMode(m Mode) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = m
}

// List is every rule in force.
func (e *Engine) List() []Rule {
	_, rules := e.snapshot()
	return slices.Clone(rules)
}

func (e *Engine) snapshot() (Mode, []Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mode, e.rules
}

// Judge says whether a call may run. Same mode, same rules, same request: same
// verdict.
func (e *Engine) Judge(r Request) Verdict {
	mode, rules := e.snapshot()
	f := e.find(r)
	v := e.byMode(mode, f)
	if f.class == readInside && (mode == AskMode || mode == AutoEdit) && e.opts.AskReads != nil && e.opts.AskReads(r) {
		v.Decision, v.Reason = Ask, "this toolset asks before it reads"
	}
	if d, why, ok := decide(rules, r, f); ok {
		v.Decision, v.Rule, v.By = d, why.Name(), convo.ByRule
		v.Reason = ruleReason(d, why, f)
	}
	v.Risk = risk(r.Spec, f)
	v.Reads = f.class <= execReads && !f.net
	v.Parts = f.parts
	if v.Decision == Ask {
		v.Covers = suggest(r, f)
	}
	v.Grant = e.grant(mode, v, f)
	return v
}

func (e *Engine) confined() bool { return e.opts.Confined != nil && e.opts.Confined() }

// byMode is the verdict of the matrix.
func (e *Engine) byMode(mode Mode, f finding) Verdict {
	row := mode
	if mode == Auto && matrix[Auto][f.class] != matrix[autoOpen][f.class] && !e.confined() {
		row = autoOpen
	}
	v := Verdict{Decision: matrix[row][f.class], By: convo.ByMode, Rule: "mode " + string(row)}
	v.Reason = fmt.Sprintf("it %s", f.class)
	if f.why != "" {
		v.Reason = f.why
	}
	if v.Decision != Allow {
		v.Reason += fmt.Sprintf("; mode %s says %s", row, v.Decision)
	}
	return v
}

func ruleReason(d Decision, r Rule, f finding) string {
	reason := fmt.Sprintf("rule %s says %s", r.Name(), d)
	if r.Why != "" {
		reason += ": " + r.Why
	}
	if d == Ask && f.why != "" {
		reason += "; " + f.why
	}
	return reason
}

// grant is what the call may touch if it runs. It never widens what was shown:
// the paths are those of the plan, and what the mode lets through because the
// jail holds it gets no network.
func (e *Engine) grant(mode Mode, v Verdict, f finding) tool.Grant {
	unseen := v.Decision == Allow && v.By == convo.ByMode
	g := tool.Grant{Net: f.net && !(unseen && f.class == mustAsk), Read: f.readsOutside, Write: f.writesOutside}
	if mode == Yolo {
		g.Unconfined, g.Net = true, true
	}
	return g
}

// risk is what the prompt shows: what the call would do, never less than what
// the tool says of itself.
func risk(s tool.Spec, f finding) tool.Risk {
	byClass := [...]tool.Risk{
		readInside: tool.Safe, execReads: tool.Low, writeInside: tool.Medium, execWrites: tool.Medium,
		network: tool.High, mustAsk: tool.High, danger: tool.High,
	}[f.class]
	if s.Has(tool.Exec) {
		return byClass // the command says more than the tool's own word
	}
	return max(byClass, s.Risk)
}

// Scope is how far an answer of the person reaches.
type Scope string

const (
	Once    Scope = "once"
	Session Scope = "session"
	Always  Scope = "always"
)

// Learn remembers that a request was allowed: Once forgets, Session keeps it
// for this session, Always keeps it for good. It gives back the rules it wrote.
func (e *Engine) Learn(ctx context.Context, r Request, s Scope) ([]string, error) {
	if s == Once || s == "" {
		return nil, nil
	}
	texts := suggest(r, e.find(r))
	if len(texts) == 0 {
		return nil, fmt.Errorf("nothing narrow enough to remember for %s: it is allowed this once", r.Spec.Name)
	}
	learnt, err := parseAll(texts, s)
	if err != nil {
		return nil, err
	}
	if err := e.remember(ctx, learnt, s); err != nil {
		return nil, err
	}
	return texts, nil
}

// LearnAs remembers a request as the person wrote it, in rules of their own.
// Rules that do not cover the whole request, with those in force, are refused
// with *NotCovered, and nothing is remembered.
func (e *Engine) LearnAs(ctx context.Context, r Request, s Scope, texts []string) ([]string, error) {
	learnt, err := parseAll(texts, s)
	if err != nil {
		return nil, &NotCovered{err}
	}
	for _, rule := range learnt {
		if err := rule.Suits(r.Spec); err != nil {
			return nil, &NotCovered{err}
		}
	}
	_, rules := e.snapshot()
	if _, ok := allowedBy(slices.Concat(rules, learnt), r, e.find(r)); !ok {
		return nil, &NotCovered{fmt.Errorf("%s does not cover this call of %s", strings.Join(texts, ", "), r.Spec.Name)}
	}
	if s == Once || s == "" {
		return nil, nil
	}
	if err := e.remember(ctx, learnt, s); err != nil {
		return nil, err
	}
	return texts, nil
}

// NotCovered says that rules of the person are none, or do not cover the call
// they were written for.
type NotCovered struct{ Err error }

func (n *NotCovered) Error() string { return n.Err.Error() }

func (n *NotCovered) Unwrap() error { return n.Err }

func parseAll(texts []string, s Scope) ([]Rule, error) {
	var rules []Rule
	for _, t := range texts {
		rule, err := ParseRule(Allow, t)
		if err != nil {
			return nil, fmt.Errorf("remembering %s: %w", t, err)
		}
		rule.Source = string(s)
		rules = append(rules, rule)
	}
	return rules, nil
}

// remember puts rules in force, and keeps them where they shall hold for good.
func (e *Engine) remember(ctx context.Context, learnt []Rule, s Scope) error {
	if s == Always && e.opts.Rules != nil {
		for _, rule := range learnt {
			if err := e.opts.Rules.Save(ctx, rule); err != nil {
				return fmt.Errorf("remembering %s: %w", rule.Text, err)
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rules = append(slices.Clip(e.rules), learnt...)
	return nil
}

// Add puts further rules in force, as a file or a flag gives them.
func (e *Engine) Add(rules ...Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rules = append(slices.Clip(e.rules), rules...)
}

// Forget takes a rule out of force; it reports whether there was one.
func (e *Engine) Forget(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.rules)
	e.rules = slices.DeleteFunc(slices.Clone(e.rules), func(r Rule) bool { return strings.TrimSpace(text) == r.Text })
	return len(e.rules) < n
}

// Private reports whether a file may hold secrets, so that it is not shown unless
// it was named and allowed. In yolo nothing is.
func (e *Engine) Private(path string) bool { return e.Mode() != Yolo && e.sensitive(path) }

// Usual is what becomes of most calls of a tool in the mode in force, in one
// word for a listing: auto when they run unasked.
func (e *Engine) Usual(s tool.Spec) string {
	r := Request{Spec: s, Call: tool.Call{Name: s.Name}}
	switch {
	case s.Has(tool.Exec):
		return "by command"
	case s.Risk == tool.Safe && !s.Has(tool.Net):
		return "auto" // what it writes is the session's own
	}
	switch e.Judge(r).Decision {
	case Allow:
		return "auto"
	case Deny:
		return "deny"
	}
	return "ask"
}
