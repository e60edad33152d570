package tui

import (
	"slices"
	"strings"

	"ikigai/internal/clean"
	"ikigai/internal/command"
	"ikigai/internal/view"
)

// popup is the list of what the word at the cursor could become.
type popup struct {
	files  []string
	word   string // as typed, with its / or @
	list   []candidate
	chosen int
	closed string // the person closed it at this word
}

type candidate struct{ text, help string }

// mostShown is how many candidates are shown at once.
const mostShown = 6

// update looks at the text before the cursor. It reports whether a file is
// asked for anew: their list is then to be brought.
func (p *popup) update(before string) (wanted bool) {
	word := completable(before)
	if word == p.word {
		return false
	}
	begun := p.word == ""
	p.word, p.list, p.chosen = word, nil, 0
	if word == "" || word == p.closed {
		return false
	}
	p.closed = ""
	p.fill()
	return begun && word[0] == '@'
}

func (p *popup) fill() {
	if p.word[0] == '/' {
		p.list = commandsLike(p.word[1:])
	} else {
		p.list = filesLike(p.files, p.word[1:])
	}
}

// found brings the files of the project.
func (p *popup) found(files []string) {
	p.files = files
	if p.word != "" && p.word[0] == '@' && p.word != p.closed {
		p.chosen = 0
		p.fill()
	}
}

// completable is the word at the end of text that can be completed: a command
// at the very beginning, or a file anywhere.
func completable(before string) string {
	if strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \n") {
		return before
	}
	i := strings.LastIndexAny(before, " \n\t")
	if word := before[i+1:]; strings.HasPrefix(word, "@") {
		return word
	}
	return ""
}

func commandsLike(begun string) []candidate {
	var list []candidate
	for _, c := range command.All() {
		if strings.HasPrefix(c.Name, begun) {
			list = append(list, candidate{"/" + c.Name, c.Help})
		}
	}
	return list
}

// filesLike are the files that hold the letters in that order, the best first:
// those where they stand together, then short ones.
func filesLike(files []string, letters string) []candidate {
	type hit struct {
		path  string
		score int
	}
	var hits []hit
	for _, f := range files {
		if s, ok := likeness(f, letters); ok {
			hits = append(hits, hit{f, s})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.score - b.score })
	var list []candidate
	for _, h := range hits[:min(len(hits), 50)] {
		list = append(list, candidate{text: "@" + h.path})
	}
	return list
}

// likeness is small for a path that is near to the letters.
func likeness(path, letters string) (int, bool) {
	low, want := strings.ToLower(path), strings.ToLower(letters)
	if i := strings.LastIndex(low, want); i >= 0 {
		score := len(path)
		if i > strings.LastIndexByte(low, '/') {
			score -= 1000
		}
		return score, true
	}
	at := 0
	for _, r := range want {
		i := strings.IndexRune(low[at:], r)
		if i < 0 {
			return 0, false
		}
		at += i + len(string(r))
	}
	return 1000 + len(path), true
}

func (p *popup) open() bool { return len(p.list) > 0 }

func (p *popup) close() { p.closed, p.list = p.word, nil }

func (p *popup) move(by int) { p.chosen = (p.chosen + by + len(p.list)) % len(p.list) }

// choice is what the word becomes.
func (p *popup) choice() string { return p.list[p.chosen].text }

// exact reports whether the word is already whole.
func (p *popup) exact() bool { return p.choice() == p.word }

func (p *popup) rows() []view.Line {
	var rows []view.Line
	first := max(0, min(p.chosen-mostShown+1, len(p.list)-mostShown))
	for i := first; i < min(len(p.list), first+mostShown); i++ {
		role := view.Plain
		if i == p.chosen {
			role = view.Chosen
		}
		c := p.list[i]
		rows = append(rows, view.Line{{Text: "  "}, {Role: role, Text: clean.Line(c.text)}, {Role: view.Faint, Text: "  " + clean.Line(c.help)}})
	}
	return rows
}
