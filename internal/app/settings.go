package app

import (
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ikigai/internal/config"
	"ikigai/internal/headless"
)

// settingFlags gives a command the flags of the settings table, all of them or
// those named.
func settingFlags(c *cobra.Command, only ...string) {
	want := map[string]bool{}
	for _, n := range only {
		want[n] = true
	}
	for _, s := range config.Table() {
		if s.Flag == "" || len(only) > 0 && !want[s.Flag] {
			continue
		}
		switch s.Type() {
		case "yes or no (true, false)":
			c.Flags().Bool(s.Flag, false, s.Doc)
		case "list of strings":
			c.Flags().StringArray(s.Flag, nil, s.Doc)
		default:
			c.Flags().String(s.Flag, "", s.Doc)
		}
	}
}

// given collects the settings flags that were used.
func given(c *cobra.Command) []config.Given {
	known := map[string]bool{}
	for _, s := range config.Table() {
		known[s.Flag] = true
	}
	var all []config.Given
	c.Flags().Visit(func(f *pflag.Flag) {
		if !known[f.Name] {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				all = append(all, config.Given{Flag: f.Name, Value: v})
			}
			return
		}
		all = append(all, config.Given{Flag: f.Name, Value: f.Value.String()})
	})
	return all
}

// dir is the working folder, with its links resolved.
func (a *app) dir() (string, error) {
	dir := a.env.Dir
	if a.cwd != "" {
		dir = a.cwd
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.env.Dir, dir)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", &fault{headless.ExitUsage, "opening the working folder: " + err.Error(), "give an existing folder with --cwd"}
	}
	return real, nil
}

func (a *app) places() config.Places { return config.PlacesOf(a.env.Home, a.getenv) }

// settings reads all sources of settings for a command.
func (a *app) settings(c *cobra.Command, dir string, trusted bool) (*config.Config, error) {
	src := config.Sources{
		User: a.places().File(), Project: filepath.Join(dir, ".ikigai", "config.json"), Trusted: trusted,
		Getenv: a.getenv, Flags: given(c),
	}
	if a.file != "" {
		src.User, src.Must = a.file, true
	}
	return config.Load(src)
}
