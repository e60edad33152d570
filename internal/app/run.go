package app

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ikigai/internal/convo"
	"ikigai/internal/headless"
	"ikigai/internal/toolkit"
	"ikigai/internal/tui/draw"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "run [flags] [PROMPT] [-]",
		Short: "Do one prompt without a screen",
		Long: `Do one prompt without a screen.

Without PROMPT standard input is the prompt. With PROMPT and a final -, standard
input is appended: git diff | ikigai run "review this" -

A picture that the prompt mentions goes with it: ikigai run "what is on @shot.png?"
PNG, JPEG, GIF or WebP, at most 5 MB.`,
	}
	settingFlags(c)
	c.Flags().Bool("trust", false, "trust this project for this run")
	c.Flags().String("session", "", "go on in this session")
	c.Flags().Bool("continue", false, "go on in the newest session of this folder")
	c.RunE = func(c *cobra.Command, args []string) error { return a.run(c, args) }
	return c
}

func (a *app) run(c *cobra.Command, args []string) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	trusted := a.trusts(c, dir)
	cfg, err := a.settings(c, dir, trusted)
	if err != nil {
		return err
	}
	o := headless.Options{
		Format: headless.Format(cfg.Screen.Output), Quiet: cfg.Screen.Quiet, Verbose: cfg.Screen.Verbose,
		Out: a.env.Stdout, Err: a.env.Stderr, Stopped: a.env.Signals,
		Paint: draw.Chosen(a.variable, cfg.Screen.Color, isTerminal(a.env.Stderr)).Line,
	}
	prompt, err := a.prompt(args)
	if err != nil {
		return a.faulty(o, err)
	}
	h, err := a.build(c.Context(), cfg, dir, whichOf(c, prompt, trusted))
	if err != nil {
		return a.faulty(o, err)
	}
	o.Session = h.id
	o.Init = func() headless.Init {
		return headless.Init{Model: cfg.Model, Mode: string(h.permit.Mode()), Cwd: dir, Tools: h.names(c.Context()), Sandbox: h.layers()}
	}
	o.Flush = func() error { return h.store.Flush(context.Background()) }
	o.Head = func() string { return a.head(h) }
	a.code = a.serve(c.Context(), h, prompt, o)
	a.sumUp(c.Context(), h, o)
	return h.close()
}

// serve runs the session's engine beside the face until the face is done.
func (a *app) serve(ctx context.Context, h *house, prompt string, o headless.Options) int {
	ctx, cancel := context.WithCancel(ctx)
	s := a.agent(h)
	h.stored = nil // the engine has them, as long as it wants them
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.Run(ctx) // its errors are events
	}()
	code := headless.Run(context.WithoutCancel(ctx), showing{s, h.dir}, h.last, prompt, o)
	cancel()
	<-over
	return code
}

// whichOf reads which session a run is about.
func whichOf(c *cobra.Command, prompt string, trusted bool) which {
	id, _ := c.Flags().GetString("session")
	newest, _ := c.Flags().GetBool("continue")
	return which{id: id, newest: newest, title: toolkit.FirstLine(prompt), trusted: trusted}
}

// head is the hash of the last stored event; empty where nothing is stored.
func (a *app) head(h *house) string {
	if h.cfg.Ephemeral {
		return ""
	}
	head, err := h.store.Head(context.Background(), h.id)
	if err != nil {
		return ""
	}
	return head
}

// names are the tools a model is offered at the start.
func (h *house) names(ctx context.Context) []string {
	_ = h.ready(ctx) // the end of ctx ends the run as well
	return h.offeredNames()
}

func (h *house) offeredNames() []string {
	names := []string{}
	for _, s := range h.offered(h.tools.Current()) {
		names = append(names, s.Name)
	}
	return names
}

// faulty prints an error in the format of the run.
func (a *app) faulty(o headless.Options, err error) error {
	var f *fault
	if !errors.As(err, &f) || o.Format == headless.Text {
		return err
	}
	class := map[int]string{headless.ExitUsage: "usage", headless.ExitConfig: "config"}[f.code]
	a.code = headless.Fault(o, convo.Error{Class: class, Text: f.text, Hint: f.hint}, f.code)
	return nil
}

// prompt is what was asked: the words, standard input, or both.
func (a *app) prompt(args []string) (string, error) {
	read := len(args) == 0
	if n := len(args); n > 0 && args[n-1] == "-" {
		args, read = args[:n-1], true
	}
	if len(args) > 1 {
		return "", usage(`put it in quotes: ikigai run "..."`, "the prompt is %d words", len(args))
	}
	parts := args
	if read {
		text, err := io.ReadAll(io.LimitReader(a.env.Stdin, 16<<20))
		if err != nil {
			return "", &fault{headless.ExitUsage, "reading the prompt from standard input: " + err.Error(), `give it as an argument: ikigai run "..."`}
		}
		parts = append(parts, string(text))
	}
	prompt := strings.TrimSpace(strings.Join(parts, "\n\n"))
	if prompt == "" {
		return "", usage(`ikigai run "what shall be done"`, "the prompt is empty")
	}
	return prompt, nil
}
