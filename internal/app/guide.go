package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ikigai/internal/config"
	"ikigai/internal/headless"
	"ikigai/internal/spell"
)

// guide makes every wrong word on the command line an error that names the
// nearest right one and shows how the command is used, and lets a shell complete
// the right ones.
func (a *app) guide(root *cobra.Command) {
	a.complete(root)
	root.SetFlagErrorFunc(wrongFlag)
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return wrongCommand(c, args[0])
		}
		return nil
	}
	eachCommand(root, func(c *cobra.Command) {
		switch {
		case c == root:
		case c.HasSubCommands() && !c.Runnable():
			c.Args = root.Args
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		case c.HasSubCommands():
			c.Args = root.Args
		case c.Args != nil:
			c.Args = explained(c.Args)
		}
	})
}

func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, do)
	}
}

func wrongCommand(c *cobra.Command, word string) error {
	var known []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			known = append(known, sub.Name())
		}
	}
	hint := c.CommandPath() + " --help lists the commands"
	if c.Root() == c {
		hint += `; a prompt is given with ikigai run "..."`
	}
	return usage(hint, "%s", unknownWord("there is no command "+c.CommandPath(), word, known))
}

// wrongFlag names the nearest flag of the very command.
func wrongFlag(c *cobra.Command, err error) error {
	text := err.Error()
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		text = unknownWord(c.CommandPath()+" has no flag", "--"+unknown.GetSpecifiedName(), known)
	}
	return usage(c.CommandPath()+" --help lists its flags", "%s", text)
}

// settingFault is an error about a setting. A wrong value of a flag is wrong
// usage; one of a file or a variable is configuration.
func settingFault(e *config.Error) *fault {
	if strings.HasPrefix(e.Where, "--") {
		return &fault{headless.ExitUsage, e.Error(), "ikigai run --help lists the flags and their values"}
	}
	return &fault{headless.ExitConfig, e.Error(), "ikigai config show lists the settings, ikigai config schema what is allowed"}
}

// explained says for which command the number of words is wrong.
func explained(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil {
			return nil
		}
		text := err.Error()
		if strings.HasPrefix(text, "unknown command") {
			text = fmt.Sprintf("takes no further words, but got %q", args[0])
		}
		return usage("usage: "+c.UseLine(), "%s %s", c.CommandPath(), text)
	}
}

// unknownWord is a sentence about a word that is not known, with the nearest one.
func unknownWord(what, given string, known []string) string {
	text := fmt.Sprintf("%s %s", what, given)
	if near := spell.DidYouMean(given, known); near != "" {
		return text + "; " + near
	}
	return text
}
