package search

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A want is a text that a match must contain.
type want struct {
	text string
	fold bool // in any case
}

// most bounds how many texts are looked for at once.
const most = 64

// required gives texts one of which every match of the tree contains; none when
// there are no such texts, or too many. Where there is a choice, the ones that
// are rarest in a file are taken.
func required(tree *syntax.Regexp) []want {
	switch tree.Op {
	case syntax.OpLiteral:
		return []want{{string(tree.Rune), tree.Flags&syntax.FoldCase != 0}}
	case syntax.OpCapture, syntax.OpPlus:
		return required(tree.Sub[0])
	case syntax.OpRepeat:
		if tree.Min > 0 {
			return required(tree.Sub[0])
		}
	case syntax.OpConcat:
		return best(tree.Sub)
	case syntax.OpAlternate:
		return union(tree.Sub)
	}
	return nil
}

func best(subs []*syntax.Regexp) []want {
	var chosen []want
	for _, sub := range subs {
		if texts := required(sub); score(texts) > score(chosen) {
			chosen = texts
		}
	}
	return chosen
}

func union(subs []*syntax.Regexp) []want {
	var all []want
	for _, sub := range subs {
		texts := required(sub)
		if len(texts) == 0 || len(all)+len(texts) > most {
			return nil
		}
		all = append(all, texts...)
	}
	return all
}

// plain gives the texts of a tree that stands for nothing but a choice of texts,
// none of them empty: the parser makes of several words what they have in common
// and what they have not.
func plain(tree *syntax.Regexp) (texts []want, ok bool) {
	texts, ok = spelled(tree)
	return texts, ok && !slices.ContainsFunc(texts, func(w want) bool { return w.text == "" })
}

// spelled gives all texts that a tree stands for, if they are few.
func spelled(tree *syntax.Regexp) (texts []want, ok bool) {
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []want{{}}, true
	case syntax.OpLiteral:
		return required(tree), true
	case syntax.OpCharClass:
		return ofClass(tree.Rune)
	case syntax.OpCapture:
		return spelled(tree.Sub[0])
	case syntax.OpQuest:
		texts, ok = spelled(tree.Sub[0])
		return append(texts, want{}), ok
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			more, ok := spelled(sub)
			if texts = append(texts, more...); !ok || len(texts) > most {
				return nil, false
			}
		}
		return texts, true
	case syntax.OpConcat:
		texts = []want{{}}
		for _, sub := range tree.Sub {
			more, ok := spelled(sub)
			if !ok {
				return nil, false
			}
			if texts, ok = oneAfterTheOther(texts, more); !ok {
				return nil, false
			}
		}
		return texts, true
	}
	return nil, false
}

// ofClass gives the characters of a class, pairs of the first and the last of some,
// unless there are many of them or one that ends a line. A letter that is there in
// every case is given once.
func ofClass(pairs []rune) (texts []want, ok bool) {
	var all []rune
	for i := 0; i < len(pairs); i += 2 {
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			if len(all) == most || r == '\n' || r == '\r' {
				return nil, false
			}
			all = append(all, r)
		}
	}
	for _, r := range all {
		first, others := folded(r), formsOf(r)
		whole := len(others) > 1 && !slices.ContainsFunc(others, func(f []byte) bool {
			form, _ := utf8.DecodeRune(f)
			return !slices.Contains(all, form)
		})
		if !whole || r == first {
			texts = append(texts, want{string(r), whole})
		}
	}
	return texts, true
}

// oneAfterTheOther puts each of the second texts after each of the first, unless
// they are too many or case counts in one part of a text and not in the other.
func oneAfterTheOther(first, second []want) (texts []want, ok bool) {
	if len(first)*len(second) > most {
		return nil, false
	}
	for _, a := range first {
		for _, b := range second {
			if a.fold != b.fold && hasCase(a.text) && hasCase(b.text) {
				return nil, false
			}
			texts = append(texts, want{a.text + b.text, a.fold && hasCase(a.text) || b.fold && hasCase(b.text)})
		}
	}
	return texts, true
}

// rarest picks of several texts that all must be there the best one to look for.
func rarest(texts []want) []want {
	chosen := texts[:1]
	for i := range texts {
		if score(texts[i:i+1]) > score(chosen) {
			chosen = texts[i : i+1]
		}
	}
	return chosen
}

// worthLooking is the score from which on it pays to look for texts before an
// automaton: a single letter is nearly everywhere.
const worthLooking = 24

// score estimates how seldom any of the texts is met: by the rarest byte of the
// commonest, by its length, and by how many there are.
func score(texts []want) int {
	if len(texts) == 0 {
		return 0
	}
	lowest := 1 << 20
	for _, w := range texts {
		rare := 0
		for i := range len(w.text) {
			rare = max(rare, rarity(w.text[i]))
		}
		lowest = min(lowest, rare+4*min(len(w.text), 16))
	}
	return max(1, lowest-16*min(len(texts)-1, 4))
}
