package app

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/tool"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Show the settings, their file and what it may hold", Args: cobra.NoArgs}
	c.AddCommand(a.configShowCommand(), a.configPathCommand(), a.configSchemaCommand())
	return c
}

func (a *app) configShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "show", Short: "Show every setting in force and where it comes from", Args: cobra.NoArgs,
		Long: `Show every setting in force and where it comes from: the default, a file with its
line, a variable or a flag. The flags of ikigai run are taken too, to see what
they would change.`,
	}
	settingFlags(c)
	c.Flags().Bool("trust", false, "as if this project were trusted")
	c.Flags().Bool("json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := a.dir()
		if err != nil {
			return err
		}
		cfg, err := a.settings(c, dir, a.trusts(c, dir))
		if err != nil {
			return err
		}
		if asJSON, _ := c.Flags().GetBool("json"); asJSON {
			return a.printJSON(settingsOf(cfg))
		}
		return a.printSettings(settingsOf(cfg))
	}
	return c
}

type settingRow struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
	From  string `json:"from"`
}

type settingList struct {
	Settings []settingRow `json:"settings"`
	Files    []string     `json:"files"`   // that were read, in order
	Aliases  []string     `json:"aliases"` // variables of the seeds that were used
	Skipped  []string     `json:"skipped"` // what a project wanted to set that is not trusted
}

func settingsOf(cfg *config.Config) settingList {
	l := settingList{Files: append([]string{}, cfg.Read...), Aliases: append([]string{}, cfg.Aliases...), Skipped: append([]string{}, cfg.Skipped...)}
	for _, s := range config.Table() {
		l.Settings = append(l.Settings, settingRow{s.Key, withoutPassword(s.Value(&cfg.Settings)), cfg.Origin[s.Key]})
	}
	return l
}

// withoutPassword hides the password of an address, such as that of a store.
func withoutPassword(value any) any {
	text, ok := value.(string)
	if !ok || !strings.Contains(text, "://") {
		return value
	}
	u, err := url.Parse(text)
	if err != nil {
		return "(an address that cannot be read)"
	}
	if u.User == nil {
		return value
	}
	return u.Redacted()
}

func (a *app) printSettings(l settingList) error {
	w := tabwriter.NewWriter(a.env.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM")
	for _, s := range l.Settings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Key, settingText(s.Value), clean.Line(s.From))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, group := range []struct {
		title string
		lines []string
	}{
		{"files read, in order:", l.Files},
		{"variables of another program that were used:", l.Aliases},
		{"not set, because this project is not trusted (ikigai trust):", l.Skipped},
	} {
		if len(group.lines) > 0 {
			fmt.Fprintf(a.env.Stdout, "\n%s\n", group.title)
		}
		for _, line := range group.lines {
			fmt.Fprintf(a.env.Stdout, "  %s\n", clean.Line(line))
		}
	}
	return nil
}

// settingText is a value in one line, as the file would write it; what is not
// set is a dash.
func settingText(value any) string {
	switch v := value.(type) {
	case string:
		if v == "" {
			return "-"
		}
		return clean.Line(v)
	case []string:
		if len(v) == 0 {
			return "-"
		}
	}
	raw, err := tool.Encode(value)
	if err != nil {
		raw = json.RawMessage(fmt.Sprint(value))
	}
	return clean.Line(string(raw))
}

func (a *app) configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where your file of settings is", Args: cobra.NoArgs,
		Long: `Print where your file of settings is, whether or not it exists: $EDITOR "$(ikigai config path)"`,
		RunE: func(*cobra.Command, []string) error {
			file := a.places().File()
			if a.file != "" {
				file = a.under(a.file)
			}
			_, err := fmt.Fprintln(a.env.Stdout, file)
			return err
		},
	}
}

func (a *app) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of the file of settings", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			raw, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = a.env.Stdout.Write(raw)
			return err
		},
	}
}
