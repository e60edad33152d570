package search

import "regexp/syntax"

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

// plain gives the texts of a tree that is nothing but a choice of texts.
func plain(tree *syntax.Regexp) (texts []want, ok bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		return required(tree), true
	case syntax.OpCapture:
		return plain(tree.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			if _, ok := plain(sub); !ok {
				return nil, false
			}
		}
		texts = required(tree)
		return texts, texts != nil
	}
	return nil, false
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
