package clean

import "unicode/utf8"

const (
	esc = 0x1B
	bel = 0x07
	del = 0x7F
	bom = '\ufeff'

	maxSequence = 4096 // characters between the introducer of a sequence and its end
)

// read is step 1: it turns input into runes without control and hands them on.
// It returns the end of input that cannot be understood yet; with last set,
// there is none.
func (f *Filter) read(input []byte, last bool) []byte {
	for len(input) > 0 {
		n := f.readOne(input, last)
		if n == 0 {
			return input
		}
		f.begun = true
		input = input[n:]
	}
	return nil
}

// readOne reads one character or one whole sequence and says how many bytes
// that were, or 0 when it takes more input to tell.
func (f *Filter) readOne(b []byte, last bool) int {
	switch c := b[0]; {
	case c == esc:
		return f.readEscape(b, last)
	case c == '\r':
		return f.readReturn(b, last)
	case c == '\n', c == '\t':
		f.see(f.blank(c))
		return 1
	case c < ' ':
		f.see(picture(c))
		return 1
	case c == del:
		f.see('\u2421')
		return 1
	case c < utf8.RuneSelf:
		f.see(rune(c))
		return 1
	}
	return f.readRune(b, last)
}

// blank is how a line feed or a tab is shown.
func (f *Filter) blank(c byte) rune {
	if f.line {
		return picture(c)
	}
	return rune(c)
}

// picture is the visible character for a C0 control.
func picture(c byte) rune { return 0x2400 + rune(c) }

// readReturn reads CR LF as LF; a CR by itself starts a line too, or is shown
// where there is only one.
func (f *Filter) readReturn(b []byte, last bool) int {
	switch {
	case len(b) == 1 && !last:
		return 0
	case len(b) > 1 && b[1] == '\n':
		f.see(f.blank('\n'))
		return 2
	case f.line:
		f.see(picture('\r'))
	default:
		f.see('\n')
	}
	return 1
}

// readRune reads a character outside ASCII, or one byte that is none.
func (f *Filter) readRune(b []byte, last bool) int {
	if !last && !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n == 1:
		f.seeAll(byteEscape(b[0]))
	case r <= 0x9F: // C1; what is below was read before
		f.seeAll(`\u00` + string([]byte{hex[r>>4], hex[r&15]}))
	case r == bom && !f.begun && !f.line:
	default:
		f.see(r)
	}
	return n
}

func (f *Filter) seeAll(s string) {
	for _, r := range s {
		f.see(r)
	}
}

// readEscape skips a whole sequence. An ESC that begins none is shown, and what
// follows it is read as if it were not there.
func (f *Filter) readEscape(b []byte, last bool) int {
	n, wait := sequence(b)
	switch {
	case n > 0:
		return n
	case wait && !last:
		return 0
	}
	f.see(picture(esc))
	return 1
}

// sequence measures the sequence at the start of b. Without one it is 0; wait
// says that more input could make one.
func sequence(b []byte) (n int, wait bool) {
	if len(b) < 2 {
		return 0, true
	}
	switch b[1] {
	case '[':
		return csi(b)
	case ']':
		return stringSequence(b, true)
	case 'P', 'X', '^', '_':
		return stringSequence(b, false)
	}
	return 0, false
}

// csi measures ESC [ parameters intermediates final.
func csi(b []byte) (n int, wait bool) {
	i := 2
	for i < len(b) && b[i] >= 0x30 && b[i] <= 0x3F {
		i++
	}
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2F {
		i++
	}
	switch {
	case i-2 > maxSequence:
		return 0, false
	case i == len(b):
		return 0, true
	case b[i] >= 0x40 && b[i] <= 0x7E:
		return i + 1, false
	}
	return 0, false
}

// stringSequence measures a sequence with a body: it ends with ESC \, an OSC
// also with BEL. Any other control character breaks it.
func stringSequence(b []byte, osc bool) (n int, wait bool) {
	i := 2
	for chars := 0; i < len(b); chars++ {
		switch c := b[i]; {
		case c == bel && osc:
			return i + 1, false
		case c == esc && i+1 == len(b):
			return 0, true
		case c == esc && b[i+1] == '\\':
			return i + 2, false
		case c < ' ', c == del, chars == maxSequence:
			return 0, false
		}
		if !utf8.FullRune(b[i:]) {
			return 0, true
		}
		r, size := utf8.DecodeRune(b[i:])
		if (r == utf8.RuneError && size == 1) || (r >= 0x80 && r <= 0x9F) {
			return 0, false
		}
		i += size
	}
	return 0, true
}
