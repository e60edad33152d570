package schema

import (
	"fmt"
	"slices"
	"strings"
)

// fit mends in v what the schema gives one meaning to: the names of members, a
// number in quotes, null for what may be absent. With exact, n alone speaks
// about v, so members it does not name are unknown.
func (r *reader) fit(n *node, v *value, exact bool) {
	if n == nil || !r.spend(v) {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	r.fit(n.ref, v, exact)
	for _, sub := range n.allOf {
		r.fit(sub, v, false)
	}
	r.choose(n.anyOf, v)
	r.choose(n.oneOf, v)
	if !n.admits(v) {
		r.convert(n, v)
	}
	r.respell(n, v)
	switch v.kind {
	case number:
		n.tidy(v)
	case array:
		for i := range v.items {
			r.enter("", i)
			r.fit(n.item(i), &v.items[i], true)
			r.leave()
		}
	case object:
		r.fitObject(n, v, exact)
	}
}

func (r *reader) note(format string, args ...any) {
	if len(r.repairs) == mostNotes {
		return
	}
	r.repairs = append(r.repairs, r.place()+": "+fmt.Sprintf(format, args...))
}

// choose fits v to the one form that it can be brought into. A form that it has
// already is the best; several ways to mend it are none.
func (r *reader) choose(forms []*node, v *value) {
	var found *value
	var how *reader
	for _, form := range forms {
		mended, trial := r.try(form, v)
		switch {
		case mended == nil:
			continue
		case len(trial.repairs) > 0 && found != nil && !found.equal(mended):
			return
		}
		found, how = mended, trial
		if len(trial.repairs) == 0 {
			break
		}
	}
	if found != nil {
		*v = *found
		r.repairs = append(r.repairs, how.repairs...)
		r.dropped = append(r.dropped, how.dropped...)
	}
}

// try is a copy of v brought into a form and the reader that did it, or nil.
func (r *reader) try(form *node, v *value) (*value, *reader) {
	r.fuel -= 4 * v.size() // copies cost memory as well as time
	if r.fuel <= 0 {
		return nil, nil // the next step says so
	}
	mended := v.clone()
	trial := *r
	trial.silent, trial.failed = r.silent+1, false
	trial.repairs, trial.dropped = nil, nil
	trial.fit(form, &mended, false)
	trial.check(form, &mended)
	r.fuel = trial.fuel
	if trial.failed {
		return nil, nil
	}
	return &mended, &trial
}

// convert changes a value of the wrong type into the right one where only one
// value can be meant.
func (r *reader) convert(n *node, v *value) {
	if v.kind == text && r.unquote(n, v) {
		return
	}
	if n.types&array != 0 && n.items != nil && n.items.types != 0 && n.items.admits(v) && lone(v) {
		*v = arrayOf(*v)
		r.note("one value read as an array of one")
	}
}

// lone reports whether v is surely one item and not a list written as text.
func lone(v *value) bool {
	switch v.kind {
	case text:
		return v.text != "" && !strings.ContainsAny(v.text, ",; \t\r\n[]{}")
	case null, array:
		return false
	}
	return true
}

// unquote reads a string as the value of another type that it spells.
func (r *reader) unquote(n *node, v *value) bool {
	if n.types&boolean != 0 && (strings.EqualFold(v.text, "true") || strings.EqualFold(v.text, "false")) {
		*v = value{kind: boolean, truth: len(v.text) == len("true")}
		r.note("string read as a boolean")
		return true
	}
	inner, err := scanStrict(v.text)
	if err != nil || inner.kind&(number|array|object) == 0 || !n.admits(&inner) {
		return false
	}
	if inner.kind == number && !plainly(n, v.text) {
		return false
	}
	*v = inner
	r.note("string read as %s", inner.kind.name())
	return true
}

// plainly reports whether s spells a number as a person would: digits, a sign
// before them, and a point only where a fraction may come.
func plainly(n *node, s string) bool {
	signs := "-0123456789"
	if n.types&number != 0 {
		signs += "."
	}
	return strings.Trim(s, signs) == ""
}

// respell gives a word of an enum its right spelling.
func (r *reader) respell(n *node, v *value) {
	if v.kind != text || len(n.enum) == 0 || slices.ContainsFunc(n.enum, v.same) {
		return
	}
	var found []string
	for _, allowed := range n.enum {
		if allowed.kind == text && fold(allowed.text) == fold(v.text) {
			found = append(found, allowed.text)
		}
	}
	if len(found) == 1 && v.text != "" {
		r.note("%s read as %q", v.short(), found[0])
		v.text = found[0]
	}
}

// tidy writes an integer without point and exponent, as decoders want it.
func (n *node) tidy(v *value) {
	if n.types&integer == 0 || n.types&number != 0 {
		return
	}
	if plain := strings.Trim(v.text, "0123456789"); plain == "" || plain == "-" && v.text != "-0" {
		return
	}
	if whole, fits := decimalOf(v.text).int64(); fits {
		v.text = fmt.Sprint(whole)
	}
}

// fitObject gives every member its declared name, leaves out what is absent or
// unknown, and fits the rest.
func (r *reader) fitObject(n *node, v *value, exact bool) {
	r.rename(n, v)
	kept := v.members[:0]
	for i := range v.members {
		m := v.members[i]
		r.enter(m.name, 0)
		if !r.omit(n, &m, exact) {
			for schema := range n.about(m.name) {
				r.fit(schema, &m.value, true)
			}
			kept = append(kept, m)
		}
		r.leave()
	}
	v.members = kept
}

// rename gives members their declared names, unless the name is there already.
func (r *reader) rename(n *node, v *value) {
	for i := range v.members {
		m := &v.members[i]
		if n.properties[m.name] != nil {
			continue
		}
		if name := n.meant(m.name); name != "" && v.get(name) == nil {
			r.note("%q read as %q", m.name, name)
			m.name = name
		}
	}
}

// meant is the declared name that another spelling or an alias stands for, or empty.
func (n *node) meant(name string) string {
	if declared := n.spellings[fold(name)]; declared != "" {
		return declared
	}
	return n.spellings[lower(name)]
}

// omit reports whether the member m is left out: null where nothing may stand
// as well, or unknown.
func (r *reader) omit(n *node, m *member, exact bool) bool {
	if p := n.properties[m.name]; p != nil {
		absent := m.value.kind == null && !p.required && !r.fits(p.node, &m.value)
		if absent {
			r.note("null read as absent")
		}
		return absent
	}
	if r.refuseTwin(n, m.name) {
		return true
	}
	if !exact || !n.closed {
		return false
	}
	switch {
	case r.unknown == RefuseUnknown:
		r.fail("is no parameter%s", n.known())
	case n.misplaced(&m.value):
		r.fail("is no parameter; put what is in it at the top")
	case len(r.dropped) < mostNotes:
		r.dropped = append(r.dropped, r.place())
	}
	return true
}

// refuseTwin refuses a name that means a parameter given already, as to pick
// one would be a guess, and a name that a decoder might take for a declared one
// though it is not: encoding/json folds case, the long s and the Kelvin sign.
func (r *reader) refuseTwin(n *node, name string) bool {
	if declared := n.meant(name); declared != "" {
		r.fail("means %s, which is given already; give it once", declared)
		return true
	}
	for _, declared := range n.order {
		if strings.EqualFold(name, declared) {
			r.fail("only looks like %s", declared)
			return true
		}
	}
	return false
}

// misplaced reports whether v holds what belongs to the object around it.
func (n *node) misplaced(v *value) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return n.meant(m.name) != "" })
}

// known lists the names that n declares.
func (n *node) known() string {
	if len(n.order) == 0 {
		return "; there are none"
	}
	return "; known are " + strings.Join(n.order, ", ")
}
