package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/headless"
	"ikigai/internal/llm"
	"ikigai/internal/provider"
	"ikigai/internal/provider/demo"
)

func (a *app) modelsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "models", Short: "List providers and models: what is usable now, and what is missing for the others", Args: cobra.NoArgs,
		Long: `List providers and models: what is usable now, and what is missing for the others.
Servers on this machine are asked what they offer; nothing else is dialled.`,
	}
	c.Flags().Bool("json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := a.plainSettings(c)
		if err != nil {
			return err
		}
		l := a.modelList(c.Context(), cfg)
		if asJSON, _ := c.Flags().GetBool("json"); asJSON {
			return a.printJSON(l)
		}
		return a.printModels(l)
	}
	c.AddCommand(a.modelsProbeCommand())
	return c
}

// plainSettings are the settings of a command that needs no house.
func (a *app) plainSettings(c *cobra.Command) (*config.Config, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	return a.settings(c, dir, a.trusts(c, dir))
}

type modelList struct {
	Model     string            `json:"model"`      // the one in use
	ModelFrom string            `json:"model_from"` // and who says so
	Catalogue string            `json:"catalogue"`  // the date of what is known of hosted models
	Providers []provider.Status `json:"providers"`
}

func (a *app) modelList(ctx context.Context, cfg *config.Config) modelList {
	o := a.providerOptions(cfg, cfg.Model, nil)
	base := map[string]string{}
	if name, _, ok := strings.Cut(cfg.Model, "/"); ok {
		base[name] = cfg.BaseURL
	}
	l := modelList{Model: cfg.Model, ModelFrom: cfg.Origin["model"], Catalogue: provider.Builtin().Date}
	l.Providers = provider.List(ctx, provider.ListOptions{Keys: o.Keys, Getenv: o.Getenv, Network: o.Network, Base: base})
	l.Providers = append(l.Providers, provider.Status{Provider: demo.Name, Local: true, Usable: true, Models: []string{demo.Name}})
	return l
}

func (a *app) printModels(l modelList) error {
	w := tabwriter.NewWriter(a.env.Stdout, 0, 4, 2, ' ', 0)
	for _, p := range l.Providers {
		fmt.Fprintf(w, "%s\t%s\n", p.Provider, clean.Line(stateOf(p)))
		for _, m := range p.Models {
			fmt.Fprintf(w, "  %s\t%s\n", clean.Line(m), facts(provider.Lookup(m)))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.env.Stdout, "\nhosted models as known on %s; any other name is used all the same, with cautious limits\n", l.Catalogue)
	if l.Model == "" {
		fmt.Fprintln(a.env.Stdout, "no model is chosen: give --model PROVIDER/MODEL, or set model in "+clean.Line(a.places().File()))
		return nil
	}
	fmt.Fprintf(a.env.Stdout, "in use: %s (%s)\n", clean.Line(l.Model), clean.Line(l.ModelFrom))
	return nil
}

func stateOf(p provider.Status) string {
	switch {
	case p.Provider == demo.Name:
		return "usable, built in and offline"
	case !p.Usable:
		return "not yet: " + p.Missing
	case p.KeyFrom != "":
		return "usable, with the key from " + p.KeyFrom
	}
	return "usable at " + p.Address
}

// facts are what the catalogue knows of a model, in a few words.
func facts(m provider.Info) string {
	if !m.Known {
		return ""
	}
	words := []string{fmt.Sprintf("%dk window", m.Window/1000)}
	if m.Price != nil {
		words = append(words, fmt.Sprintf("$%g in, $%g out per million", m.Price.In, m.Price.Out))
	}
	if m.Thinking {
		words = append(words, "thinks")
	}
	return strings.Join(words, ", ")
}

func (a *app) modelsProbeCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "probe MODEL", Short: "Ask a live endpoint a few small questions", Args: cobra.ExactArgs(1),
		Long: `Ask a live endpoint a few small questions: does it stream, count its tokens, call
tools, several at once, and understand their results? What it refuses is left out
from then on, for all models at that address. The exit code is 1 when an answer is no.`,
	}
	settingFlags(c, "base-url", "dialect")
	c.Flags().Bool("json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := a.plainSettings(c)
		if err != nil {
			return err
		}
		if args[0] == demo.Name {
			return usage("ikigai run --model demo works at once", "demo is built in: there is nothing to probe")
		}
		asJSON, _ := c.Flags().GetBool("json")
		return a.interruptible(c.Context(), func(ctx context.Context) error { return a.probe(ctx, cfg, args[0], asJSON) })
	}
	return c
}

func (a *app) probe(ctx context.Context, cfg *config.Config, model string, asJSON bool) error {
	o := a.providerOptions(cfg, model, nil)
	o.Quirks = nil // what was learnt before is asked anew
	report, err := provider.Probe(ctx, o)
	if err != nil {
		return modelFault(err)
	}
	learned, err := a.learn(a.endpoint(cfg, model), report.Quirks)
	if err != nil {
		fmt.Fprintf(a.env.Stderr, "note: what was found is not remembered: %v\n", err)
	}
	for _, f := range report.Findings {
		if !f.OK {
			a.code = headless.ExitFailure
		}
	}
	if asJSON {
		return a.printJSON(report)
	}
	return a.printReport(report, learned)
}

func (a *app) printReport(r provider.Report, learned bool) error {
	out := a.env.Stdout
	fmt.Fprintf(out, "%s at %s, spoken to as %s\n", clean.Line(r.Model), clean.Line(r.Address), r.Dialect)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, f := range r.Findings {
		word := "yes"
		if !f.OK {
			word = "no"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", word, f.Name, clean.Line(f.Detail))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if learned {
		fmt.Fprintln(out, "it differs from its format; that is remembered and used from now on")
	}
	return nil
}

// providerOptions say how to reach a model with these settings.
func (a *app) providerOptions(cfg *config.Config, model string, notice func(text, hint string)) provider.Options {
	return provider.Options{
		Model: model, BaseURL: cfg.BaseURL, BaseFrom: cfg.Origin["base_url"], Dialect: cfg.Dialect,
		Keys: a.keys, Getenv: func(name string) string { v, _ := a.getenv(name); return v },
		Notice:  notice,
		Quirks:  a.quirks(a.endpoint(cfg, model)),
		Network: provider.Network{CA: caFiles(cfg.Network.CAFile)},
		Deadlines: provider.Deadlines{
			Connect: cfg.Network.Connect, FirstEvent: cfg.Network.FirstEvent, Idle: cfg.Network.Idle,
		},
	}
}

// modelFault is an error of a provider with its exit code.
func modelFault(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return &fault{headless.ExitFailure, err.Error(), ""}
	}
	codes := map[llm.Class]int{
		llm.Auth: headless.ExitAuth, llm.Unreachable: headless.ExitUnreachable, llm.Timeout: headless.ExitUnreachable, llm.Config: headless.ExitConfig,
	}
	code, ok := codes[e.Class]
	if !ok {
		code = headless.ExitFailure
	}
	return &fault{code, clean.Line(e.Error()), clean.Line(e.Hint)}
}

// interruptible does something until a signal comes; its exit code is then ours.
func (a *app) interruptible(ctx context.Context, do func(context.Context) error) error {
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
	err := do(ctx)
	select {
	case a.code = <-stopped:
		return nil
	default:
		return err
	}
}
