package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ikigai/internal/config"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Args: cobra.NoArgs,
		Long: `Print the manual page of all commands: ikigai man | man -l -`,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(a.env.Stdout, manual(c.Root()))
			return err
		},
	}
}

// manual is the whole manual as roff, made from the commands, the settings and
// the words below.
func manual(root *cobra.Command) string {
	p := &page{}
	p.macro("TH", "IKIGAI", "1", "", "ikigai "+Version, "User Commands")
	p.macro("nh") // a name that is cut at the end of a line cannot be copied
	p.macro("SH", "NAME")
	p.text("ikigai - " + strings.ToLower(root.Short[:1]) + root.Short[1:])
	p.macro("SH", "SYNOPSIS")
	p.example("ikigai [flags]\nikigai COMMAND [flags] [words]")
	p.macro("SH", "COMMANDS")
	eachCommand(root, func(c *cobra.Command) {
		if c != root && !c.Hidden && (c.Runnable() || c.HasSubCommands()) {
			p.command(c)
		}
	})
	p.macro("SH", "FLAGS OF EVERY COMMAND")
	root.PersistentFlags().VisitAll(p.flag)
	p.macro("SH", "SETTINGS")
	p.text("Each can be set in the file of settings, by a variable or by a flag; later wins.")
	for _, s := range config.Table() {
		p.setting(s)
	}
	for _, s := range manualSections {
		p.macro("SH", s.title)
		for _, i := range s.items {
			p.item(i[0], i[1])
		}
	}
	return p.String()
}

var manualSections = []struct {
	title string
	items [][2]string
}{
	{"FILES", [][2]string{
		{"$XDG_CONFIG_HOME/ikigai/config.json", "your settings: JSON with comments"},
		{".ikigai/config.json", "the settings of a project, in force once it is trusted"},
		{"$XDG_CONFIG_HOME/ikigai/policies.json", "remembered rules"},
		{"$XDG_CONFIG_HOME/ikigai/keys.json", "keys given to ikigai key set, readable by you alone"},
		{"$XDG_DATA_HOME/ikigai/", "sessions and snapshots"},
		{"~/.ikigai/tools/", "your own executable tools"},
	}},
	{"EXIT STATUS", [][2]string{
		{"0", "done"},
		{"1", "failure"},
		{"2", "wrong usage"},
		{"3", "finished, but a call was denied"},
		{"4", "a limit was reached"},
		{"5", "the key was refused"},
		{"6", "the provider cannot be reached"},
		{"7", "configuration"},
		{"130, 143", "interrupted, terminated"},
	}},
}

// A page collects roff.
type page struct{ strings.Builder }

func (p *page) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		p.WriteString(` "` + strings.ReplaceAll(roff(a), `"`, `\(dq`) + `"`)
	}
	p.WriteByte('\n')
}

// text is filled by the reader's terminal. A dot or a quote that begins a line
// would be taken for a macro.
func (p *page) text(s string) {
	for line := range strings.Lines(s) {
		line = roff(strings.TrimSuffix(line, "\n"))
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		fmt.Fprintln(p, line)
	}
}

// example stays as it is written.
func (p *page) example(s string) {
	p.macro("nf")
	p.text(s)
	p.macro("fi")
}

func (p *page) item(head, text string) {
	p.macro("TP")
	p.text(head)
	p.text(text)
}

func (p *page) command(c *cobra.Command) {
	p.macro("SS", c.UseLine())
	if c.Long == "" {
		p.text(c.Short)
	} else {
		p.example(c.Long)
	}
	c.LocalNonPersistentFlags().VisitAll(p.flag)
}

func (p *page) flag(f *pflag.Flag) {
	if f.Hidden || f.Name == "help" {
		return
	}
	head := "--" + f.Name
	if f.Value.Type() != "bool" {
		head += " " + strings.ToUpper(strings.TrimSuffix(f.Value.Type(), "Array"))
	}
	p.item(head, f.Usage)
}

func (p *page) setting(s config.Setting) {
	text := s.Doc
	if len(s.Allowed) > 0 {
		text += ": " + strings.Join(s.Allowed, ", ")
	}
	if s.Default != "" {
		text += " (default " + s.Default + ")"
	}
	names := s.Env
	if s.Flag != "" {
		names = append([]string{"--" + s.Flag}, names...)
	}
	p.item(s.Key, text)
	if len(names) > 0 {
		p.macro("br")
		p.text(strings.Join(names, ", "))
	}
}

// roff escapes what the formatter would take for its own. A hyphen is written
// so that a copied flag works.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
}
