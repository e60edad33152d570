package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// A program is an expression made ready for automata: it is shared, they are not.
type program struct {
	prog   *syntax.Prog
	kinds  *classes
	words  bool    // it asks for borders of words
	prefix *needle // what every match begins with, if it pays to look for it
}

// newProgram is nil for an expression that no automaton should run: one that
// fits everywhere, or one that tells too many characters apart.
func newProgram(tree *syntax.Regexp) *program {
	const tooLong = 10_000 // instructions
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > tooLong {
		return nil
	}
	kinds, ok := newClasses(prog)
	if !ok {
		return nil
	}
	p := &program{prog: prog, kinds: kinds}
	for i := range prog.Inst {
		p.words = p.words || needs(&prog.Inst[i], syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary)
	}
	if newAutomaton(p).matchesNothing() {
		return nil
	}
	if text, _ := prog.Prefix(); len(text) > 2 && !p.words && findable([]want{{text, false}}) {
		n := newNeedle(want{text, false})
		p.prefix = &n
	}
	return p
}

// needs reports whether an instruction asks for one of the given places.
func needs(inst *syntax.Inst, place syntax.EmptyOp) bool {
	return inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&place != 0
}

// An automaton finds the lines that an expression matches, one step for each
// byte. Its states are made when they are first needed, and all are forgotten
// when there are too many. It says whether a line matches, not where.
type automaton struct {
	*program
	table  []uint32 // where a state goes with a class: at state+class
	states []state
	known  map[string]uint32 // states by what they are made of
	weight int               // threads in all states

	pending, resolved threads // for making states
	key               []byte

	rounds int  // how often all was forgotten
	made   int  // states made since the last time
	read   int  // bytes read since then
	tired  bool // making states costs more than it saves
}

// A state is a set of instructions that may come next, and what was before.
// In the table it goes by the place of its first entry.
type state struct {
	threads []uint32
	begin   bool // the line begins here
	word    bool // a character of a word came last; always false when nobody asks
}

// Entries of the table that are no states: unknown and all above it.
const (
	unknown  uint32 = 1<<31 + iota // to be made
	matched                        // the line matches
	hopeless                       // nothing will match before the next line
	idle                           // a match can only begin where the prefix is
)

// The first state is that of the beginning of a line. The second is that of any
// other place at which nothing has begun yet.
const lineStart uint32 = 0

func (a *automaton) elsewhere() uint32 { return uint32(len(a.kinds.sample)) }

func newAutomaton(p *program) *automaton {
	a := &automaton{program: p}
	a.pending.at = make([]uint32, len(p.prog.Inst))
	a.resolved.at = make([]uint32, len(p.prog.Inst))
	a.forget()
	return a
}

// forget drops all states but the first.
func (a *automaton) forget() {
	const worthwhile = 10 // bytes that should be read for each state made
	a.tired = a.tired || a.read < worthwhile*a.made
	a.rounds, a.made, a.read, a.weight = a.rounds+1, 0, 0, 0
	a.table, a.states, a.known = a.table[:0], a.states[:0], map[string]uint32{}
	a.pending.clear()
	a.follow(uint32(a.prog.Start))
	a.intern(state{threads: a.waiting(), begin: true})
	a.intern(state{threads: a.waiting()})
}

// matchesNothing reports whether a match may be empty and anywhere.
func (a *automaton) matchesNothing() bool { return a.has(a.states[0].threads, syntax.InstMatch) }

func (a *automaton) has(pcs []uint32, op syntax.InstOp) bool {
	return slices.ContainsFunc(pcs, func(pc uint32) bool { return a.prog.Inst[pc].Op == op })
}

func (a *automaton) begin() {}

// next is exact unless the automaton is tired.
func (a *automaton) next(data []byte, from int) int {
	if a.tired {
		return everyLine{}.next(data, from)
	}
	i, s := a.jump(data, from, from)
	for counted := from; ; {
		i, s = a.run(data, i, s)
		a.read, counted = a.read+i-counted, i
		if i == len(data) {
			break
		}
		class, size := a.look(data, i)
		if data[i] == '\r' && endsAt(data, i+1) && a.step(s, endOfLine) == matched {
			return i
		}
		switch t := a.step(s, class); {
		case t == matched || a.tired:
			return i
		case t == hopeless:
			i, s = lineEnd(data, i), lineStart
			if i == len(data) {
				return -1
			}
			i++
		case t == idle:
			i, s = a.jump(data, from, i+size)
		default:
			i, s = i+size, t
		}
	}
	if from < len(data) && data[len(data)-1] != '\n' && a.step(s, endOfLine) == matched {
		return len(data) - 1
	}
	return -1
}

// jump gives the next place at or after i where a match may begin, and the state
// there. A line begins at from and, so to say, at the end of data.
func (a *automaton) jump(data []byte, from, i int) (int, uint32) {
	if a.prefix != nil {
		if i, _ = a.prefix.next(data, i, nil); i < 0 {
			return len(data), lineStart
		}
	}
	if i == from || data[i-1] == '\n' {
		return i, lineStart
	}
	return i, a.elsewhere()
}

// run goes on from a state until the table knows no further state.
func (a *automaton) run(data []byte, i int, s uint32) (int, uint32) {
	table, kind := a.table, &a.kinds.ofByte
	for ; i+4 <= len(data); i += 4 {
		d := data[i : i+4 : i+4]
		s1 := table[s+uint32(kind[d[0]])]
		if s1 >= unknown {
			return i, s
		}
		s2 := table[s1+uint32(kind[d[1]])]
		if s2 >= unknown {
			return i + 1, s1
		}
		s3 := table[s2+uint32(kind[d[2]])]
		if s3 >= unknown {
			return i + 2, s2
		}
		if s = table[s3+uint32(kind[d[3]])]; s >= unknown {
			return i + 3, s3
		}
	}
	for ; i < len(data); i++ {
		t := table[s+uint32(kind[data[i]])]
		if t >= unknown {
			return i, s
		}
		s = t
	}
	return i, s
}

// look gives the class and the length of the character at i.
func (a *automaton) look(data []byte, i int) (class uint8, size int) {
	if class = a.kinds.ofByte[data[i]]; class != closer {
		return class, 1
	}
	r, size := rune(data[i]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRune(data[i:])
	}
	return a.kinds.of(r), size
}

// endsAt reports whether a line ends at i.
func endsAt(data []byte, i int) bool { return i == len(data) || data[i] == '\n' }

// step gives where a state goes with a class, and makes it when nobody knows.
func (a *automaton) step(s uint32, class uint8) uint32 {
	if t := a.table[s+uint32(class)]; t != unknown {
		return t
	}
	rounds := a.rounds
	t := a.make(&a.states[int(s)/len(a.kinds.sample)], class)
	if a.rounds == rounds { // otherwise s was forgotten
		a.table[s+uint32(class)] = t
	}
	return t
}

// make takes all threads of a state over one character. What may follow a
// thread that asks for a place is known only now that the character is.
func (a *automaton) make(from *state, class uint8) uint32 {
	a.resolved.clear()
	place := a.placeBefore(from, class)
	for _, pc := range from.threads {
		a.resolve(pc, place)
	}
	switch {
	case a.has(a.resolved.list, syntax.InstMatch):
		return matched
	case class == endOfLine && a.prefix != nil:
		return idle
	case class == endOfLine:
		return lineStart
	}
	a.pending.clear()
	for _, pc := range a.resolved.list {
		if inst := &a.prog.Inst[pc]; comparesRune(inst.Op) && inst.MatchRune(a.kinds.sample[class]) {
			a.follow(inst.Out)
		}
	}
	a.follow(uint32(a.prog.Start)) // a match may begin anywhere
	threads := a.waiting()
	switch {
	case a.has(threads, syntax.InstMatch):
		return matched
	case len(threads) == 0:
		return hopeless
	case a.prefix != nil && slices.Equal(threads, a.states[1].threads):
		return idle
	}
	return a.intern(state{threads: threads, word: a.words && a.kinds.word[class]})
}

// placeBefore is what is true between a state and the character that follows.
func (a *automaton) placeBefore(s *state, class uint8) syntax.EmptyOp {
	place := syntax.EmptyNoWordBoundary
	if s.word != a.kinds.word[class] {
		place = syntax.EmptyWordBoundary
	}
	if s.begin {
		place |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if class == endOfLine {
		place |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	return place
}

// follow adds to pending what can be reached without knowing the next character.
func (a *automaton) follow(pc uint32) {
	if !a.pending.add(pc) {
		return
	}
	switch inst := &a.prog.Inst[pc]; inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		a.follow(inst.Out)
		a.follow(inst.Arg)
	case syntax.InstCapture, syntax.InstNop:
		a.follow(inst.Out)
	}
}

// waiting are the pending threads that can ever go on, in order. Behind the
// beginning of a line, where the first state is, nothing that asks for it can.
func (a *automaton) waiting() []uint32 {
	var list []uint32
	begin := len(a.states) == 0
	for _, pc := range a.pending.list {
		inst := &a.prog.Inst[pc]
		late := !begin && needs(inst, syntax.EmptyBeginLine|syntax.EmptyBeginText)
		if comparesRune(inst.Op) || inst.Op == syntax.InstMatch || inst.Op == syntax.InstEmptyWidth && !late {
			list = append(list, pc)
		}
	}
	slices.Sort(list)
	return list
}

// resolve adds what can be reached at a place.
func (a *automaton) resolve(pc uint32, place syntax.EmptyOp) {
	if !a.resolved.add(pc) {
		return
	}
	switch inst := &a.prog.Inst[pc]; inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		a.resolve(inst.Out, place)
		a.resolve(inst.Arg, place)
	case syntax.InstCapture, syntax.InstNop:
		a.resolve(inst.Out, place)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(inst.Arg)&^place == 0 {
			a.resolve(inst.Out, place)
		}
	}
}

// intern gives the place of a state in the table, which has room for it after
// all others were forgotten if need be.
func (a *automaton) intern(s state) uint32 {
	const (
		mostEntries = 1 << 17 // half a megabyte
		mostThreads = 1 << 17 // the same
	)
	a.key = a.key[:0]
	for _, pc := range s.threads {
		a.key = binary.AppendUvarint(a.key, uint64(pc))
	}
	if s.word {
		a.key = append(a.key, 0xff, 0xff) // no number ends so
	}
	if at, ok := a.known[string(a.key)]; ok && !s.begin {
		return at
	}
	if len(a.table) > mostEntries || a.weight > mostThreads {
		a.forget()
		return a.intern(s)
	}
	at := uint32(len(a.table))
	for range a.kinds.sample {
		a.table = append(a.table, unknown)
	}
	a.states = append(a.states, s)
	a.made++
	a.weight += len(s.threads)
	if !s.begin { // of those there is only one, and nobody comes back to it
		a.known[string(a.key)] = at
	}
	return at
}

// threads is a set of instructions in the order in which they were added.
type threads struct {
	list []uint32
	at   []uint32 // where in list an instruction is, if it is there
}

func (t *threads) clear() { t.list = t.list[:0] }

// add reports whether the instruction is new.
func (t *threads) add(pc uint32) bool {
	if i := t.at[pc]; int(i) < len(t.list) && t.list[i] == pc {
		return false
	}
	t.at[pc] = uint32(len(t.list))
	t.list = append(t.list, pc)
	return true
}

// guarded looks with an automaton only at lines that a quicker finder points out.
type guarded struct {
	finder
	lines *automaton
}

func (g guarded) next(data []byte, from int) int {
	for {
		hit := g.finder.next(data, from)
		if hit < 0 {
			return -1
		}
		start := from + lastBreak(data[from:hit]) + 1
		end := lineEnd(data, hit)
		if g.lines.next(data[start:end], 0) >= 0 {
			return hit
		}
		from = end + 1
	}
}
