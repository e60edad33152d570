package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/provider"
	"ikigai/internal/provider/demo"
	"ikigai/internal/store"
)

// completers write what teaches a shell our words.
var completers = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print what teaches your shell to complete ikigai's words", ValidArgs: shells,
		Long: `Print what teaches your shell to complete ikigai's words: commands, flags and their
values, models, tools and sessions.

  bash        echo 'source <(ikigai completion bash)' >> ~/.bashrc
  zsh         ikigai completion zsh > "${fpath[1]}/_ikigai"
  fish        ikigai completion fish > ~/.config/fish/completions/ikigai.fish
  powershell  ikigai completion powershell | Out-String | Invoke-Expression`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return errors.New("needs one shell: " + strings.Join(shells, ", "))
			case !slices.Contains(shells, args[0]):
				return errors.New(unknownWord("does not know the shell", args[0], shells))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return completers[args[0]](c.Root(), a.env.Stdout) },
	}
}

// A wordList gives the words that may stand somewhere; a tab sets off what is
// said about one.
type wordList func(c *cobra.Command, begun string) []string

// complete tells cobra which words each command takes, as its arguments and as
// the values of its flags.
func (a *app) complete(root *cobra.Command) {
	arguments, values := a.argumentWords(), a.flagWords()
	eachCommand(root, func(c *cobra.Command) {
		completeArguments(c, arguments)
		completeFlags(c, values)
	})
}

func completeArguments(c *cobra.Command, arguments map[string]wordList) {
	if words, ok := arguments[c.CommandPath()]; ok {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return words(c, begun), cobra.ShellCompDirectiveNoFileComp
		}
	} else if c.ValidArgsFunction == nil && c.ValidArgs == nil {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
}

func completeFlags(c *cobra.Command, values map[string]wordList) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		words, ok := values[f.Name]
		if !ok || f.Value.Type() == "bool" {
			return
		}
		// The only error is that the flag has words already, and then it keeps them.
		_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
			if words == nil {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return words(c, begun), cobra.ShellCompDirectiveNoFileComp
		})
	})
}

// argumentWords are the words of commands that take a name.
func (a *app) argumentWords() map[string]wordList {
	return map[string]wordList{
		"ikigai tool show":      a.toolWords,
		"ikigai tool call":      a.toolWords,
		"ikigai policy check":   a.toolWords,
		"ikigai resume":         a.sessionWords,
		"ikigai session show":   a.sessionWords,
		"ikigai session rename": a.sessionWords,
		"ikigai session fork":   a.sessionWords,
		"ikigai session export": a.sessionWords,
		"ikigai session rm":     a.sessionWords,
		"ikigai models probe":   a.modelWords,
		"ikigai key set":        fixed(provider.Names()),
		"ikigai key rm":         fixed(provider.Names()),
	}
}

// flagWords are the values of flags by name; nil means folders.
func (a *app) flagWords() map[string]wordList {
	words := map[string]wordList{
		"model": a.modelWords, "session": a.sessionWords, "tool": a.toolWords,
		"toolset": fixed([]string{"default", "ikigai", "localharness", "swebash"}),
		"cwd":     nil, "add-dir": nil, "tool-dir": nil, "root": nil,
		"dialect": fixed(provider.Dialects()),
	}
	for _, s := range config.Table() {
		if s.Flag != "" && len(s.Allowed) > 0 {
			words[s.Flag] = fixed(s.Allowed)
		}
	}
	return words
}

func fixed(words []string) wordList {
	return func(*cobra.Command, string) []string { return words }
}

// modelWords are the models of the catalogue and those of servers on this
// machine. No key is looked for.
func (a *app) modelWords(c *cobra.Command, begun string) []string {
	all := []string{demo.Name + "\toffline, built in"}
	getenv := func(name string) string { v, _ := a.getenv(name); return v }
	for _, p := range provider.List(contextOf(c), provider.ListOptions{Getenv: getenv, Timeout: 300 * time.Millisecond}) {
		for _, m := range p.Models {
			all = append(all, clean.Line(m))
		}
	}
	return beginning(all, begun)
}

func (a *app) toolWords(c *cobra.Command, begun string) []string {
	dir, err := a.dir()
	if err != nil {
		return nil
	}
	cfg, err := a.settings(c, dir, false) // completing a word enables nothing of a project
	if err != nil {
		return nil
	}
	h, err := a.build(contextOf(c), cfg, dir, which{nothing: true})
	if err != nil {
		return nil
	}
	defer h.close() // nothing was kept in it
	var all []string
	for _, s := range h.offered(h.tools.Current()) {
		first, _, _ := strings.Cut(s.Description, ".")
		all = append(all, clean.Line(s.Name)+"\t"+clean.Line(first))
	}
	return beginning(all, begun)
}

// sessionWords are the sessions of this folder.
func (a *app) sessionWords(c *cobra.Command, begun string) []string {
	var all []string
	err := a.withStore(c, func(ctx context.Context, s store.Store, dir string) error {
		list, err := collect(ctx, s, dir)
		for _, one := range list {
			all = append(all, one.ID+"\t"+clean.Line(one.Title))
		}
		return err
	})
	if err != nil {
		return nil // a shell that completes has nowhere to show an error
	}
	return beginning(all, begun)
}

// contextOf is the context of a command; one that only completes has none.
func contextOf(c *cobra.Command) context.Context {
	if ctx := c.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

func beginning(words []string, begun string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, begun) })
}
