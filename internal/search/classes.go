package search

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Classes that every expression has. Further ones hold characters between which
// the expression makes no difference.
const (
	endOfLine uint8 = iota // the line break
	closer                 // of bytes only: more than the byte must be looked at
	firstClass
	mostClasses = 250
)

// classes tell which characters an expression treats alike.
type classes struct {
	ofByte  [256]uint8
	lowest  []rune  // of each range beyond ASCII, in order
	ofRange []uint8 // the class of that range
	sample  []rune  // one character of each class
	word    []bool  // whether the class is one of ASCII letters, digits and _
}

// newClasses sorts characters by what the instructions of a program say of them.
// It is false when there are too many classes.
func newClasses(prog *syntax.Prog) (*classes, bool) {
	c := &classes{sample: []rune{'\n', 0}, word: make([]bool, 2)}
	tests := runeTests(prog)
	known := map[string]uint8{}
	signature := make([]byte, len(tests))
	for _, low := range boundaries(tests) {
		for i, t := range tests {
			signature[i] = '-'
			if t.MatchRune(low) {
				signature[i] = '+'
			}
		}
		key := string(signature)
		if syntax.IsWordChar(low) {
			key += "w"
		}
		class, ok := known[key]
		if !ok {
			if len(c.sample) == mostClasses {
				return nil, false
			}
			class = c.add(low)
			known[key] = class
		}
		c.assign(low, class)
	}
	c.ofByte['\n'] = endOfLine
	return c, true
}

func (c *classes) add(sample rune) uint8 {
	c.sample = append(c.sample, sample)
	c.word = append(c.word, syntax.IsWordChar(sample))
	return uint8(len(c.sample) - 1)
}

// assign gives a class to all characters from low on, until the next call. What
// is not a byte of its own is looked at closer, and so is the carriage return,
// behind which a line may end.
func (c *classes) assign(low rune, class uint8) {
	for b := max(low, 0); b < utf8.RuneSelf; b++ {
		c.ofByte[b] = class
	}
	for b := utf8.RuneSelf; b < len(c.ofByte); b++ {
		c.ofByte[b] = closer
	}
	if low >= utf8.RuneSelf || low == '\r' {
		c.lowest, c.ofRange = append(c.lowest, low), append(c.ofRange, class)
	}
	c.ofByte['\r'] = closer
}

// of is the class of a character that must be looked at closer.
func (c *classes) of(r rune) uint8 {
	i, found := slices.BinarySearch(c.lowest, r)
	if !found {
		i--
	}
	return c.ofRange[i]
}

// runeTests are the instructions of a program that compare characters, each kind once.
func runeTests(prog *syntax.Prog) []*syntax.Inst {
	var tests []*syntax.Inst
	seen := map[string]bool{}
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		if !comparesRune(inst.Op) {
			continue
		}
		key := fmt.Sprint(inst.Op, inst.Arg, inst.Rune)
		if inst.Op == syntax.InstRuneAny || inst.Op == syntax.InstRuneAnyNotNL || seen[key] {
			continue // no line has a line break: both take every character
		}
		seen[key] = true
		tests = append(tests, inst)
	}
	return tests
}

func comparesRune(op syntax.InstOp) bool {
	switch op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// boundaries are the characters at which the answer to a test may change.
func boundaries(tests []*syntax.Inst) []rune {
	all := []rune{0, '\n', '\n' + 1, '\r', '\r' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, utf8.RuneSelf}
	for _, t := range tests {
		if len(t.Rune) == 1 {
			all = append(all, t.Rune[0], t.Rune[0]+1)
			for r := unicode.SimpleFold(t.Rune[0]); r != t.Rune[0]; r = unicode.SimpleFold(r) {
				all = append(all, r, r+1)
			}
			continue
		}
		for i := 0; i < len(t.Rune); i += 2 {
			all = append(all, t.Rune[i], t.Rune[i+1]+1)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(r rune) bool { return r > unicode.MaxRune })
}
