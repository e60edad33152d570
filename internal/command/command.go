// Package command holds the slash commands, one file each and one line in
// all.go. A command is local: no model hears of it. It asks the session and the
// functions of Env, never an adapter, and what it shows is recorded as an event.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/permit"
	"ikigai/internal/spell"
	"ikigai/internal/store"
	"ikigai/internal/tool"
)

// A Command is one slash command.
type Command struct {
	Name string // without the slash
	Args string // how its arguments are written; empty when it takes none
	Help string // one line
	Run  func(ctx context.Context, env Env, args string) (string, error)
}

// Env is what commands work with. A function that is nil means that this
// version, or this face, cannot do it, and the command says so.
type Env struct {
	Send   func(agent.Op)
	Events func() []convo.Event // the conversation so far

	// Of the session.
	Tools   func(ctx context.Context) (*tool.Set, error) // waits for the search
	Refresh func(ctx context.Context) (Refreshed, error)
	Usual   func(tool.Spec) string // how calls of a tool are allowed, in a word
	Model   func() string
	Models  func(ctx context.Context) []string // those that could be used
	Mode    func() permit.Mode
	Effort  func() string
	Rules   func() []permit.Rule
	Context func(ctx context.Context) (shares []Share, window int) // what fills the model's window, in tokens
	Tasks   func(ctx context.Context) ([]Task, error)
	Jobs    func() []Job // that run in the background
	Stats   func(ctx context.Context) (string, error)

	Undo     func(turn int) // once the face has ended for it; 0 means the last turn
	Redo     func()
	Trust    func(ctx context.Context) (string, error)
	Export   func(ctx context.Context, form string) (string, error)
	Fork     func(ctx context.Context) (string, error)
	Sessions func(ctx context.Context) ([]store.Session, error)
	Resume   func(ctx context.Context, id string) error

	// Of the face.
	Copy  func(text string)
	Clear func()
	Quit  func()
	Again func() // the face ends, what was asked for is done, and it begins again
}

// Refreshed is what a new search for tools changed.
type Refreshed struct {
	Count                   int
	Added, Removed, Changed []string
	Problems                []tool.Problem
}

// ErrUnavailable says that a command cannot do its work here.
var ErrUnavailable = errors.New("not available in this version")

// ErrArgument says that a command was given something it does not know.
var ErrArgument = errors.New("invalid argument")

// An argument is an error about what was written behind a command.
type argument struct{ text string }

func (a *argument) Error() string   { return a.text }
func (a *argument) Is(e error) bool { return e == ErrArgument }

func wrong(format string, args ...any) error { return &argument{fmt.Sprintf(format, args...)} }

// Split reads a line that begins with a slash.
func Split(line string) (name, args string) {
	name, args, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "/"), " ")
	return name, strings.TrimSpace(args)
}

// Is reports whether a line is a command: a slash and a word. A path that
// happens to begin a prompt is none.
func Is(line string) bool {
	name, _ := Split(line)
	return strings.HasPrefix(line, "/") && name != "" && !strings.ContainsAny(name, "/.\\")
}

// Do runs a line that begins with a slash. An unknown command names the nearest.
func Do(ctx context.Context, env Env, line string) (string, error) {
	name, args := Split(line)
	c, ok := Find(name)
	if !ok {
		return "", unknown(name)
	}
	if c.Args == "" && args != "" {
		return "", wrong("/%s takes no arguments", c.Name)
	}
	text, err := c.Run(ctx, env, args)
	if errors.Is(err, ErrUnavailable) {
		return text, fmt.Errorf("/%s: %w", c.Name, err)
	}
	return text, err
}

func unknown(name string) error {
	hint := suggestion(name, Names())
	return wrong("There is no command /%s.%s /help lists them.", name, hint)
}

// suggestion names the nearest word there is, if one is near.
func suggestion(written string, known []string) string {
	if near := spell.Nearest(written, known); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}

// Find finds a command by its name.
func Find(name string) (Command, bool) {
	for _, c := range All() {
		if c.Name == name {
			return c, true
		}
	}
	return Command{}, false
}

// Names are the names of all commands.
func Names() []string {
	var names []string
	for _, c := range All() {
		names = append(names, c.Name)
	}
	return names
}
