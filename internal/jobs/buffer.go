package jobs

import "unicode/utf8"

// A buffer keeps the last bytes that were not read yet.
type buffer struct {
	bytes   []byte
	dropped int64
}

// add keeps p. It lets the buffer grow to twice its size before it cuts, so
// that a flood is moved once in a while and not with every piece.
func (b *buffer) add(p []byte) {
	b.bytes = append(b.bytes, p...)
	if len(b.bytes) > 2*unread {
		b.cut()
	}
}

// cut drops all but the last unread bytes, between characters.
func (b *buffer) cut() {
	over := len(b.bytes) - unread
	if over <= 0 {
		return
	}
	for i := 0; i < utf8.UTFMax-1 && over < len(b.bytes) && !utf8.RuneStart(b.bytes[over]); i++ {
		over++
	}
	b.dropped += int64(over)
	b.bytes = append(b.bytes[:0], b.bytes[over:]...)
}

// take empties the buffer. Unless it is the last time, a character that has
// not come whole waits for its rest.
func (b *buffer) take(last bool) (text string, dropped int64) {
	b.cut()
	end := len(b.bytes)
	if !last {
		end -= unfinished(b.bytes)
	}
	text, dropped = string(b.bytes[:end]), b.dropped
	b.bytes = append([]byte(nil), b.bytes[end:]...) // the big one is not kept
	b.dropped = 0
	return text, dropped
}

// unfinished is how many bytes at the end of p begin a character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
