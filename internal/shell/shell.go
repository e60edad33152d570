// Package shell says what a command line would do, without doing it.
//
// [Classify] parses a line once, as bash would, looks at every simple command at every level (lists, pipes,
// substitutions, here-documents, functions, scripts handed to another shell) and through every wrapper that merely
// starts another program, and gives the strongest verdict it found. What a program does is data: one row per
// program or subcommand says which of its flags are known and what they touch. Whatever is not in a row, and
// whatever cannot be read from the text, is asked; nothing is guessed. A [Rule] is what a person allowed or forbade.
//
// The package does no I/O: it never looks at the disk, the environment or the clock.
package shell

import (
	"slices"
	"strings"
)

// A Verdict is how far the effects of a command reach; a larger one is stronger.
type Verdict uint8

const (
	ReadOnly  Verdict = iota // nothing changes outside the process
	Writes                   // changes files below the workspace only
	Network                  // contacts another host
	MustAsk                  // cannot be known from the text
	Dangerous                // reaches outside, destroys work, gains power, or reads a secret
)

func (v Verdict) String() string {
	names := [...]string{"read_only", "writes_in_workspace", "network", "unparseable-must-ask", "dangerous"}
	return names[min(int(v), len(names)-1)]
}

// A Place is where a line would run. All paths are absolute, clean and free of symbolic links.
type Place struct {
	Dir   string   // the current folder
	Roots []string // the workspace
	Home  string   // what ~ means
	Temp  []string // folders where writing is harmless, may be empty
}

// An Assessment is what a whole line would do. Its verdict is that of its strongest part.
type Assessment struct {
	Verdict Verdict
	Reason  string   // of the strongest part
	Parts   []Part   // every simple command, in the order of the text, wrapped ones after their wrapper
	Reads   []string // absolute paths named, as far as they are known
	Writes  []string
	Hosts   []string

	unruly string // why no rule may let this line pass unasked, empty when one may
}

// A Part is one simple command of a line.
type Part struct {
	Command string   // as written, or rebuilt when it was found inside another command
	Words   []string // after quote removal, nil when some word is only known at run time
	Verdict Verdict
	Reason  string

	args   []arg
	sub    int   // index of the subcommand's last word in args, 0 when there is none
	risky  []int // indexes of words that make the program write a file or run a program
	opaque bool  // the program's effects are not known to any table
	inner  bool  // found through a wrapper or inside a script
	exact  bool  // only an exact rule may cover it
	lists  bool  // prints names of files of the workspace
	runs   bool  // runs a file or text that may have just been downloaded
}

const (
	maxLine  = 32 << 10 // bytes; longer lines cannot be shown to a person either
	maxParts = 2000     // simple commands; a function can multiply them
	maxDepth = 8        // scripts within scripts
	maxNest  = 200      // blocks within blocks
)

// Classify says what line would do at a place. It never runs anything and never fails: a line that is not
// understood is MustAsk, one that is beyond its limits is Dangerous.
func Classify(line string, at Place) Assessment {
	j := &judge{place: at, vars: map[string]variable{}}
	if len(line) > maxLine {
		j.floor(Dangerous, "the line is longer than can be judged")
		j.out.unruly = "too long"
		return j.finish()
	}
	if bad := hidden(line); bad != "" {
		j.floor(MustAsk, "the line has "+bad)
		j.out.unruly = bad
	}
	j.script(line, scope{dirs: []string{at.Dir}})
	return j.finish()
}

// finish settles the verdict of the line from its parts and from what was found beside them.
func (j *judge) finish() Assessment {
	for _, p := range j.out.Parts {
		j.floor(p.Verdict, p.Reason)
	}
	for _, list := range []*[]string{&j.out.Reads, &j.out.Writes, &j.out.Hosts} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if j.out.Reason == "" {
		j.out.Reason = "nothing changes"
	}
	return j.out
}

// floor raises the verdict of the whole line.
func (j *judge) floor(v Verdict, reason string) {
	if v > j.out.Verdict {
		j.out.Verdict, j.out.Reason = v, reason
	}
}

// hidden names the first kind of character that a person would not see in a prompt, or that a shell and a
// terminal read differently. Newline and tab are the only control characters a line may have.
func hidden(line string) string {
	for _, r := range line {
		switch {
		case r == '\n' || r == '\t':
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
			return "a control character"
		case r == '\uFFFD':
			return "bytes that are not text"
		case r >= 0x80 && invisible(r):
			return "an invisible character"
		}
	}
	return ""
}

// invisible tells whether r draws nothing or turns the direction of the text around it.
func invisible(r rune) bool {
	i, found := slices.BinarySearchFunc(invisibleRanges[:], r, func(x [2]rune, r rune) int {
		switch {
		case x[1] < r:
			return -1
		case x[0] > r:
			return 1
		}
		return 0
	})
	return found && i >= 0
}

// invisibleRanges is sorted. Wide and unusual blanks are in it as well: the shell does not split words there.
var invisibleRanges = [...][2]rune{
	{0xA0, 0xA0},
	{0xAD, 0xAD},
	{0x34F, 0x34F},
	{0x61C, 0x61C},
	{0x115F, 0x1160},
	{0x1680, 0x1680},
	{0x17B4, 0x17B5},
	{0x180B, 0x180F},
	{0x2000, 0x200F},
	{0x2028, 0x202F},
	{0x205F, 0x206F},
	{0x2800, 0x2800},
	{0x3000, 0x3000},
	{0x3164, 0x3164},
	{0xFE00, 0xFE0F},
	{0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0},
	{0xFFF0, 0xFFFB},
	{0x1BCA0, 0x1BCA3},
	{0x1D173, 0x1D17A},
	{0xE0000, 0xE0FFF},
}

// joined rebuilds a command from its words, for parts that have no text of their own.
func joined(args []arg) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.shown())
	}
	return b.String()
}
