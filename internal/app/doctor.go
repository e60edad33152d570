package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"ikigai/internal/clean"
	"ikigai/internal/config"
	"ikigai/internal/headless"
	"ikigai/internal/provider"
	"ikigai/internal/sandbox"
	"ikigai/internal/store"
)

// A checkup is one line of doctor.
type checkup struct {
	Part  string `json:"part"`
	State health `json:"state"`
	Text  string `json:"text"`
	Fix   string `json:"fix,omitempty"`
}

// health is how a part is: it works, it works less well than it could, or it is broken.
type health string

const (
	fine   health = "ok"
	worse  health = "warn"
	broken health = "fail"
)

func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Look at everything ikigai needs, and say how to mend what is wrong", Args: cobra.NoArgs,
		Long: `Look at everything ikigai needs: terminal, settings, keys (never their values),
sandbox, tools, store, git and network. Each line is ok, warn or fail, with a fix.
The exit code is 1 when something is broken.`,
	}
	c.Flags().Bool("json", false, "print one JSON document")
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := a.dir()
		if err != nil {
			return err
		}
		list := a.examine(c, dir)
		if slices.ContainsFunc(list, func(x checkup) bool { return x.State == broken }) {
			a.code = headless.ExitFailure
		}
		if asJSON, _ := c.Flags().GetBool("json"); asJSON {
			return a.printJSON(map[string]any{"checks": list, "ok": a.code == 0})
		}
		return a.printCheckups(list)
	}
	return c
}

func (a *app) printCheckups(list []checkup) error {
	w := tabwriter.NewWriter(a.env.Stdout, 0, 4, 2, ' ', 0)
	for _, x := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", x.State, x.Part, clean.Line(x.Text))
		if x.Fix != "" {
			fmt.Fprintf(w, "\t\t-> %s\n", clean.Line(x.Fix))
		}
	}
	return w.Flush()
}

// examine looks at every part. Settings that cannot be read are one finding; the
// others are then looked at with the defaults.
func (a *app) examine(c *cobra.Command, dir string) []checkup {
	list := a.checkTerminal()
	cfg, found := a.checkSettings(c, dir)
	list = append(list, found...)
	for _, check := range []func(context.Context, *config.Config, string) []checkup{
		a.checkModel, a.checkKeys, a.checkSandbox, a.checkTools, a.checkStore, a.checkGit, a.checkNetwork,
	} {
		list = append(list, check(c.Context(), cfg, dir)...)
	}
	return list
}

func (a *app) checkTerminal() []checkup {
	name, _ := a.getenv("TERM")
	switch {
	case !isTerminal(a.env.Stdin) || !isTerminal(a.env.Stdout):
		return []checkup{{"terminal", fine, "not on standard input and output: ikigai run works, talking needs one", ""}}
	case name == "" || name == "dumb":
		return []checkup{{"terminal", worse, fmt.Sprintf("TERM is %q: no colours, no cursor", name), "set TERM to what your terminal is, such as xterm-256color"}}
	}
	colours := "colours by its own name"
	if v, _ := a.getenv("NO_COLOR"); v != "" {
		colours = "no colours, because NO_COLOR is set"
	} else if v, _ := a.getenv("COLORTERM"); v == "truecolor" || v == "24bit" {
		colours = "all colours"
	}
	return []checkup{{"terminal", fine, name + ", " + colours, ""}}
}

func (a *app) checkSettings(c *cobra.Command, dir string) (*config.Config, []checkup) {
	trusted := a.trusts(c, dir)
	cfg, err := a.settings(c, dir, trusted)
	if err != nil {
		found := []checkup{{"settings", broken, err.Error(), "mend it; ikigai config schema says what is allowed"}}
		cfg, err = config.Load(config.Sources{})
		if err != nil { // the defaults are part of the program, and tested
			found = append(found, checkup{"settings", broken, err.Error(), ""})
		}
		return cfg, found
	}
	var list []checkup
	for _, name := range cfg.Read {
		list = append(list, checkup{"settings", fine, "read " + name, ""})
	}
	if len(cfg.Read) == 0 {
		list = append(list, checkup{"settings", fine, "no file, so the defaults hold; yours would be " + a.places().File(), ""})
	}
	if len(cfg.Aliases) > 0 {
		list = append(list, checkup{"settings", fine, "used from another program: " + strings.Join(cfg.Aliases, ", "), ""})
	}
	for _, s := range cfg.Skipped {
		list = append(list, checkup{"settings", worse, "not set, because this project is not trusted: " + s, "ikigai trust, if you trust it"})
	}
	return cfg, list
}

func (a *app) checkModel(_ context.Context, cfg *config.Config, _ string) []checkup {
	if cfg.Model == "" {
		return []checkup{{"model", worse, "none is chosen", "give --model PROVIDER/MODEL, or set model in " + a.places().File() + "; ikigai models lists them"}}
	}
	return []checkup{{"model", fine, cfg.Model + " (" + cfg.Origin["model"] + ")", ""}}
}

// checkKeys names where keys are, never what they are. No command is run for it.
func (a *app) checkKeys(context.Context, *config.Config, string) []checkup {
	kept, err := config.ReadKeys(a.places().Keys())
	var list []checkup
	if err != nil {
		var f *fault
		errors.As(keyFault(err), &f)
		list = append(list, checkup{"keys", broken, f.text, f.hint})
	}
	for _, name := range keyOwners(kept) {
		row, _ := provider.Find(name)
		_, variable := a.keyVariable(row.KeyVars)
		switch k := kept[name]; {
		case variable != "":
			list = append(list, checkup{"keys", fine, name + ": in " + variable, ""})
		case k.Command != "":
			list = append(list, checkup{"keys", fine, name + ": from the command of ikigai key set", ""})
		case k.Key != "":
			list = append(list, checkup{"keys", fine, name + ": in the key file", ""})
		}
	}
	if len(list) == 0 {
		list = append(list, checkup{"keys", worse, "none found; servers on this machine and the demo need none", "ikigai key set PROVIDER, or set a variable such as " + provider.Rows()[0].KeyVars[0]})
	}
	return list
}

// keyOwners are the providers that may have a key: those of the table, then
// others that were given one.
func keyOwners(kept config.Keys) []string {
	names := provider.Names()
	var others []string
	for name := range kept {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append(names, others...)
}

func (a *app) checkSandbox(_ context.Context, cfg *config.Config, dir string) []checkup {
	if cfg.Sandbox == "off" {
		return []checkup{{"sandbox", worse, "it is off (" + cfg.Origin["sandbox"] + "): programs can do what you can", "set sandbox to auto"}}
	}
	box, err := sandbox.New(sandbox.Options{Roots: []string{dir}, Temp: os.TempDir(), Home: a.env.Home, Environ: a.env.Environ})
	if err != nil {
		return []checkup{{"sandbox", broken, err.Error(), "sandbox off does without"}}
	}
	defer box.Close() // its helpers end with us anyway
	missing := worse
	if cfg.Sandbox == "require" {
		missing = broken
	}
	var list []checkup
	for _, l := range box.Layers() {
		if l.On {
			list = append(list, checkup{"sandbox", fine, l.Name, ""})
			continue
		}
		list = append(list, checkup{"sandbox", missing, l.Name + " is missing", l.Why})
	}
	return list
}

func (a *app) checkTools(ctx context.Context, cfg *config.Config, dir string) []checkup {
	plain := *cfg
	plain.Sandbox = "auto" // what is missing is said by its own line
	h, err := a.build(ctx, &plain, dir, which{nothing: true})
	if err != nil {
		return []checkup{{"tools", broken, err.Error(), hintOf(err)}}
	}
	defer h.close() // nothing was kept in it
	l := listing(h)
	list := []checkup{{"tools", fine, fmt.Sprintf("%d are offered", len(l.Tools)), ""}}
	for _, p := range l.Problems {
		list = append(list, checkup{"tools", worse, fmt.Sprintf("%s: %s (%s)", p.Path, p.Reason, p.Detail), "ikigai tool check " + p.Path})
	}
	return list
}

func hintOf(err error) string {
	var f *fault
	if errors.As(err, &f) {
		return f.hint
	}
	return ""
}

func (a *app) checkStore(ctx context.Context, cfg *config.Config, _ string) []checkup {
	where := fmt.Sprint(withoutPassword(cmp.Or(cfg.Store, filepath.Join(a.places().Data, "sessions.db"))))
	if path := strings.TrimPrefix(where, "sqlite:"); !strings.Contains(path, "://") {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return []checkup{{"store", fine, "none yet; the first session makes " + path, ""}}
		}
	}
	if cfg.Ephemeral {
		return []checkup{{"store", worse, "nothing is kept (" + cfg.Origin["ephemeral"] + ")", "set ephemeral to false"}}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s, err := a.openStore(ctx, cfg)
	if err != nil {
		return []checkup{{"store", broken, err.Error(), hintOf(err)}}
	}
	defer s.Close() // it was only read
	n, err := 0, error(nil)
	for _, e := range s.Sessions(ctx, store.Filter{}) {
		if err = e; err != nil {
			break
		}
		n++
	}
	if err != nil {
		return []checkup{{"store", broken, where + ": " + err.Error(), "keep a copy of it, and name another with the setting store"}}
	}
	return []checkup{{"store", fine, fmt.Sprintf("%s, %d sessions", where, n), ""}}
}

func (a *app) checkGit(ctx context.Context, _ *config.Config, dir string) []checkup {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	exit, err := a.plainly(ctx, "git", "--version")
	if err != nil || exit.Code != 0 {
		return []checkup{{"git", worse, "git does not start", "install git; without it nothing of a repository is known to the model"}}
	}
	text := strings.TrimSpace(string(exit.Stdout))
	if b := branch(dir); b != "" {
		return []checkup{{"git", fine, text + ", on branch " + b, ""}}
	}
	return []checkup{{"git", fine, text + ", this folder is in no repository", ""}}
}

// proxyVars are the variables that lead requests through a proxy, as Go's
// net/http reads them.
var proxyVars = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"}

func (a *app) checkNetwork(_ context.Context, cfg *config.Config, _ string) []checkup {
	var list []checkup
	for _, name := range proxyVars {
		value, _ := a.getenv(name)
		if value == "" {
			continue
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		u, err := url.Parse(value)
		if err != nil || u.Host == "" {
			list = append(list, checkup{"network", broken, name + " is no address of a proxy", "write it as http://host:port"})
			continue
		}
		list = append(list, checkup{"network", fine, "through the proxy " + u.Redacted() + " (" + name + ")", ""})
	}
	if len(list) == 0 {
		list = append(list, checkup{"network", fine, "no proxy", ""})
	}
	if _, err := provider.NewTransport(provider.Network{CA: caFiles(cfg.Network.CAFile)}); err != nil {
		list = append(list, checkup{"network", broken, err.Error(), "mend network.ca_file (" + cfg.Origin["network.ca_file"] + ")"})
	}
	return list
}
