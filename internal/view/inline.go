package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline draws code, emphasis and links within a line of text.
func inline(text string) Line {
	var l Line
	plain := 0
	for i := 0; i < len(text); {
		spans, n := piece(text, i)
		if n == 0 {
			i++
			continue
		}
		l = append(plainTo(l, text[plain:i]), spans...)
		i += n
		plain = i
	}
	return plainTo(l, text[plain:])
}

func plainTo(l Line, text string) Line {
	if text == "" {
		return l
	}
	return append(l, Span{Plain, text})
}

// piece reads what begins at i, if anything does; n is how long it is.
func piece(text string, i int) (spans Line, n int) {
	rest := text[i:]
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|<>~", rest[1]) >= 0 {
			return Line{{Plain, rest[1:2]}}, 2
		}
	case '`':
		return quoted(rest)
	case '*', '_':
		return emphasis(text, i)
	case '[':
		return link(rest)
	case 'h':
		return address(text, i)
	}
	return nil, 0
}

// quoted reads code between as many ticks as it begins with.
func quoted(s string) (Line, int) {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	end := strings.Index(s[n:], s[:n])
	if end <= 0 {
		return nil, 0
	}
	return Line{{Code, strings.TrimSpace(s[n : n+end])}}, end + 2*n
}

// emphasis reads *text*, **text** and their underlined kin. Inside a word an
// underline is just one, and so is a star that stands in a pattern.
func emphasis(text string, i int) (Line, int) {
	s := text[i:]
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	plain := Line{{Plain, s[:n]}}
	end := strings.Index(s[n:], s[:n])
	if n > 3 || end <= 0 || letterBefore(text, i) && s[0] == '_' {
		return plain, n
	}
	inner, after := s[n:n+end], s[n+end+n:]
	if !opens(inner) || strings.HasSuffix(inner, " ") || startsWord(after) {
		return plain, n
	}
	role := Emphasis
	if n > 1 {
		role = Strong
	}
	return recolour(inline(inner), role), end + 2*n
}

// opens reports whether emphasised text can begin like that.
func opens(s string) bool { return startsWord(s) || strings.ContainsRune("\"'([`<$", rune(s[0])) }

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func letterBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// link reads [text](address). The address is always shown: nobody is led
// anywhere unseen.
func link(s string) (Line, int) {
	mid := strings.Index(s, "](")
	if mid < 1 || strings.ContainsRune(s[:mid], '\n') {
		return nil, 0
	}
	end := strings.IndexByte(s[mid:], ')')
	if end < 0 {
		return nil, 0
	}
	name, to := s[1:mid], s[mid+2:mid+end]
	if name == to {
		return Line{{Link, to}}, mid + end + 1
	}
	return Line{{Plain, name + " ("}, {Link, to}, {Plain, ")"}}, mid + end + 1
}

// address reads a bare web address.
func address(text string, i int) (Line, int) {
	s := text[i:]
	if letterBefore(text, i) || !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") {
		return nil, 0
	}
	end := strings.IndexAny(s, " \t<>\"'")
	if end < 0 {
		end = len(s)
	}
	end = len(strings.TrimRight(s[:end], ".,;:!?)]"))
	return Line{{Link, s[:end]}}, end
}
