package clean

import (
	"fmt"
	"slices"
	"unicode"
)

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	textForm  = '\ufe0e' // after a pictograph: drawn as text
	emojiForm = '\ufe0f' // after a pictograph: drawn as emoji
	keycap    = '\u20e3'
	blackFlag = '\U0001f3f4'
	none      = -1 // no rune: the start or the end of the text

	maxMarks = 4 // combining marks that may sit on one another
)

// regions are the flags written with tag characters that terminals draw:
// England, Scotland and Wales.
var regions = [...]string{"gbeng", "gbsct", "gbwls"}

// see is step 2: r is shown, or marked when it would hide, reorder or pile up.
// Neighbours decide about some runes, so a few are kept until the next ones come.
func (f *Filter) see(r rune) {
	if len(f.ahead) == 0 && isPlain(r) {
		f.marks = 0
		f.pass(r)
		f.put(r)
		return
	}
	f.ahead = append(f.ahead, r)
	f.settle(false)
}

// isPlain: no rule names r, whatever its neighbours. It need not know all such
// runes; these are the ones that come in numbers.
func isPlain(r rune) bool {
	return r < 0xA9 || (r >= 0xC0 && r < 0x300) || (r >= 0x3400 && r < 0xA000) || (r >= 0xAC00 && r < 0xD7A4)
}

// settle decides about as many runes as can be decided; with last set, all.
func (f *Filter) settle(last bool) {
	for len(f.ahead) > 0 {
		n := f.settleOne(last)
		if n == 0 {
			return
		}
		f.ahead = slices.Delete(f.ahead, 0, n)
	}
}

// settleOne decides about the first rune ahead, or about a whole flag, and says
// how many runes that were; 0 when it takes more to tell.
func (f *Filter) settleOne(last bool) int {
	r, next := f.ahead[0], rune(none)
	if len(f.ahead) > 1 {
		next = f.ahead[1]
	} else if needsNext(r) && !last {
		return 0
	}
	if r == blackFlag {
		switch n, wait := flag(f.ahead); {
		case wait && !last:
			return 0
		case n > 0:
			f.showFlag(n)
			return n
		}
	}
	f.show(r, next)
	f.pass(r)
	return 1
}

func needsNext(r rune) bool { return r == joiner || r == nonJoiner || r == emojiForm || r == blackFlag }

// flag measures the flag with tags at the start of rs. Without one it is 0;
// wait says that more runes could make one.
func flag(rs []rune) (n int, wait bool) {
	for _, name := range regions {
		want := []rune{blackFlag}
		for _, c := range name {
			want = append(want, 0xE0000+c)
		}
		want = append(want, 0xE007F)
		switch k := min(len(want), len(rs)); {
		case !slices.Equal(rs[:k], want[:k]):
		case k < len(want):
			return 0, true
		default:
			return k, false
		}
	}
	return 0, false
}

func (f *Filter) showFlag(n int) {
	f.marks = 0
	for _, r := range f.ahead[:n] {
		f.pass(r)
		f.put(r)
	}
}

// pass remembers r as the nearer of the runes before.
func (f *Filter) pass(r rune) { f.before[1], f.before[0] = f.before[0], r }

func (f *Filter) show(r, next rune) {
	switch {
	case !f.stays(r, next):
		f.marks = 0
		f.mark("<U+%04X>", r)
	case isMark(r):
		f.showMark(r)
	case isJoiner(r) && f.marks > 0 && isMark(next): // inside a run of marks
		if f.marks < maxMarks {
			f.put(r)
		}
	default:
		f.marks = 0
		f.put(r)
	}
}

// showMark lets the first marks of a run stay and cuts the rest.
func (f *Filter) showMark(r rune) {
	f.marks++
	switch {
	case f.marks <= maxMarks:
		f.put(r)
	case f.marks == maxMarks+1:
		f.mark("<U+%04X…>", r)
	}
}

func (f *Filter) mark(format string, r rune) {
	for _, c := range fmt.Sprintf(format, r) {
		f.put(c)
	}
}

// stays reports whether r may be shown between what is before and next.
func (f *Filter) stays(r, next rune) bool {
	switch {
	case unicode.Is(hidden, r):
		return false
	case isSelector(r):
		return f.selects(r, next)
	case isJoiner(r):
		return (joins(f.before[0]) && joins(next)) || (r == joiner && f.afterPictograph() && isPictograph(next))
	}
	return true
}

// selects reports whether a variation selector has something to select: the
// form of a pictograph or of a keycap.
func (f *Filter) selects(r, next rune) bool {
	if r < textForm {
		return false
	}
	return isPictograph(f.before[0]) || (r == emojiForm && next == keycap && isKey(f.before[0]))
}

// afterPictograph: one stands before, with at most one selector or skin tone.
func (f *Filter) afterPictograph() bool {
	near := f.before[0]
	return isPictograph(near) || ((near == emojiForm || isSkinTone(near)) && isPictograph(f.before[1]))
}

func isJoiner(r rune) bool     { return r == joiner || r == nonJoiner }
func isSelector(r rune) bool   { return r >= 0xFE00 && r <= 0xFE0F }
func isSkinTone(r rune) bool   { return r >= 0x1F3FB && r <= 0x1F3FF }
func isPictograph(r rune) bool { return unicode.Is(pictographs, r) }
func isKey(r rune) bool        { return (r >= '0' && r <= '9') || r == '#' || r == '*' }

// isMark: a combining mark that takes no room of its own.
func isMark(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me) && !isSelector(r) && !unicode.Is(hidden, r)
}

// joins: a letter or mark of a script whose spelling needs joiners.
func joins(r rune) bool { return unicode.Is(joining, r) && unicode.In(r, unicode.L, unicode.M) }

// hidden are the runes that are never shown: invisible ones, fillers, those
// that change the direction of text, and tags.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00AD, 0x00AD, 1},
		{0x034F, 0x034F, 1},
		{0x061C, 0x061C, 1},
		{0x115F, 0x1160, 1},
		{0x17B4, 0x17B5, 1},
		{0x180B, 0x180F, 1},
		{0x200B, 0x200B, 1},
		{0x200E, 0x200F, 1},
		{0x2028, 0x202E, 1},
		{0x2060, 0x206F, 1},
		{0x3164, 0x3164, 1},
		{0xFEFF, 0xFEFF, 1},
		{0xFFA0, 0xFFA0, 1},
		{0xFFF9, 0xFFFB, 1},
	},
	R32: []unicode.Range32{
		{0x1BCA0, 0x1BCA3, 1}, {0x1D173, 0x1D17A, 1}, {0xE0000, 0xE0FFF, 1},
	},
	LatinOffset: 1,
}

// joining are the blocks from Arabic to Sinhala, Myanmar, Khmer and Mongolian.
var joining = &unicode.RangeTable{
	R16: []unicode.Range16{{0x0600, 0x0DFF, 1}, {0x1000, 0x109F, 1}, {0x1780, 0x18AF, 1}},
}

var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00A9, 0x00A9, 1},
		{0x00AE, 0x00AE, 1},
		{0x203C, 0x203C, 1},
		{0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x2194, 0x2199, 1},
		{0x21A9, 0x21AA, 1},
		{0x231A, 0x231B, 1},
		{0x2328, 0x2328, 1},
		{0x23CF, 0x23CF, 1},
		{0x23E9, 0x23F3, 1},
		{0x23F8, 0x23FA, 1},
		{0x24C2, 0x24C2, 1},
		{0x25AA, 0x25AB, 1},
		{0x25B6, 0x25B6, 1},
		{0x25C0, 0x25C0, 1},
		{0x25FB, 0x25FE, 1},
		{0x2600, 0x27BF, 1},
		{0x2934, 0x2935, 1},
		{0x2B05, 0x2B07, 1},
		{0x2B1B, 0x2B1C, 1},
		{0x2B50, 0x2B50, 1},
		{0x2B55, 0x2B55, 1},
		{0x3030, 0x3030, 1},
		{0x303D, 0x303D, 1},
		{0x3297, 0x3297, 1},
		{0x3299, 0x3299, 1},
	},
	R32:         []unicode.Range32{{0x1F000, 0x1F1E5, 1}, {0x1F200, 0x1F3FA, 1}, {0x1F400, 0x1FAFF, 1}},
	LatinOffset: 2,
}
