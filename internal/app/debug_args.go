package app

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

func (a *app) debugArgsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "args --schemas FILE", Short: "Read the arguments of calls as a tool would", Args: cobra.NoArgs,
		Long: `Read the arguments of calls as a tool would: mend what has one meaning, refuse the rest.

  {"id","tool","raw"} -> {"id","outcome","args","reason"}

The outcomes: ok, repaired (args is the value to run with), validation_failed, parse_error.
FILE holds the tools: a JSON list of {"name","description","parameters"}, or one such object after another.`,
	}
	file := c.Flags().String("schemas", "", "the tools and their parameters")
	c.RunE = func(*cobra.Command, []string) error {
		if *file == "" {
			return usage("ikigai debug args --schemas FILE < calls.jsonl", "--schemas is missing")
		}
		specs, err := a.readSpecs(*file)
		if err != nil {
			return err
		}
		return a.eachLine(func(r row) (any, error) { return readArgs(r, specs) })
	}
	return c
}

type argsAnswer struct {
	Outcome string          `json:"outcome"`
	Args    json.RawMessage `json:"args,omitempty"`
	Reason  string          `json:"reason,omitempty"`
}

func readArgs(r row, specs []tool.Spec) (any, error) {
	name, err := r.text("tool")
	if err != nil {
		return nil, err
	}
	raw, err := r.text("raw")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range specs {
		if s.Name == name {
			args, err := s.Parameters.Read([]byte(raw), unknownArguments(s))
			return outcomeOf(args, err), nil
		}
		names = append(names, s.Name)
	}
	return nil, errors.New(unknownWord("there is no tool", name, names))
}

func outcomeOf(args schema.Args, err error) argsAnswer {
	var parse *schema.ParseError
	switch {
	case errors.As(err, &parse):
		return argsAnswer{Outcome: "parse_error", Reason: err.Error()}
	case err != nil:
		return argsAnswer{Outcome: "validation_failed", Reason: err.Error()}
	}
	notes := args.Repairs
	for _, name := range args.Dropped {
		notes = append(notes, "unknown argument "+name+" was left out")
	}
	if len(notes) > 0 {
		return argsAnswer{"repaired", args.Value, strings.Join(notes, "; ")}
	}
	return argsAnswer{Outcome: "ok", Args: args.Value}
}

// unknownArguments says what becomes of arguments that the tool does not know.
// One that runs commands refuses them: who sent a limit that is silently left
// out would get more than was asked for.
func unknownArguments(s tool.Spec) schema.Unknown {
	for _, p := range s.Parameters.Properties() {
		if p.Format == "command" || p.Name == "command" {
			return schema.RefuseUnknown
		}
	}
	return schema.DropUnknown
}

// A specDocument is a tool as files write it: bare, in OpenAI's wrapper, or with
// the parameters under another vendor's name.
type specDocument struct {
	Name        string
	Description string
	Parameters  schema.Object
	InputSchema schema.Object `json:"input_schema"`
	Function    *specDocument
	Tools       []specDocument
}

func (d specDocument) specs() []tool.Spec {
	switch {
	case d.Function != nil:
		return d.Function.specs()
	case d.Name != "":
		if d.Parameters.Empty() {
			d.Parameters = d.InputSchema
		}
		return []tool.Spec{{Name: d.Name, Description: d.Description, Parameters: d.Parameters}}
	}
	var all []tool.Spec
	for _, t := range d.Tools {
		all = append(all, t.specs()...)
	}
	return all
}

// specDocuments is one document, or a list of them.
type specDocuments []specDocument

func (d *specDocuments) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]specDocument)(d))
	}
	*d = specDocuments{{}}
	return json.Unmarshal(raw, &(*d)[0])
}

// readSpecs reads a file of tools.
func (a *app) readSpecs(name string) ([]tool.Spec, error) {
	hint := `it holds a JSON list of {"name","description","parameters"}, as ikigai tool show --json prints them`
	f, err := os.Open(a.under(name))
	if err != nil {
		return nil, usage(hint, "reading the tools: %v", err)
	}
	defer f.Close()
	var specs []tool.Spec
	for d := json.NewDecoder(f); ; {
		var docs specDocuments
		err := d.Decode(&docs)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, usage(hint, "reading the tools of %s: %v", name, err)
		}
		for _, doc := range docs {
			specs = append(specs, doc.specs()...)
		}
	}
	if len(specs) == 0 {
		return nil, usage(hint, "%s holds no tool", name)
	}
	return specs, nil
}
