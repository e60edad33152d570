package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ikigai/internal/schema"
	"ikigai/internal/tool"
)

// What a schema may hold at most: all of it is sent with every request.
const (
	maxSchema      = 64 << 10
	maxDescription = 4 << 10
)

// A document is what an executable said about itself.
type document struct {
	name        string
	description string
	parameters  schema.Object
	returns     schema.Object
	risk        tool.Risk // as claimed; High when nothing was
	effects     []tool.Effect
	timeout     time.Duration
	env         []string      // names of variables it asks for
	marks       func() marker // which parameters are paths and commands
}

// readDocument reads the answer to --schema. Members it does not know are passed
// over, so that a tool written for a later version still works.
func readDocument(raw []byte) (*document, error) {
	o, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	if o.flawed {
		return nil, errors.New("a name comes twice, or half a character stands alone")
	}
	d := &document{risk: tool.High}
	for _, m := range []struct {
		name  string
		must  bool
		field func(json.RawMessage) error
	}{
		{"name", true, d.readName},
		{"description", true, d.readDescription},
		{"parameters", true, d.readParameters},
		{"returns", false, d.readReturns},
		{"risk", false, d.readRisk},
		{"effects", false, d.readEffects},
		{"timeout_seconds", false, d.readTimeout},
		{"env", false, d.readEnv},
	} {
		value := o.get(m.name)
		if value == nil && m.must {
			return nil, fmt.Errorf("%s is missing", m.name)
		}
		if value == nil {
			continue
		}
		if err := m.field(value); err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return d, nil
}

func (d *document) readName(raw json.RawMessage) error {
	return text(raw, &d.name)
}

func (d *document) readDescription(raw json.RawMessage) error {
	if err := text(raw, &d.description); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(d.description); n > maxDescription {
		return fmt.Errorf("it has %d characters, more than %d", n, maxDescription)
	}
	return nil
}

// text reads a string that is not blank.
func text(raw json.RawMessage, to *string) error {
	if raw[0] != '"' {
		return errors.New("want a string")
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return err
	}
	if strings.TrimSpace(*to) == "" {
		return errors.New("it is empty")
	}
	return nil
}

var goodParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`) })

func (d *document) readParameters(raw json.RawMessage) error {
	parameters, err := schema.Parse(raw)
	if err != nil {
		return err
	}
	for _, p := range parameters.Properties() {
		if !goodParameter().MatchString(p.Name) {
			return fmt.Errorf("%q is no name that a model can use", p.Name)
		}
	}
	d.parameters = parameters
	d.marks = sync.OnceValue(func() marker { return markerOf(parameters) })
	return nil
}

// readReturns is lenient: what a tool gives back is not sent to any model.
func (d *document) readReturns(raw json.RawMessage) error {
	if returns, err := schema.Parse(raw); err == nil {
		d.returns = returns
	}
	return nil
}

func (d *document) readRisk(raw json.RawMessage) error {
	var word string
	if err := text(raw, &word); err != nil {
		return err
	}
	risk, ok := tool.ParseRisk(word)
	if !ok {
		return fmt.Errorf("unknown risk %q: want safe, low, medium or high", word)
	}
	d.risk = risk
	return nil
}

func (d *document) readEffects(raw json.RawMessage) error {
	var effects []tool.Effect
	if json.Unmarshal(raw, &effects) != nil || raw[0] != '[' {
		return errors.New("want a list of words")
	}
	known := []tool.Effect{tool.Read, tool.Write, tool.Exec, tool.Net}
	for _, e := range effects {
		if !slices.Contains(known, e) {
			return fmt.Errorf("unknown effect %q: want read, write, exec or net", string(e))
		}
	}
	d.effects = slices.Compact(slices.Sorted(slices.Values(effects)))
	return nil
}

func (d *document) readTimeout(raw json.RawMessage) error {
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil || seconds <= 0 || seconds > tool.MaxTimeout.Seconds() {
		return fmt.Errorf("want a number of seconds, more than 0 and at most %v", tool.MaxTimeout.Seconds())
	}
	d.timeout = time.Duration(seconds * float64(time.Second))
	return nil
}

var goodVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) })

func (d *document) readEnv(raw json.RawMessage) error {
	var names []string
	if json.Unmarshal(raw, &names) != nil || raw[0] != '[' {
		return errors.New("want a list of names")
	}
	for _, n := range names {
		if !goodVariable().MatchString(n) {
			return fmt.Errorf("%q is no name of a variable", n)
		}
		if strings.HasPrefix(n, "LD_") || strings.HasPrefix(n, "DYLD_") {
			return fmt.Errorf("%s changes how programs are loaded and is never passed on", n)
		}
	}
	d.env = slices.Compact(slices.Sorted(slices.Values(names)))
	return nil
}
