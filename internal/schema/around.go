package schema

import (
	"slices"
	"strings"
	"unicode"
)

// Models sometimes write their arguments as they would show them to a person:
// in a fence, in a tag, with a sentence before or after. That is left out, but
// only while it cannot be a part of the arguments: it has no bracket and no
// double quote, for then a string may have ended too early.

// embedded reads an object that does not begin the text.
func (s *scanner) embedded() (value, error) {
	start := strings.IndexByte(s.text, '{')
	before := strings.TrimSpace(s.text[s.pos:start])
	before, closing := s.cutTag(before)
	before = s.cutFence(before)
	if before != "" {
		if !isProse(before) || len(strings.Fields(before)) < 2 {
			return value{}, s.errorf("unexpected %s, want a JSON object", s.here())
		}
		s.note("text before the object removed")
	}
	s.pos = start
	return s.surrounded(closing)
}

// surrounded reads an object and what may come after it. The closing tag is
// that of the tag before it.
func (s *scanner) surrounded(closing string) (value, error) {
	v, err := s.value()
	if err != nil {
		return v, err
	}
	rest := strings.TrimSpace(s.text[s.pos:])
	if rest == "}" {
		s.note("closing brace too many removed")
		return v, nil
	}
	if closing != "" {
		rest = strings.TrimSpace(strings.TrimPrefix(rest, closing))
	}
	if after, fenced := strings.CutPrefix(rest, "```"); fenced {
		s.note("code fence removed")
		rest = strings.TrimSpace(after)
	}
	if rest == "" {
		return v, nil
	}
	if !isProse(rest) {
		return v, s.errorf("unexpected text after the object, send one JSON object and nothing else")
	}
	s.note("text after the object removed")
	return v, nil
}

// cutFence takes the opening fence and its language from the end of the text
// before the object.
func (s *scanner) cutFence(before string) string {
	i := strings.LastIndex(before, "```")
	if i < 0 {
		return before
	}
	for _, r := range before[i+3:] {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return before
		}
	}
	s.note("code fence removed")
	return strings.TrimSpace(before[:i])
}

// cutTag takes the opening tag from the end of the text before the object, and
// says which one would close it.
func (s *scanner) cutTag(before string) (rest, closing string) {
	i := strings.LastIndexByte(before, '<')
	if i < 0 || !strings.HasSuffix(before, ">") {
		return before, ""
	}
	name := before[i+1 : len(before)-1]
	if !slices.Contains(tags(), strings.Trim(name, "|")) {
		return before, ""
	}
	s.note("tag around the object removed")
	return strings.TrimSpace(before[:i]), "</" + name + ">"
}

// tags are those that models put around the arguments of a call. Others may say
// that the object is an example or a thought.
func tags() []string {
	return []string{
		"args", "arguments", "function_call", "input", "invoke", "json", "parameters", "params",
		"tool", "tool_call", "tool_input", "tool_use", "toolcall",
	}
}

// isProse reports whether s is text for a person and can hold no argument.
func isProse(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return strings.ContainsRune("{}[]()<>\"=`\\"+openingCurly+closingCurly, r) || unicode.IsControl(r) && !unicode.IsSpace(r)
	})
}
