package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/agent"
	"ikigai/internal/clean"
	"ikigai/internal/headless"
	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

func (a *app) toolCommand() *cobra.Command {
	c := &cobra.Command{Use: "tool", Short: "List, show and call tools", Args: cobra.NoArgs}
	c.AddCommand(
		a.toolListCommand(), a.toolShowCommand(), a.toolCallCommand(), a.toolCheckCommand(), a.toolNewCommand(), a.toolApproveCommand(),
	)
	return c
}

// toolFlags are the settings that decide which tools there are and what they may do.
var toolFlags = []string{"mode", "allow", "deny", "sandbox", "add-dir", "tool-dir", "toolset", "timeout"}

// withHouse builds a house for a command that needs no model.
func (a *app) withHouse(c *cobra.Command, do func(*house) error) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	trusted := a.trusts(c, dir)
	cfg, err := a.settings(c, dir, trusted)
	if err != nil {
		return err
	}
	h, err := a.build(c.Context(), cfg, dir, which{nothing: true, trusted: trusted})
	if err != nil {
		return err
	}
	if err = h.ready(c.Context()); err == nil {
		err = do(h)
	}
	if cerr := h.close(); err == nil {
		err = cerr
	}
	return err
}

func (a *app) toolListCommand() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List every tool", Args: cobra.NoArgs}
	settingFlags(c, toolFlags...)
	c.Flags().Bool("json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.withHouse(c, func(h *house) error {
			if asJSON, _ := c.Flags().GetBool("json"); asJSON {
				return a.printJSON(listing(h))
			}
			return a.printTools(listing(h))
		})
	}
	return c
}

type toolListing struct {
	Tools    []toolRow      `json:"tools"`
	Problems []tool.Problem `json:"problems"`
}

type toolRow struct {
	Name        string        `json:"name"`
	Source      string        `json:"source"`
	Path        string        `json:"path"`
	Risk        string        `json:"risk"`
	Effects     []tool.Effect `json:"effects"`
	SchemaBytes int           `json:"schema_bytes"`
	Aliases     []string      `json:"aliases"`
	Shadowed    []string      `json:"shadowed"`
	Allowed     string        `json:"allowed"`
}

func listing(h *house) toolListing {
	set := h.tools.Current()
	l := toolListing{Tools: []toolRow{}, Problems: append([]tool.Problem{}, set.Problems...)}
	names := h.set.Names()
	for _, s := range h.offered(set) {
		row := toolRow{
			Name: s.Name, Source: s.Origin.String(), Path: s.Path, Risk: s.Risk.String(), Effects: append([]tool.Effect{}, s.Effects...),
			SchemaBytes: len(wireForm(s)), Aliases: append([]string{}, names[s.Name]...), Shadowed: []string{}, Allowed: h.permit.Usual(s),
		}
		for _, x := range set.Shadowed(s.Name) {
			row.Shadowed = append(row.Shadowed, x.Origin.String())
		}
		l.Tools = append(l.Tools, row)
	}
	return l
}

func (a *app) printTools(l toolListing) error {
	if len(l.Tools) == 0 {
		fmt.Fprintln(a.env.Stdout, "No tools available")
	}
	w := tabwriter.NewWriter(a.env.Stdout, 0, 4, 2, ' ', 0)
	if len(l.Tools) > 0 {
		fmt.Fprintln(w, "NAME\tSOURCE\tRISK\tALLOW\tBYTES\tEFFECTS")
	}
	for _, t := range l.Tools {
		var effects []string
		for _, e := range t.Effects {
			effects = append(effects, string(e))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", clean.Line(t.Name), t.Source, strings.ToUpper(t.Risk), t.Allowed, t.SchemaBytes, strings.Join(effects, ","))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range l.Problems {
		fmt.Fprintf(a.env.Stdout, "! %s: %s (%s)\n", clean.Line(p.Path), p.Reason, clean.Line(p.Detail))
	}
	return nil
}

func (a *app) toolShowCommand() *cobra.Command {
	c := &cobra.Command{Use: "show NAME", Short: "Show the whole schema of a tool", Args: cobra.ExactArgs(1)}
	settingFlags(c, toolFlags...)
	c.Flags().Bool("json", false, "print the schema")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.withHouse(c, func(h *house) error {
			t, ok := h.tools.Current().Lookup(args[0])
			if !ok {
				return usage("ikigai tool list names all", "%s", tool.NotFound(args[0], h.offeredNames()).Text)
			}
			if asJSON, _ := c.Flags().GetBool("json"); asJSON {
				fmt.Fprintf(a.env.Stdout, "%s\n", wireForm(t.Spec()))
				return nil
			}
			a.printTool(t.Spec())
			return nil
		})
	}
	return c
}

// wireForm is what a model reads of a tool.
func wireForm(s tool.Spec) json.RawMessage {
	raw, err := tool.Encode(struct {
		Name        string        `json:"name"`
		Description string        `json:"description"`
		Parameters  schema.Object `json:"parameters"`
	}{s.Name, s.Description, s.Parameters})
	if err != nil {
		return json.RawMessage("null") // a schema that was read can be written
	}
	return raw
}

func (a *app) printTool(s tool.Spec) {
	out := a.env.Stdout
	fmt.Fprintf(out, "Tool: %s (%s)\nDescription: %s\nRisk: %s\n", clean.Line(s.Name), s.Origin, clean.Line(s.Description), s.Risk)
	if s.Path != "" {
		fmt.Fprintf(out, "Program: %s\n", clean.Line(s.Path))
	}
	fmt.Fprintln(out, "Parameters:")
	for _, p := range s.Parameters.Properties() {
		need := "optional"
		if p.Required {
			need = "required"
		}
		fmt.Fprintf(out, "  %s (%s, %s): %s\n", clean.Line(p.Name), p.Type, need, clean.Line(p.Description))
	}
}

func (a *app) toolCallCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "call [flags] NAME [JSON|-]", Short: "Run one call by the same road as a model's call", Args: cobra.RangeArgs(1, 2),
	}
	settingFlags(c, toolFlags...)
	c.Flags().Bool("trust", false, "trust this project for this call")
	c.Flags().SetInterspersed(false)
	c.RunE = func(c *cobra.Command, args []string) error {
		raw, err := a.arguments(args[1:])
		if err != nil {
			return err
		}
		return a.withHouse(c, func(h *house) error { return a.call(c.Context(), h, args[0], raw) })
	}
	return c
}

// arguments are the JSON of a call: an argument, or standard input.
func (a *app) arguments(args []string) (json.RawMessage, error) {
	switch {
	case len(args) == 0:
		return json.RawMessage("{}"), nil
	case args[0] != "-":
		return json.RawMessage(args[0]), nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.env.Stdin, schema.MaxSize+1))
	if err != nil {
		return nil, &fault{headless.ExitUsage, "reading the arguments from standard input: " + err.Error(), ""}
	}
	return raw, nil
}

// call runs one call and prints its envelope.
func (a *app) call(ctx context.Context, h *house, name string, raw json.RawMessage) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan int, 1)
	go func() {
		select {
		case code := <-a.env.Signals:
			stopped <- code
			cancel()
		case <-ctx.Done():
		}
	}()
	call := tool.Call{ID: "call_1", Name: name, Args: raw}
	r, denied := agent.One(ctx, call, h.tools.Current(), h.offered(h.tools.Current()), h.place(), h.permit, time.Now, func(chunk string) { io.WriteString(a.env.Stderr, clean.Block(chunk)) })
	envelope := []byte(r.Envelope())
	if hide := a.redactor(); hide != nil {
		envelope = hide.JSON(envelope)
	}
	fmt.Fprintf(a.env.Stdout, "%s\n", envelope)
	switch {
	case len(stopped) > 0:
		a.code = <-stopped
	case denied:
		a.code = headless.ExitDenied
	case r.Failure != nil && r.Failure.Code == tool.ToolNotFound:
		a.code = headless.ExitUsage
	case r.Failure != nil:
		a.code = headless.ExitFailure
	}
	return nil
}

func (a *app) printJSON(v any) error {
	raw, err := tool.Encode(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%s\n", raw)
	return err
}
