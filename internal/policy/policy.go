// Package policy keeps remembered rules in a file that a person can read, edit
// and comment: policies.json, JSON with comments. Each rule says what it
// decides, how far it reaches, who wrote it, when and why, and may carry
// examples of what it must and must not match; a rule that fails its own
// examples is not taken.
package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tailscale/hujson"

	"ikigai/internal/permit"
)

// An Entry is one rule as the file has it.
type Entry struct {
	Decision string   `json:"decision"`
	Rule     string   `json:"rule"`
	Dir      string   `json:"dir,omitempty"` // only in this project; a real path
	Origin   string   `json:"origin,omitempty"`
	Date     string   `json:"date,omitempty"`
	Why      string   `json:"why,omitempty"`
	Match    []string `json:"match,omitempty"`
	NoMatch  []string `json:"no_match,omitempty"`

	Line int `json:"-"` // where it stands
}

// A File is a file of rules. Methods may be called by several goroutines; two
// processes that write it at the same time do not lose each other's rules.
type File struct {
	Path string
	Dir  string // the project whose rules count, a real path
	Now  func() time.Time
	mu   sync.Mutex // one writer of this process at a time
}

// An Error names the place of a rule that cannot be taken.
type Error struct {
	Where string // file:line
	Text  string
}

func (e *Error) Error() string { return e.Where + ": " + e.Text }

// Entries are the rules of the file as they are written. A missing file has none.
func (f *File) Entries() ([]Entry, error) {
	raw, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the remembered rules: %w", err)
	}
	return parse(f.Path, raw)
}

func parse(name string, raw []byte) ([]Entry, error) {
	v, err := hujson.Parse(raw)
	if err != nil {
		return nil, &Error{name, "not JSON with comments: " + err.Error()}
	}
	list, err := rulesIn(name, v)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, element := range list {
		line := strings.Count(string(raw[:element.StartOffset]), "\n") + 1
		where := fmt.Sprintf("%s:%d", name, line)
		one := element.Clone()
		one.Standardize()
		e := Entry{Line: line}
		d := json.NewDecoder(strings.NewReader(one.String()))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return nil, &Error{where, "not a rule: " + err.Error()}
		}
		if !slices.Contains([]string{"allow", "ask", "deny"}, e.Decision) {
			return nil, &Error{where, fmt.Sprintf("decision is %q: it must be allow, ask or deny", e.Decision)}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// rulesIn finds the list of rules: {"rules":[...]}.
func rulesIn(name string, v hujson.Value) ([]hujson.ArrayElement, error) {
	found := v.Find("/rules")
	if found == nil {
		if obj, ok := v.Value.(*hujson.Object); ok && len(obj.Members) == 0 {
			return nil, nil
		}
		return nil, &Error{name, `there is no list of rules: {"rules": [ ... ]}`}
	}
	list, ok := found.Value.(*hujson.Array)
	if !ok {
		return nil, &Error{name, "rules must be a list"}
	}
	return list.Elements, nil
}

var decisions = map[string]permit.Decision{"allow": permit.Allow, "ask": permit.Ask, "deny": permit.Deny}

// Load gives the rules that count in this project, each tested against its own
// examples.
func (f *File) Load() ([]permit.Rule, error) {
	entries, err := f.Entries()
	if err != nil {
		return nil, err
	}
	var rules []permit.Rule
	for _, e := range entries {
		where := fmt.Sprintf("%s:%d", f.Path, e.Line)
		r, err := permit.ParseRule(decisions[e.Decision], e.Rule)
		if err != nil {
			return nil, &Error{where, err.Error()}
		}
		if err := r.Try(e.Match, e.NoMatch); err != nil {
			return nil, &Error{where, err.Error()}
		}
		r.Source, r.Why = fmt.Sprintf("%s:%d", filepath.Base(f.Path), e.Line), e.Why
		if e.Dir == "" || e.Dir == f.Dir {
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// Save remembers a rule for this project. It is what permit.Rules asks for.
func (f *File) Save(_ context.Context, r permit.Rule) error {
	return f.Add(Entry{Decision: r.Decision.String(), Rule: r.Text, Dir: f.Dir, Origin: "answer", Why: r.Why})
}

// Add writes one more rule. One that stands already is not written twice.
// Comments and the form of the file stay as they are.
func (f *File) Add(e Entry) error {
	if _, err := permit.ParseRule(decisions[e.Decision], e.Rule); err != nil {
		return err
	}
	if e.Date == "" && f.Now != nil {
		e.Date = f.Now().UTC().Format(time.RFC3339)
	}
	return f.change(func(entries []Entry) (string, error) {
		if slices.ContainsFunc(entries, e.same) {
			return "", nil
		}
		raw, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(`[{"op":"add","path":"/rules/-","value":%s}]`, raw), nil
	})
}

// same reports whether two entries decide the same for the same calls.
func (e Entry) same(o Entry) bool {
	return e.Decision == o.Decision && e.Rule == o.Rule && e.Dir == o.Dir
}

// Forget takes out every rule with that text that counts in this project, and
// says how many there were.
func (f *File) Forget(text string) (int, error) {
	n := 0
	err := f.change(func(entries []Entry) (string, error) {
		var ops []string
		for i, e := range slices.Backward(entries) {
			if e.Rule == text && (e.Dir == "" || e.Dir == f.Dir) {
				n++
				ops = append(ops, fmt.Sprintf(`{"op":"remove","path":"/rules/%d"}`, i))
			}
		}
		if n == 0 {
			return "", nil
		}
		return "[" + strings.Join(ops, ",") + "]", nil
	})
	return n, err
}

// change applies a JSON patch to the file, in one step, while no other process
// does.
func (f *File) change(patch func([]Entry) (string, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the remembered rules: %w", err)
	}
	unlock, err := lock(f.Path + ".lock")
	if err != nil {
		return fmt.Errorf("waiting for the remembered rules: %w", err)
	}
	defer unlock()
	raw, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = []byte("// Rules that were remembered. Edit them as you like; ikigai policy list shows them.\n{\"rules\": []}\n"), nil
	}
	if err != nil {
		return fmt.Errorf("reading the remembered rules: %w", err)
	}
	entries, err := parse(f.Path, raw)
	if err != nil {
		return err
	}
	ops, err := patch(entries)
	if err != nil || ops == "" {
		return err
	}
	v, err := hujson.Parse(raw)
	if err != nil {
		return err
	}
	if err := v.Patch([]byte(ops)); err != nil {
		return fmt.Errorf("changing the remembered rules: %w", err)
	}
	v.Format()
	return replace(f.Path, v.Pack())
}

// replace writes a file so that a reader sees the old bytes or the new.
func replace(name string, data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(name), ".policies-*")
	if err != nil {
		return fmt.Errorf("writing the remembered rules: %w", err)
	}
	_, err = t.Write(data)
	err = errors.Join(err, t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		os.Remove(t.Name())
		return fmt.Errorf("writing the remembered rules: %w", err)
	}
	return nil
}
