package config

import (
	"path/filepath"
)

// Places are where ikigai keeps things, as the XDG rules say.
type Places struct {
	Home   string
	Config string // settings, remembered rules, keys
	Data   string // sessions, snapshots
	State  string // logs
	Cache  string // schemas of tools, build caches of projects
}

// PlacesOf works them out from the environment.
func PlacesOf(home string, getenv func(string) (string, bool)) Places {
	dir := func(variable, otherwise string) string {
		if d, ok := getenv(variable); ok && filepath.IsAbs(d) {
			return filepath.Join(d, "ikigai")
		}
		return filepath.Join(home, otherwise, "ikigai")
	}
	return Places{
		Home:   home,
		Config: dir("XDG_CONFIG_HOME", ".config"),
		Data:   dir("XDG_DATA_HOME", ".local/share"),
		State:  dir("XDG_STATE_HOME", ".local/state"),
		Cache:  dir("XDG_CACHE_HOME", ".cache"),
	}
}

// File is the user's settings.
func (p Places) File() string { return filepath.Join(p.Config, "config.json") }

// Policies are the user's remembered rules.
func (p Places) Policies() string { return filepath.Join(p.Config, "policies.json") }

// Keys are the provider keys that were given to key set.
func (p Places) Keys() string { return filepath.Join(p.Config, "keys.json") }

// Tools are the user's own executable tools.
func (p Places) Tools() string { return filepath.Join(p.Home, ".ikigai", "tools") }
