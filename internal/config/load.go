package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"ikigai/internal/spell"
)

// Sources are where settings come from.
type Sources struct {
	User    string                      // the user's file; need not exist
	Must    bool                        // but User was named by --config and must exist
	Project string                      // the project's file; empty means none
	Trusted bool                        // the project may name programs and addresses
	Getenv  func(string) (string, bool) // environment variables
	Flags   []Given                     // in the order they were given
}

// Given is a flag that was given.
type Given struct{ Flag, Value string }

// Config is the settings in force and where each comes from.
type Config struct {
	Settings
	Origin  map[string]string // by key: a file with its line, a variable, a flag
	Read    []string          // the files that were read, in order
	Aliases []string          // variables of the seeds that were used
	Skipped []string          // what an untrusted project wanted to set
}

// An Error is a setting that cannot be used. It names where, what and what
// would be allowed.
type Error struct {
	Where string // file:line, a variable, a flag
	Key   string
	Text  string
}

func (e *Error) Error() string {
	if e.Key == "" {
		return e.Where + ": " + e.Text
	}
	return fmt.Sprintf("%s: %s: %s", e.Where, e.Key, e.Text)
}

// Load reads all sources. The error, if any, is an *Error.
func Load(src Sources) (*Config, error) {
	c := &Config{Origin: map[string]string{}}
	for _, s := range table {
		if s.Default != "" {
			if err := s.assign(&c.Settings, s.Default); err != nil {
				panic(fmt.Sprintf("config: the default of %s: %v", s.Key, err)) // a mistake in the table
			}
		}
		c.Origin[s.Key] = "default"
	}
	if err := c.file(src.User, src.Must, true); err != nil {
		return nil, err
	}
	if err := c.file(src.Project, false, src.Trusted); err != nil {
		return nil, err
	}
	if err := c.environment(src.Getenv); err != nil {
		return nil, err
	}
	return c, c.flags(src.Flags)
}

// file reads one file of settings. Before trust a project's file may only set
// what names no program, address or value of the environment.
func (c *Config) file(name string, must, trusted bool) error {
	if name == "" {
		return nil
	}
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return &Error{Where: name, Text: err.Error()}
	}
	c.Read = append(c.Read, name)
	v, err := hujson.Parse(raw)
	if err != nil {
		return syntax(name, err)
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return &Error{Where: at(name, raw, v.StartOffset), Text: "the settings must be one object { ... }"}
	}
	return c.object(name, raw, "", obj, trusted)
}

// syntax is an error of the parser, with its line where people look for it.
func syntax(name string, err error) error {
	var line, column int
	text := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n == 2 {
		name = fmt.Sprintf("%s:%d", name, line)
		_, text, _ = strings.Cut(text, ": ")
	}
	return &Error{Where: name, Text: "not JSON with comments: " + text}
}

// at is a place in a file as file:line.
func at(name string, raw []byte, offset int) string {
	return fmt.Sprintf("%s:%d", name, strings.Count(string(raw[:min(offset, len(raw))]), "\n")+1)
}

func (c *Config) object(name string, raw []byte, prefix string, obj *hujson.Object, trusted bool) error {
	seen := map[string]bool{}
	for _, m := range obj.Members {
		key := prefix + m.Name.Value.(hujson.Literal).String()
		where := at(name, raw, m.Name.StartOffset)
		if seen[key] {
			return &Error{where, key, "it is there twice; keep one of them"}
		}
		seen[key] = true
		inner, nested := m.Value.Value.(*hujson.Object)
		s, known := find(key)
		switch {
		case nested && isPrefix(key):
			if err := c.object(name, raw, key+".", inner, trusted); err != nil {
				return err
			}
		case key == "$schema":
		case !known:
			return &Error{where, key, strings.TrimSpace("there is no such setting; " + spell.DidYouMean(key, keys()))}
		case !trusted && !s.Project:
			c.Skipped = append(c.Skipped, where+": "+key)
		default:
			value := m.Value.Clone()
			value.Standardize()
			if err := s.assignJSON(&c.Settings, bytes.TrimSpace(value.Pack())); err != nil {
				return &Error{where, key, err.Error()}
			}
			c.Origin[s.Key] = where
		}
	}
	return nil
}

func find(key string) (Setting, bool) {
	for _, s := range table {
		if s.Key == key || slices.Contains(s.Old, key) {
			return s, true
		}
	}
	return Setting{}, false
}

func keys() []string {
	var all []string
	for _, s := range table {
		all = append(all, s.Key)
	}
	return all
}

func isPrefix(key string) bool {
	for _, s := range table {
		if strings.HasPrefix(s.Key, key+".") {
			return true
		}
	}
	return false
}

// environment reads the variables. A value of a seed's variable that makes no
// sense is ignored, as that seed does; one of ours is an error.
func (c *Config) environment(getenv func(string) (string, bool)) error {
	if getenv == nil {
		return nil
	}
	for _, s := range table {
		for i := len(s.Env) - 1; i >= 0; i-- { // ours comes first in the list and wins
			name, alias := s.Env[i], i > 0
			value, set := getenv(name)
			if !set || value == "" {
				continue
			}
			if err := s.assign(&c.Settings, value); err != nil {
				if alias {
					continue
				}
				return &Error{name, s.Key, err.Error()}
			}
			c.Origin[s.Key] = name
			if alias {
				c.Aliases = append(c.Aliases, name)
			}
		}
	}
	return nil
}

func (c *Config) flags(given []Given) error {
	lists := map[string]bool{}
	for _, g := range given {
		i := slices.IndexFunc(table, func(s Setting) bool { return s.Flag == g.Flag })
		if i < 0 {
			return &Error{"--" + g.Flag, "", "there is no such flag"}
		}
		s := table[i]
		value := g.Value
		if list, ok := s.field(&c.Settings).(*[]string); ok { // a flag may be given several times
			if !lists[s.Flag] && s.Key != "allow" && s.Key != "deny" {
				*list = nil
			}
			lists[s.Flag] = true
			*list = append(slices.Clip(*list), value)
		} else if err := s.assign(&c.Settings, value); err != nil {
			return &Error{"--" + g.Flag, "", err.Error()}
		}
		c.Origin[s.Key] = "--" + g.Flag
	}
	return nil
}

// assign reads a value as a flag or a variable writes it. Lists are separated
// by the character that separates paths.
func (s Setting) assign(to *Settings, text string) error {
	if err := s.allowed(text); err != nil {
		return err
	}
	next := *to // a value that makes no sense leaves the old one
	var err error
	switch p := s.field(&next).(type) {
	case *string:
		*p = text
	case *bool:
		*p, err = strconv.ParseBool(text)
	case *int:
		*p, err = strconv.Atoi(text)
	case *float64:
		*p, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		*p, err = duration(text)
	case *[]string:
		*p = strings.Split(text, string(os.PathListSeparator))
	}
	if err != nil {
		return fmt.Errorf("%q is no %s", text, s.Type())
	}
	if err := s.positive(&next); err != nil {
		return err
	}
	*to = next
	return nil
}

// positive refuses negative numbers: none of ours has a meaning for them.
func (s Setting) positive(in *Settings) error {
	var n float64
	switch p := s.field(in).(type) {
	case *int:
		n = float64(*p)
	case *float64:
		n = *p
	case *time.Duration:
		n = float64(*p)
	}
	if n < 0 {
		return errors.New("must not be negative")
	}
	return nil
}

// duration takes Go's form, and plain numbers as seconds, as the seeds write them.
func duration(text string) (time.Duration, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	return time.ParseDuration(text)
}

func (s Setting) allowed(text string) error {
	if len(s.Allowed) == 0 || slices.Contains(s.Allowed, text) || text == "" && s.Default == "" {
		return nil
	}
	near := spell.DidYouMean(text, s.Allowed)
	return errors.New(strings.TrimSuffix(fmt.Sprintf("%q is not allowed: it is one of %s; %s", text, strings.Join(s.Allowed, ", "), near), "; "))
}

// assignJSON reads a value as the file writes it.
func (s Setting) assignJSON(to *Settings, raw []byte) error {
	if list, ok := s.field(to).(*[]string); ok {
		*list = nil
		if json.Unmarshal(raw, list) != nil {
			return fmt.Errorf("%s is no list of strings", raw)
		}
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	want := s.Type()
	switch v := v.(type) {
	case string:
		if want == "text" || want == "duration" {
			return s.assign(to, v)
		}
	case bool:
		if want == "yes or no (true, false)" {
			return s.assign(to, strconv.FormatBool(v))
		}
	case float64:
		if want == "whole number" || want == "number" || want == "duration" {
			return s.assign(to, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return fmt.Errorf("%s is no %s", raw, want)
}

// Type is what kind of value the setting takes, in words.
func (s Setting) Type() string {
	switch s.field(new(Settings)).(type) {
	case *bool:
		return "yes or no (true, false)"
	case *int:
		return "whole number"
	case *float64:
		return "number"
	case *time.Duration:
		return "duration"
	case *[]string:
		return "list of strings"
	}
	return "text"
}

// Value is the setting's value in force, as JSON would write it.
func (s Setting) Value(in *Settings) any {
	switch p := s.field(in).(type) {
	case *bool:
		return *p
	case *int:
		return *p
	case *float64:
		return *p
	case *time.Duration:
		return p.String()
	case *[]string:
		if *p == nil {
			return []string{}
		}
		return *p
	case *string:
		return *p
	}
	return nil
}
