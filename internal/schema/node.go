package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A node is a schema made ready for reading. A keyword that is absent, that we
// do not know or that makes no sense leaves its field empty and asks nothing:
// the tool itself has the last word.
type node struct {
	never bool // the schema false
	types kind // zero means any
	enum  []value

	minimum, maximum, above, below, step *decimal
	minLength, maxLength                 *int
	pattern                              *regexp.Regexp

	minItems, maxItems *int
	unique             bool
	prefix             []*node
	items              *node

	properties       map[string]*property
	spellings        map[string]string // the name behind each way to write it; empty when there are several
	order            []string          // the names of properties
	required         []string
	minSize, maxSize *int
	patterns         []patternProperty
	additional       *node
	closed           bool // members that are not named have no meaning

	ref                 *node
	allOf, anyOf, oneOf []*node
	not                 *node
}

type property struct {
	*node
	name     string
	required bool
}

type patternProperty struct {
	pattern *regexp.Regexp
	*node
}

// kindOf is the kind of a type keyword, or zero.
func kindOf(word string) kind {
	switch word {
	case "null":
		return null
	case "boolean":
		return boolean
	case "integer":
		return integer
	case "number":
		return number
	case "string":
		return text
	case "array":
		return array
	case "object":
		return object
	}
	return 0
}

// compile makes the node of a whole document.
func compile(doc *value) *node {
	c := &compiler{doc: doc, done: map[*value]*node{}}
	root := c.node(doc)
	root.closed = root.fixed()
	return root
}

// A compiler turns schemas into nodes, each once, so that references may go round.
type compiler struct {
	doc  *value
	done map[*value]*node
}

func (c *compiler) node(s *value) *node {
	if s == nil || s.kind != object && s.kind != boolean {
		return nil
	}
	if n := c.done[s]; n != nil {
		return n
	}
	n := &node{never: s.kind == boolean && !s.truth}
	c.done[s] = n
	for _, word := range s.get("type").words() {
		n.types |= kindOf(word)
	}
	n.enum = s.get("enum").list()
	if constant := s.get("const"); constant != nil {
		n.never = n.never || len(n.enum) > 0 && !slices.ContainsFunc(n.enum, constant.same)
		n.enum = []value{*constant}
	}
	c.scalars(n, s)
	c.arrays(n, s)
	c.objects(n, s)
	c.combine(n, s)
	return n
}

func (c *compiler) scalars(n *node, s *value) {
	n.minimum = s.get("minimum").decimal()
	n.maximum = s.get("maximum").decimal()
	n.above = s.get("exclusiveMinimum").decimal()
	n.below = s.get("exclusiveMaximum").decimal()
	n.step = s.get("multipleOf").decimal()
	n.minLength = s.get("minLength").count()
	n.maxLength = s.get("maxLength").count()
	if p := s.get("pattern"); p.is(text) {
		n.pattern, _ = regexp.Compile(p.text) // one that RE2 does not know is left to the tool
	}
}

func (c *compiler) arrays(n *node, s *value) {
	n.minItems = s.get("minItems").count()
	n.maxItems = s.get("maxItems").count()
	u := s.get("uniqueItems")
	n.unique = u.is(boolean) && u.truth
	n.prefix = c.nodes(s.get("prefixItems"))
	n.items = c.node(s.get("items"))
}

func (c *compiler) objects(n *node, s *value) {
	n.minSize = s.get("minProperties").count()
	n.maxSize = s.get("maxProperties").count()
	if r := s.get("required"); r.isStrings() {
		n.required = r.words()
	}
	for i := range s.get("patternProperties").all() {
		m := &s.get("patternProperties").members[i]
		if p, err := regexp.Compile(m.name); err == nil {
			n.patterns = append(n.patterns, patternProperty{p, c.node(&m.value)})
		}
	}
	additional := s.get("additionalProperties")
	n.additional = c.node(additional)
	c.properties(n, s.get("properties"))
	n.closed = n.fixed() && (len(n.order) > 0 || n.additional != nil)
}

func (c *compiler) properties(n *node, properties *value) {
	n.properties = map[string]*property{}
	n.spellings = map[string]string{}
	for i := range properties.all() {
		m := &properties.members[i]
		p := &property{c.node(&m.value), m.name, slices.Contains(n.required, m.name)}
		if p.node == nil {
			p.node = &node{}
		}
		n.properties[m.name] = p
		n.order = append(n.order, m.name)
		n.spell(m.name, m.name)
		for _, alias := range m.value.get("aliases").words() {
			n.spell(alias, m.name)
		}
	}
}

// spell remembers that spelling, and what looks like it, means name.
func (n *node) spell(spelling, name string) {
	for _, key := range [...]string{fold(spelling), lower(spelling)} {
		if other, taken := n.spellings[key]; taken && other != name {
			n.spellings[key] = ""
		} else {
			n.spellings[key] = name
		}
	}
}

// fixed reports whether all names that may come are named: nothing says that
// there are others, and no other schema speaks about the same object.
func (n *node) fixed() bool {
	open := n.additional != nil && !n.additional.never
	return !open && len(n.patterns) == 0 && n.ref == nil && len(n.allOf)+len(n.anyOf)+len(n.oneOf) == 0 && n.not == nil
}

func (c *compiler) combine(n *node, s *value) {
	n.allOf = c.nodes(s.get("allOf"))
	n.anyOf = c.nodes(s.get("anyOf"))
	n.oneOf = c.nodes(s.get("oneOf"))
	n.not = c.node(s.get("not"))
	if r := s.get("$ref"); r.is(text) {
		n.ref = c.node(c.pointer(r.text))
	}
	n.closed = n.closed && n.fixed()
}

func (c *compiler) nodes(list *value) []*node {
	var all []*node
	for i := range list.list() {
		if n := c.node(&list.items[i]); n != nil {
			all = append(all, n)
		}
	}
	return all
}

// pointer finds the schema that a reference within the document names, or nil.
func (c *compiler) pointer(ref string) *value {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := c.doc
	for _, step := range strings.Split(path, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch i, err := strconv.Atoi(step); {
		case at.is(object):
			at = at.get(step)
		case at.is(array) && err == nil && 0 <= i && i < len(at.items):
			at = &at.items[i]
		default:
			return nil
		}
	}
	return at
}

func (v *value) list() []value {
	if !v.is(array) {
		return nil
	}
	return v.items
}

func (v *value) decimal() *decimal {
	if !v.is(number) {
		return nil
	}
	d := decimalOf(v.text)
	return &d
}

func (v *value) count() *int {
	d := v.decimal()
	if d == nil {
		return nil
	}
	n, ok := d.int64()
	if !ok || n < 0 || n > MaxSize {
		return nil
	}
	i := int(n)
	return &i
}

// fold is a name or a word without what models get wrong: the case of its
// letters (ASCII ones only) and the sign between its words. A sign before or
// after them stays, as it may mean something.
func fold(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '-' || c == ' ':
			c = '_'
		case isUpper(c):
			if i > 0 && !isUpper(s[i-1]) && strings.IndexByte("_- ", s[i-1]) < 0 {
				b.WriteByte('_')
			}
			c |= 0x20
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// lower is s with ASCII letters in lower case.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, s)
}
