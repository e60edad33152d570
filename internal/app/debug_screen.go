package app

import (
	"errors"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
)

func (a *app) debugScreenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "screen", Short: "Show what a terminal and a model get of a text", Args: cobra.NoArgs,
		Long: `Show what a terminal and a model get of a text that we did not write.

  {"id","where":"block"|"line","raw"} -> {"id","shown","model"}`,
		RunE: func(*cobra.Command, []string) error { return a.eachLine(show) },
	}
}

type screenAnswer struct {
	Shown string `json:"shown"`
	Model string `json:"model"`
}

var screens = map[string]func(string) string{"block": clean.Block, "line": clean.Line}

func show(r row) (any, error) {
	where, err := r.text("where")
	if err != nil {
		return nil, err
	}
	filter, ok := screens[where]
	if !ok {
		return nil, errors.New(unknownWord("there is no where", where, []string{"block", "line"}))
	}
	raw, err := r.text("raw")
	if err != nil {
		return nil, err
	}
	return screenAnswer{filter(raw), clean.Model(raw)}, nil
}
