package provider

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"ikigai/internal/convo"
	"ikigai/internal/spell"
)

// Info is what is known of one model.
type Info struct {
	ID       string `json:"id"` // provider/model
	Known    bool   `json:"-"`  // false: the limits are cautious guesses
	Window   int    `json:"window"`
	Reply    int    `json:"reply"`           // the longest reply
	Price    *Price `json:"price,omitempty"` // nil when unknown
	Tools    bool   `json:"tools,omitempty"`
	Thinking bool   `json:"thinking,omitempty"`
	Images   bool   `json:"images,omitempty"`
	Adaptive bool   `json:"adaptive,omitempty"` // it is told an effort, not a budget to think
}

// A Price is in US dollars per million tokens. A cache price that is nil is
// that of other input.
type Price struct {
	In    float64  `json:"in"`
	Out   float64  `json:"out"`
	Read  *float64 `json:"read,omitempty"`  // input that came from the provider's cache
	Write *float64 `json:"write,omitempty"` // input that went into it
	Over  int      `json:"over,omitempty"`  // for Long: from more input tokens than this
	Long  *Price   `json:"long,omitempty"`  // the price of long requests
}

// A Catalogue knows models. It is never changed once made. What it says of a
// model is read when somebody asks for that model.
type Catalogue struct {
	Date string // of the facts
	ids  []string
	raw  map[string][]json.RawMessage // by id in lower case; a later one lies over the earlier
}

//go:embed catalogue.json
var facts []byte

var builtin = sync.OnceValue(func() *Catalogue {
	c, err := (&Catalogue{}).over(facts)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return c
})

// Builtin is the catalogue that comes with the program, read at its first use.
func Builtin() *Catalogue { return builtin() }

// Lookup asks the built-in catalogue.
func Lookup(model string) Info { return Builtin().Lookup(model) }

func (c *Catalogue) orBuiltin() *Catalogue {
	if c != nil {
		return c
	}
	return Builtin()
}

// With is the catalogue with the models of a file of the same form added. What
// the file does not say of a known model stays as it was.
func (c *Catalogue) With(file []byte) (*Catalogue, error) {
	n, err := c.over(file)
	if err != nil {
		return nil, err
	}
	return n, n.check()
}

func (c *Catalogue) over(file []byte) (*Catalogue, error) {
	var f struct {
		Date   string
		Models []json.RawMessage
	}
	if err := json.Unmarshal(file, &f); err != nil {
		return nil, fmt.Errorf("reading the model catalogue: %w", err)
	}
	n := &Catalogue{Date: c.Date, ids: slices.Clone(c.ids), raw: make(map[string][]json.RawMessage, len(c.raw)+len(f.Models))}
	maps.Copy(n.raw, c.raw)
	if f.Date != "" {
		n.Date = f.Date
	}
	for _, raw := range f.Models {
		if err := n.add(raw); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (c *Catalogue) add(raw json.RawMessage) error {
	var named struct{ ID string }
	if err := json.Unmarshal(raw, &named); err != nil {
		return fmt.Errorf("reading a model of the catalogue: %w", err)
	}
	if !strings.Contains(named.ID, "/") {
		return fmt.Errorf("reading the model catalogue: %q is no provider/model", named.ID)
	}
	key := strings.ToLower(named.ID)
	if c.raw[key] == nil {
		c.ids = append(c.ids, named.ID)
	}
	c.raw[key] = append(slices.Clip(c.raw[key]), raw)
	return nil
}

// check reads everything once.
func (c *Catalogue) check() error {
	for _, id := range c.ids {
		if _, err := read(id, c.raw[strings.ToLower(id)]); err != nil {
			return err
		}
	}
	return nil
}

func read(id string, layers []json.RawMessage) (Info, error) {
	m := cautious(id)
	for _, raw := range layers {
		if err := json.Unmarshal(raw, &m); err != nil {
			return m, fmt.Errorf("reading %s of the model catalogue: %w", id, err)
		}
	}
	m.ID, m.Known = id, true
	return m, nil
}

// cautious is what to believe of a model that nobody knows: it can call tools,
// or it would not be used here, and its window is one that small models have.
func cautious(id string) Info {
	return Info{ID: id, Window: 32_768, Reply: 4096, Tools: true}
}

// Lookup gives what is known of provider/model. A dated or tagged release is
// the model it is a release of.
func (c *Catalogue) Lookup(model string) Info {
	for id := strings.ToLower(model); id != ""; id = released(id) {
		if layers, ok := c.raw[id]; ok {
			m, _ := read(model, layers) // what could not be read was refused before
			return m
		}
	}
	return c.resold(model)
}

// resold is a model of another vendor under the name of one who offers it at a
// price of his own.
func (c *Catalogue) resold(model string) Info {
	name, rest, _ := strings.Cut(model, "/")
	if row, ok := Find(name); ok && row.Sells != "" {
		m := c.Lookup(row.Sells + "/" + rest)
		m.ID, m.Price = model, nil
		return m
	}
	return cautious(model)
}

// released takes the tag or date from a name; without one nothing remains.
func released(id string) string {
	if tag := strings.LastIndexAny(id, ":@"); tag > strings.LastIndex(id, "/") {
		return id[:tag]
	}
	for _, shape := range [...]string{"-####-##-##", "-########", "-####", "-latest"} {
		if cut := len(id) - len(shape); cut > 0 && shaped(id[cut:], shape) {
			return id[:cut]
		}
	}
	return ""
}

// shaped compares letter by letter; # stands for a digit.
func shaped(s, shape string) bool {
	for i := range len(shape) {
		digit := s[i] >= '0' && s[i] <= '9'
		if shape[i] != s[i] && !(shape[i] == '#' && digit) {
			return false
		}
	}
	return true
}

// All are the models of a provider, in the order of the file.
func (c *Catalogue) All(provider string) []Info {
	var out []Info
	for _, id := range c.ids {
		if strings.HasPrefix(id, provider+"/") {
			out = append(out, c.Lookup(id))
		}
	}
	return out
}

// named is the whole name of a model that was given without its provider, or of
// the nearest to it.
func (c *Catalogue) named(model string) string {
	whole := map[string]string{}
	var bare []string
	for _, id := range slices.Backward(c.ids) { // the first of one name is its maker's
		_, name, _ := strings.Cut(id, "/")
		bare, whole[name] = append(bare, name), id
	}
	if id := whole[model]; id != "" {
		return id
	}
	return whole[spell.Nearest(model, bare)]
}

// Cost is what a reply cost in US dollars: what the provider said, or what its
// tokens come to; nil when that is not known.
func Cost(u convo.Usage, m Info) *float64 {
	if u.CostUSD != nil {
		return u.CostUSD
	}
	if m.Price == nil || u.Input == nil || u.Output == nil {
		return nil
	}
	p := *m.Price
	if p.Long != nil && *u.Input > p.Long.Over {
		p = *p.Long
	}
	read, write := count(u.CacheRead), count(u.CacheWrite)
	fresh := max(*u.Input-read-write, 0)
	cost := (float64(fresh)*p.In + float64(read)*p.or(p.Read) + float64(write)*p.or(p.Write) + float64(*u.Output)*p.Out) / 1e6
	return &cost
}

func (p Price) or(special *float64) float64 {
	if special != nil {
		return *special
	}
	return p.In
}

func count(n *int) int {
	if n == nil {
		return 0
	}
	return max(*n, 0)
}
