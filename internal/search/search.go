// Package search finds lines in many files: plain text, a pattern with stars or
// a regular expression, with or without regard to case.
//
// A file is not taken apart into lines. A finder runs over whole buffers and
// points out places where a match may be; only round those are line bounds
// looked for, and a judge has the last word where the finder alone cannot be
// sure. What a finder looks for are bytes that every match must contain.
package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Options say how a pattern is read. Without Literal and Wildcard it is a
// regular expression in Go's syntax.
type Options struct {
	Literal    bool // every character means itself
	Wildcard   bool // so too, but a star means any characters within the line
	IgnoreCase bool // letters that differ in case only are the same, in all scripts
}

// A Query is a pattern ready to be searched for. It is safe for concurrent use.
type Query struct {
	finder func() finder
	judge  judge // nil: what a finder gives is a match
	needs  need
}

// A finder points out where a match may be. It is the seam between patterns and
// files: Compile picks a kind, and nothing else knows which. It remembers what
// it has seen, so it belongs to one goroutine.
type finder interface {
	// next gives the offset of the first place at or after from, the beginning
	// of a line, whose line may match, or -1. Every matching line from there on
	// is pointed out in turn.
	next(data []byte, from int) int
	// begin makes ready for other data.
	begin()
}

// A judge gives the offset of the match in a line, or -1.
type judge func(line []byte) int

// What a pattern cannot be.
var (
	errLines = errors.New("a match lies within one line, but the pattern has a line break")
	errText  = errors.New("the pattern is not valid UTF-8")
)

// Compile reads a pattern.
func Compile(pattern string, o Options) (*Query, error) {
	switch {
	case strings.ContainsRune(pattern, '\n'):
		return nil, errLines
	case !utf8.ValidString(pattern):
		return nil, errText
	}
	if !o.Literal && !o.Wildcard {
		return expression(pattern, o.IgnoreCase)
	}
	texts := pieces(pattern, o)
	if !findable(texts) {
		return expression(expressionOf(texts), o.IgnoreCase)
	}
	return inOrder(texts), nil
}

// pieces are the texts of a pattern that is no expression.
func pieces(pattern string, o Options) (texts []want) {
	parts := []string{pattern}
	if o.Wildcard && !o.Literal {
		parts = strings.Split(pattern, "*")
	}
	for _, text := range parts {
		if text != "" {
			texts = append(texts, want{text, o.IgnoreCase})
		}
	}
	return texts
}

func expressionOf(texts []want) string {
	quoted := make([]string, len(texts))
	for i, w := range texts {
		quoted[i] = regexp.QuoteMeta(w.text)
	}
	return strings.Join(quoted, ".*")
}

// literals is a query for any of several texts for which findable is true.
// Where there are many the finder tells only that one of them is there.
func literals(texts []want) *Query {
	q := &Query{finder: findAny(texts), needs: anyOf(texts)}
	if len(texts) > passes() {
		q.judge = earliest(texts)
	}
	return q
}

// findable reports whether a finder can look for the texts. The character that
// stands for bad bytes is beyond it: expressions take such bytes for it.
func findable(texts []want) bool {
	return !slices.ContainsFunc(texts, func(w want) bool { return strings.ContainsRune(w.text, utf8.RuneError) })
}

func judgeBy(re *regexp.Regexp) judge {
	return func(line []byte) int {
		if at := re.FindIndex(line); at != nil {
			return at[0]
		}
		return -1
	}
}

// inOrder is a query for texts that follow one another in a line.
func inOrder(texts []want) *Query {
	switch len(texts) {
	case 0:
		return &Query{finder: findEvery}
	case 1:
		return literals(texts)
	}
	return &Query{finder: findAny(rarest(texts)), judge: inTurn(texts), needs: allOf(texts)}
}

// earliest gives where the first of several texts begins.
func earliest(texts []want) judge {
	needles := newNeedles(texts)
	return func(line []byte) int {
		first := -1
		for i := range needles {
			if start, _ := needles[i].in(line, 0); start >= 0 && (first < 0 || start < first) {
				first = start
			}
		}
		return first
	}
}

// inTurn looks for one piece after the other. The first place of each leaves
// most room for the next, so there is nothing to go back for.
func inTurn(pieces []want) judge {
	needles := newNeedles(pieces)
	return func(line []byte) int {
		first, from := -1, 0
		for i := range needles {
			start, end := needles[i].in(line, from)
			if start < 0 {
				return -1
			}
			if i == 0 {
				first = start
			}
			from = end
		}
		return first
	}
}

func expression(pattern string, fold bool) (*Query, error) {
	flags := syntax.Perl
	if fold {
		flags |= syntax.FoldCase
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("reading the pattern: %w", err)
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("reading the pattern: %w", err)
	}
	if spansLines(tree) {
		return nil, errLines
	}
	if texts, ok := plain(tree); ok && findable(texts) {
		return literals(texts), nil
	}
	return &Query{finder: findExpression(tree), judge: judgeBy(re), needs: needOf(tree)}, nil
}

// findExpression picks the quickest way: texts that must be there, an automaton,
// best both.
func findExpression(tree *syntax.Regexp) func() finder {
	texts, p := required(tree), newProgram(tree)
	usable := len(texts) > 0 && findable(texts)
	switch {
	case usable && p != nil && score(texts) > worthLooking:
		texts := findAny(texts)
		return func() finder { return guarded{texts(), newAutomaton(p)} }
	case p != nil:
		return func() finder { return newAutomaton(p) }
	case usable:
		return findAny(texts)
	}
	return findEvery
}

func spansLines(tree *syntax.Regexp) bool {
	if tree.Op == syntax.OpLiteral && strings.ContainsRune(string(tree.Rune), '\n') {
		return true
	}
	for _, sub := range tree.Sub {
		if spansLines(sub) {
			return true
		}
	}
	return false
}

// everyLine points out each line: for patterns without anything to look for.
type everyLine struct{}

func findEvery() finder { return everyLine{} }

func (everyLine) begin() {}

func (everyLine) next(data []byte, from int) int {
	if from >= len(data) {
		return -1
	}
	return from
}
