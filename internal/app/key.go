package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/headless"
	"ikigai/internal/provider"
	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

func (a *app) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "key", Short: "Keep or forget the key of a provider", Args: cobra.NoArgs,
		Long: `Keep or forget the key of a provider. A key in the environment comes before a kept
one. Keys are kept in a file that only you can read, and are never shown again.`,
	}
	c.AddCommand(a.keySetCommand(), a.keyRemoveCommand())
	return c
}

func (a *app) keySetCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "set PROVIDER", Short: "Keep a key, read from standard input, or the command that prints it", Args: oneProvider,
		Long: `Keep a key, read from standard input (hidden on a terminal), or the command that prints it:

  ikigai key set openai
  ikigai key set openai < key.txt
  ikigai key set openai --command 'pass show openai'`,
	}
	command := c.Flags().String("command", "", "run this when the key is needed, and take what it prints")
	other := c.Flags().Bool("other", false, "a provider that is not in the table, used with base_url and dialect")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := knownProvider(args[0], *other); err != nil {
			return err
		}
		key := config.Key{Command: strings.TrimSpace(*command)}
		if c.Flags().Changed("command") {
			if key.Command == "" {
				return usage("ikigai key set "+args[0]+" --command 'pass show "+args[0]+"'", "--command is empty")
			}
			return a.keep(args[0], key)
		}
		var err error
		if key.Key, err = a.readKey(args[0]); err != nil || a.code != 0 {
			return err
		}
		return a.keep(args[0], key)
	}
	return c
}

// oneProvider keeps keys out of the arguments, which other users of the machine
// can see and a shell remembers.
func oneProvider(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("needs the name of a provider: " + strings.Join(provider.Names(), ", "))
	case 1:
		return nil
	}
	return errors.New("takes the name alone: the key is read from standard input, so that no other user and no history of a shell sees it")
}

func knownProvider(name string, other bool) error {
	if _, ok := provider.Find(name); ok || other {
		return nil
	}
	return usage("known are "+strings.Join(provider.Names(), ", ")+"; --other takes any name", "%s", unknownWord("there is no provider", clean.Line(name), provider.Names()))
}

// keep writes the key file with one more key.
func (a *app) keep(name string, key config.Key) error {
	file := a.places().Keys()
	keys, err := config.ReadKeys(file)
	if err != nil {
		return keyFault(err)
	}
	keys[name] = key
	if err := keys.Save(file); err != nil {
		return keyFault(err)
	}
	what := "key"
	if key.Command != "" {
		what = "command"
	}
	fmt.Fprintf(a.env.Stdout, "kept the %s of %s in %s\n", what, name, file)
	row, _ := provider.Find(name)
	if _, from := a.keyVariable(row.KeyVars); from != "" {
		fmt.Fprintf(a.env.Stderr, "note: %s is set, and comes first\n", from)
	}
	return nil
}

// keyFault is an error about the key file, with the next step.
func keyFault(err error) error {
	var exposed *config.ExposedError
	if errors.As(err, &exposed) {
		return &fault{headless.ExitConfig, err.Error(), exposed.Fix()}
	}
	return &fault{headless.ExitConfig, err.Error(), "mend or delete it, then use ikigai key set again"}
}

// maxKey is longer than any key of any provider.
const maxKey = 16 << 10

// readKey reads a key from standard input. On a terminal nothing of it is shown.
func (a *app) readKey(name string) (string, error) {
	var raw []byte
	var err error
	if f, ok := a.env.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(a.env.Stderr, "key of %s (not shown): ", name)
		raw, err = a.readHidden(int(f.Fd()))
		fmt.Fprintln(a.env.Stderr)
	} else {
		raw, err = io.ReadAll(io.LimitReader(a.env.Stdin, maxKey+1))
	}
	if err != nil {
		return "", &fault{headless.ExitUsage, "reading the key from standard input: " + err.Error(), ""}
	}
	key := strings.TrimSpace(string(raw))
	hint := "ikigai key set " + name + " < FILE, or type it at the prompt"
	switch {
	case a.code != 0:
		return "", nil
	case key == "":
		return "", usage(hint, "the key is empty")
	case len(key) > maxKey, strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", usage(hint, "this is no key: a key is one word of plain characters")
	}
	return key, nil
}

// readHidden reads a line without an echo. A signal brings the echo back.
func (a *app) readHidden(fd int) ([]byte, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case a.code = <-a.env.Signals:
		return nil, term.Restore(fd, before)
	}
}

func (a *app) keyRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm PROVIDER", Short: "Forget a kept key", Args: oneProvider,
		RunE: func(_ *cobra.Command, args []string) error {
			file := a.places().Keys()
			keys, err := config.ReadKeys(file)
			if err != nil {
				return keyFault(err)
			}
			if _, ok := keys[args[0]]; !ok {
				var known []string
				for name := range keys {
					known = append(known, name)
				}
				return usage("ikigai doctor lists the keys that are found", "%s", unknownWord("there is no kept key of", clean.Line(args[0]), known))
			}
			delete(keys, args[0])
			if err := keys.Save(file); err != nil {
				return keyFault(err)
			}
			fmt.Fprintf(a.env.Stdout, "forgot the key of %s\n", args[0])
			return nil
		},
	}
}

// keys finds the key of a provider: in the environment, in the key file, or by
// the command that is kept there. It says where it found it.
func (a *app) keys(ctx context.Context, name string, vars []string) (key, from string, err error) {
	if key, from = a.keyVariable(vars); from != "" {
		return key, from, nil
	}
	keys, err := config.ReadKeys(a.places().Keys())
	if err != nil {
		return "", "", err
	}
	switch k := keys[name]; {
	case k.Key != "":
		return k.Key, "the key file", nil
	case k.Command != "":
		key, err = a.keyFrom(ctx, k.Command)
		return key, "the command of ikigai key set", err
	}
	return "", "", nil
}

// keptKeys are the keys of the file by provider, for taking them out of what is
// shown. A file that cannot be read gives none; whoever needs a key says why.
func (a *app) keptKeys() map[string]string {
	values := map[string]string{}
	keys, err := config.ReadKeys(a.places().Keys())
	if err != nil {
		return values
	}
	for name, k := range keys {
		if k.Key != "" {
			values[name] = k.Key
		}
	}
	return values
}

// keyVariable is the first variable that holds a key.
func (a *app) keyVariable(vars []string) (key, name string) {
	for _, v := range vars {
		if key, ok := a.getenv(v); ok && key != "" {
			return key, v
		}
	}
	return "", ""
}

// keyDeadline leaves time to unlock a key ring.
const keyDeadline = 60 * time.Second

// keyFrom runs the command that prints a key. It is the person's own, written by
// them into a file that only they can write, so it sees all of their environment
// and is not confined.
func (a *app) keyFrom(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyDeadline)
	defer cancel()
	exit, err := a.plainly(ctx, append(shellArgv(), command)...)
	if err != nil {
		return "", fmt.Errorf("starting the command that prints it: %w", err)
	}
	if exit.How != tool.Exited || exit.Code != 0 {
		return "", fmt.Errorf("the command that prints it ended with status %d: %s", exit.Code, clean.Line(strings.TrimSpace(string(exit.Stderr))))
	}
	key := strings.TrimSpace(string(exit.Stdout))
	if key == "" {
		return "", errors.New("the command that prints it printed nothing")
	}
	return key, nil
}

func shellArgv() []string {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/c"}
	}
	return []string{"sh", "-c"}
}

// plainly runs a program as the person would at home: with their environment,
// unconfined, and not in a project, whose files might stand in for its own.
func (a *app) plainly(ctx context.Context, argv ...string) (tool.Exit, error) {
	box, err := sandbox.New(sandbox.Options{Mode: sandbox.Off, Roots: []string{a.env.Home}, Home: a.env.Home, Environ: a.env.Environ})
	if err != nil {
		return tool.Exit{}, err
	}
	defer box.Close() // it idles no helper that could matter
	var names []string
	for _, kv := range a.env.Environ {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return box.Start(ctx, tool.Command{Argv: argv, Dir: a.env.Home, Env: tool.Environment{Inherit: true, Allow: names}}, tool.Grant{Unconfined: true})
}
