package walk

import (
	"bytes"
	"strings"
)

// A ruleSet is one ignore file. The last rule that fits a name decides, so each
// way of finding rules gives the number of the last one. Nearly all rules of
// real files are plain names or endings, which are looked up and not tried.
type ruleSet struct {
	all     []pattern
	names   map[string]last // plain names, at any depth
	endings map[string]last // "*.o" and the like, by the ending from its only dot
	paths   map[string]last // plain paths
	globs   []int           // all others, in order
}

// last is the number, from one, of the last rule for files and for folders.
type last struct{ file, folder int }

func (l last) of(folder bool) int {
	if folder {
		return l.folder
	}
	return l.file
}

// A pattern is one line of an ignore file.
type pattern struct {
	negated bool
	folders bool // it ended in a slash: folders only
	byName  bool // no slash in it: the last name of a path is compared
	prefix  string
	glob    glob
}

// parseRules reads an ignore file; nil when it has no rule.
func parseRules(data []byte) *ruleSet {
	s := &ruleSet{names: map[string]last{}, endings: map[string]last{}, paths: map[string]last{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(data) {
		s.add(string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))))
	}
	if len(s.all) == 0 {
		return nil
	}
	return s
}

func (s *ruleSet) add(line string) {
	line, _, _ = strings.Cut(line, "\x00") // for git a line ends there
	if line == "" || line[0] == '#' {
		return
	}
	var p pattern
	text := trimBlanks(line)
	text, p.negated = strings.CutPrefix(text, "!")
	text, p.folders = strings.CutSuffix(text, "/")
	p.byName = !strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return
	}
	special := strings.IndexAny(text, `*?[\`)
	if special < 0 {
		s.plain(p, text)
		return
	}
	if ending, ok := strings.CutPrefix(text, "*."); ok && p.byName && !strings.ContainsAny(ending, `*?[\.`) {
		s.all = append(s.all, p)
		s.note(s.endings, "."+ending, p)
		return
	}
	var ok bool
	if p.glob, ok = parseGlob(text[special:], !p.byName); ok {
		p.prefix = text[:special]
		s.all = append(s.all, p)
		s.globs = append(s.globs, len(s.all))
	}
}

// plain adds a rule without special characters.
func (s *ruleSet) plain(p pattern, text string) {
	s.all = append(s.all, p)
	if p.byName {
		s.note(s.names, text, p)
	} else {
		s.note(s.paths, text, p)
	}
}

func (s *ruleSet) note(where map[string]last, key string, p pattern) {
	l := where[key]
	l.folder = len(s.all)
	if !p.folders {
		l.file = len(s.all)
	}
	where[key] = l
}

// judge decides about a path, relative to the folder of the ignore file, whose
// last part is name.
func (s *ruleSet) judge(path, name string, folder bool) verdict {
	n := s.names[name].of(folder)
	if len(s.paths) > 0 {
		n = max(n, s.paths[path].of(folder))
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && len(s.endings) > 0 {
		n = max(n, s.endings[name[dot:]].of(folder))
	}
	for i := len(s.globs) - 1; i >= 0 && s.globs[i] > n; i-- {
		if s.all[s.globs[i]-1].fits(path, name, folder) {
			n = s.globs[i]
		}
	}
	switch {
	case n == 0:
		return undecided
	case s.all[n-1].negated:
		return included
	}
	return ignored
}

func (p *pattern) fits(path, name string, folder bool) bool {
	if p.folders && !folder {
		return false
	}
	if p.byName {
		path = name
	}
	rest, ok := strings.CutPrefix(path, p.prefix)
	return ok && p.glob.match(rest)
}

// trimBlanks drops blanks at the end, up to one that is escaped.
func trimBlanks(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
		} else if line[i] == ' ' {
			continue
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}
