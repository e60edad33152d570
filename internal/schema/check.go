package schema

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A reader brings one value in line with a schema and finds what is wrong with it.
type reader struct {
	unknown  Unknown
	repairs  []string
	dropped  []string
	problems []string

	path   []step  // where in the value we are
	near   [8]step // room for most paths
	silent int     // above zero: a trial, of which only failed is wanted
	failed bool
	depth  int
	fuel   int // steps left: a schema that refers to itself in many ways must not hold us up
}

// A step leads from a value to one within it.
type step struct {
	name  string
	index int // when name is empty
}

// mostNotes of each sort are kept: nobody reads more.
const mostNotes = 100

// maxSteps of schema upon schema at one place; no honest schema comes near.
const maxSteps = 4 * maxDepth

// fail notes a problem at this place.
func (r *reader) fail(format string, args ...any) {
	r.failed = true
	if r.silent > 0 || len(r.problems) == mostNotes {
		return
	}
	r.problems = append(r.problems, r.place()+" "+fmt.Sprintf(format, args...))
}

// place is the parameter at hand, as edits[0].old_text.
func (r *reader) place() string {
	var b strings.Builder
	for _, s := range r.path {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
	}
	if b.Len() == 0 {
		return "the arguments"
	}
	return b.String()
}

func (r *reader) enter(name string, index int) { r.path = append(r.path, step{name, index}) }
func (r *reader) leave()                       { r.path = r.path[:len(r.path)-1] }

// spend takes the steps to look at v once, and reports whether there were enough left.
func (r *reader) spend(v *value) bool {
	r.fuel -= 1 + len(v.items) + len(v.members)
	if r.fuel > 0 && r.depth < maxSteps {
		return true
	}
	r.fail("cannot be checked: the schema of this tool takes too many steps")
	return false
}

// check finds what in v is against n.
func (r *reader) check(n *node, v *value) {
	if n == nil || !r.spend(v) {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	switch {
	case n.never:
		r.fail("is not allowed")
		return
	case !n.admits(v):
		r.fail("must be %s, not %s", n.wanted(), v.short())
		return
	case len(n.enum) > 0 && !slices.ContainsFunc(n.enum, v.same):
		r.fail("must be %s, not %s", oneOf(n.enum), v.short())
		return
	}
	switch v.kind {
	case number:
		r.checkNumber(n, v)
	case text:
		r.checkText(n, v)
	case array:
		r.checkArray(n, v)
	case object:
		r.checkObject(n, v)
	}
	r.checkCombined(n, v)
}

func (v *value) same(w value) bool { return v.equal(&w) }

// admits reports whether v is of a type that n allows.
func (n *node) admits(v *value) bool {
	if n.types == 0 || n.types&v.kind != 0 {
		return true
	}
	return v.kind == number && n.types&integer != 0 && decimalOf(v.text).whole()
}

// wanted says in words what n allows.
func (n *node) wanted() string {
	if len(n.enum) > 0 {
		return oneOf(n.enum)
	}
	var words []string
	for k := null; k <= object && k != 0; k <<= 1 {
		if n.types&k != 0 {
			words = append(words, k.name())
		}
	}
	if len(words) == 0 {
		return "of another form"
	}
	return strings.Join(words, " or ")
}

func oneOf(values []value) string {
	if len(values) == 1 {
		return values[0].short()
	}
	const most = 20
	var words []string
	for i := range values[:min(most, len(values))] {
		words = append(words, values[i].short())
	}
	if len(values) > most {
		words = append(words, "…")
	}
	return "one of " + strings.Join(words, ", ")
}

func (r *reader) checkNumber(n *node, v *value) {
	d := decimalOf(v.text)
	if _, fits := d.int64(); !fits && n.types&integer != 0 && n.types&number == 0 {
		r.fail("must be an integer of 64 bits, not %s", v.short())
	}
	bounds := [...]struct {
		bound *decimal
		broke func(int) bool
		words string
	}{
		{n.minimum, func(c int) bool { return c < 0 }, "at least"},
		{n.maximum, func(c int) bool { return c > 0 }, "at most"},
		{n.above, func(c int) bool { return c <= 0 }, "more than"},
		{n.below, func(c int) bool { return c >= 0 }, "less than"},
	}
	for _, b := range bounds {
		if b.bound != nil && b.broke(d.compare(*b.bound)) {
			r.fail("must be %s %s, not %s", b.words, b.bound.plain(), v.short())
		}
	}
	if n.step != nil && !d.multipleOf(*n.step) {
		r.fail("must be a multiple of %s, not %s", n.step.plain(), v.short())
	}
}

func (r *reader) checkText(n *node, v *value) {
	if n.minLength != nil || n.maxLength != nil {
		r.checkCount(utf8.RuneCountInString(v.text), n.minLength, n.maxLength, "characters")
	}
	if n.pattern != nil && !n.pattern.MatchString(v.text) {
		r.fail("must match %s, not %s", n.pattern, v.short())
	}
}

func (r *reader) checkCount(count int, least, most *int, of string) {
	if least != nil && count < *least {
		r.fail("must have at least %d %s, not %d", *least, of, count)
	}
	if most != nil && count > *most {
		r.fail("must have at most %d %s, not %d", *most, of, count)
	}
}

func (r *reader) checkArray(n *node, v *value) {
	r.checkCount(len(v.items), n.minItems, n.maxItems, "items")
	if n.unique {
		r.fuel -= v.size()
		if !distinct(v.items) {
			r.fail("must not have the same item twice")
		}
	}
	for i := range v.items {
		r.enter("", i)
		r.check(n.item(i), &v.items[i])
		r.leave()
	}
}

// item is the schema of the item at i.
func (n *node) item(i int) *node {
	if i < len(n.prefix) {
		return n.prefix[i]
	}
	return n.items
}

func distinct(items []value) bool {
	seen := make(map[string]bool, len(items))
	for i := range items {
		seen[items[i].key()] = true
	}
	return len(seen) == len(items)
}

func (r *reader) checkObject(n *node, v *value) {
	r.checkCount(len(v.members), n.minSize, n.maxSize, "members")
	for _, name := range n.required {
		if v.get(name) == nil {
			r.enter(name, 0)
			r.fail("is missing%s", n.hint(name))
			r.leave()
		}
	}
	for i := range v.members {
		m := &v.members[i]
		r.enter(m.name, 0)
		for schema := range n.about(m.name) {
			r.check(schema, &m.value)
		}
		r.leave()
	}
}

// hint is what a required parameter must be, in brackets.
func (n *node) hint(name string) string {
	if p := n.properties[name]; p != nil && p.types != 0 {
		return " (" + p.wanted() + ")"
	}
	return ""
}

// about are the schemas that speak about the member of that name.
func (n *node) about(name string) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		p := n.properties[name]
		named := p != nil
		if named && !yield(p.node) {
			return
		}
		for _, p := range n.patterns {
			if p.pattern.MatchString(name) {
				named = true
				if !yield(p.node) {
					return
				}
			}
		}
		if !named && n.additional != nil {
			yield(n.additional)
		}
	}
}

func (r *reader) checkCombined(n *node, v *value) {
	r.check(n.ref, v)
	for _, sub := range n.allOf {
		r.check(sub, v)
	}
	if len(n.anyOf) > 0 && r.count(n.anyOf, v) == 0 {
		r.fail("must be %s, not %s", choices(n.anyOf), v.short())
	}
	if len(n.oneOf) > 0 {
		switch r.count(n.oneOf, v) {
		case 0:
			r.fail("must be %s, not %s", choices(n.oneOf), v.short())
		case 1:
		default:
			r.fail("is of more than one of the allowed forms: %s", v.short())
		}
	}
	if n.not != nil && r.fits(n.not, v) {
		r.fail("is of a form that is not allowed: %s", v.short())
	}
}

// choices says in words what some schemas allow.
func choices(nodes []*node) string {
	var words []string
	for _, n := range nodes {
		words = append(words, n.wanted())
	}
	return strings.Join(words, " or ")
}

func (r *reader) count(nodes []*node, v *value) int {
	count := 0
	for _, n := range nodes {
		if r.fits(n, v) {
			count++
		}
	}
	return count
}

// fits reports whether v is right by n, and leaves no trace.
func (r *reader) fits(n *node, v *value) bool {
	failed := r.failed
	r.failed = false
	r.silent++
	r.check(n, v)
	r.silent--
	fits := !r.failed
	r.failed = failed
	return fits
}
