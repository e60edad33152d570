package external

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ikigai/internal/tool"
)

// An Identity is what a person approves: this executable, saying this of itself.
// Kept as JSON with an approval, it later tells what changed.
type Identity struct {
	Path       string
	Executable [32]byte        // the sum of its bytes
	Schema     json.RawMessage // what --schema printed, without blanks
}

// Sum is one number for all of it but the path.
func (i Identity) Sum() [32]byte {
	return sha256.Sum256(append(i.Executable[:len(i.Executable):len(i.Executable)], i.Schema...))
}

// identityJSON has the schema as a string: other programs may write an object
// in other bytes, and then its sum would be another one.
type identityJSON struct {
	Path       string `json:"path"`
	Executable string `json:"executable"`
	Schema     string `json:"schema"`
}

// MarshalJSON writes the sum in hexadecimal digits.
func (i Identity) MarshalJSON() ([]byte, error) {
	return tool.Encode(identityJSON{i.Path, hex.EncodeToString(i.Executable[:]), string(i.Schema)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *Identity) UnmarshalJSON(raw []byte) error {
	var j identityJSON
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	sum, err := hex.DecodeString(j.Executable)
	if err != nil || len(sum) != len(i.Executable) {
		return fmt.Errorf("the sum of %s is no sum: %q", j.Path, j.Executable)
	}
	*i = Identity{j.Path, [32]byte(sum), json.RawMessage(j.Schema)}
	return nil
}

// Changed says, one line each, what is different between what was approved and
// what is there now; nothing when they are the same.
func Changed(old, now Identity) []string {
	var lines []string
	if old.Path != now.Path {
		lines = append(lines, fmt.Sprintf("path: %s, was %s", now.Path, old.Path))
	}
	if old.Executable != now.Executable {
		lines = append(lines, "the executable has other content")
	}
	if bytes.Equal(old.Schema, now.Schema) {
		return lines
	}
	before, err := readDocument(old.Schema)
	if err != nil {
		return append(lines, "the schema is another one")
	}
	after, err := readDocument(now.Schema)
	if err != nil {
		return append(lines, "the schema is another one")
	}
	said := differences(before.facts(), after.facts())
	if len(said) == 0 {
		said = []string{"the schema is written in another way"}
	}
	return append(lines, said...)
}

// facts are what a person would want to compare, by name.
func (d *document) facts() map[string]string {
	facts := map[string]string{
		"name": d.name, "description": d.description, "risk": d.risk.String(),
		"effects": fmt.Sprint(d.effects), "env": strings.Join(d.env, " "), "timeout": d.timeout.String(),
	}
	for _, p := range d.parameters.Properties() {
		required := "optional"
		if p.Required {
			required = "required"
		}
		facts["parameter "+p.Name] = strings.TrimSpace(required + " " + p.Format + " " + string(p.Schema))
	}
	return facts
}

// differences compares two maps, in name order.
func differences(old, now map[string]string) []string {
	all := maps.Clone(old)
	maps.Copy(all, now)
	var lines []string
	for _, name := range sortedKeys(all) {
		was, before := old[name]
		is, after := now[name]
		switch {
		case !before:
			lines = append(lines, fmt.Sprintf("%s added: %s", name, is))
		case !after:
			lines = append(lines, fmt.Sprintf("%s removed", name))
		case was != is:
			lines = append(lines, fmt.Sprintf("%s: %q, was %q", name, is, was))
		}
	}
	return lines
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
