package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/dialect"
	"ikigai/internal/dialect/wire"
	"ikigai/internal/headless"
	"ikigai/internal/provider"
	"ikigai/internal/tool"
)

func (a *app) debugDecodeCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "decode --dialect D [--status N]", Short: "Decode a provider's response into events", Args: cobra.NoArgs,
		Long: `Decode a provider's response on standard input (SSE, NDJSON, JSON or a JSON list,
told by its first bytes) into events, one JSON object a line: text, thinking,
tool_call, then finish, usage and error.`,
	}
	name := c.Flags().String("dialect", "", "the wire format: "+formatNames())
	status := c.Flags().Int("status", 200, "the HTTP status of the response")
	c.RunE = func(*cobra.Command, []string) error {
		f, err := formatOf(*name)
		if err != nil {
			return err
		}
		if *status < 100 || *status > 599 {
			return usage("it is a number such as 200 or 429", "--status %d is no HTTP status", *status)
		}
		if err := wire.Decode(f, *status, a.env.Stdin, a.env.Stdout); err != nil {
			return &fault{headless.ExitFailure, err.Error(), ""}
		}
		return nil
	}
	return c
}

func (a *app) debugEncodeCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "encode --dialect D --model M [--tools FILE]", Short: "Encode a stored conversation as a provider would get it", Args: cobra.NoArgs,
		Long: `Encode stored events on standard input, one {"kind","content","data_json","keep"} a
line as ikigai session show --jsonl prints them, into the request body that would
be sent. What had to be mended is said on standard error.`,
	}
	name := c.Flags().String("dialect", "", "the wire format: "+formatNames())
	model := c.Flags().String("model", "", "the model's name on the wire")
	file := c.Flags().String("tools", "", "the tools to offer, as for debug args")
	c.RunE = func(*cobra.Command, []string) error {
		f, err := formatOf(*name)
		if err != nil {
			return err
		}
		if *model == "" {
			return usage("ikigai debug encode --dialect D --model M < events.jsonl", "--model is missing")
		}
		var specs []tool.Spec
		if *file != "" {
			if specs, err = a.readSpecs(*file); err != nil {
				return err
			}
		}
		return a.encode(f, *model, specs)
	}
	return c
}

func (a *app) encode(f dialect.Format, model string, specs []tool.Spec) error {
	body, err := wire.Encode(f, model, specs, a.env.Stdin)
	if err != nil {
		return &fault{headless.ExitFailure, err.Error(), "ikigai session show --jsonl ID prints events in the right form"}
	}
	for _, n := range body.Notices {
		fmt.Fprintf(a.env.Stderr, "note: %s\n", clean.Line(n))
	}
	_, err = fmt.Fprintf(a.env.Stdout, "%s\n", body.Bytes())
	return err
}

// formatOf finds a wire format by either of its names.
func formatOf(name string) (dialect.Format, error) {
	if name == "" {
		return dialect.Format{}, usage("it is one of "+formatNames(), "--dialect is missing")
	}
	if f, ok := wire.Find(name); ok {
		return f, nil
	}
	var known []string
	for _, f := range wire.Formats() {
		known = append(known, f.Name, f.Wire)
	}
	return dialect.Format{}, usage("it is one of "+formatNames(), "%s", unknownWord("there is no dialect", name, known))
}

func formatNames() string { return strings.Join(provider.Dialects(), ", ") }
