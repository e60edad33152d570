package prompt

import "strings"

// A History is what was said before, the oldest first, and where a person looks
// at the moment.
type History struct {
	said  []string
	at    int // len(said) is the line at hand
	draft string
}

// NewHistory begins with what was said in earlier sessions.
func NewHistory(said []string) *History { return &History{said: said, at: len(said)} }

// Add remembers words and goes back to the line at hand. It reports whether
// they are new: what was just said is not kept twice.
func (h *History) Add(words string) bool {
	n := len(h.said)
	isNew := strings.TrimSpace(words) != "" && (n == 0 || h.said[n-1] != words)
	if isNew {
		h.said = append(h.said, words)
	}
	h.at = len(h.said)
	return isNew
}

// Older gives the words before those shown; draft is what stands in the box now.
func (h *History) Older(draft string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.said) {
		h.draft = draft
	}
	h.at--
	return h.said[h.at], true
}

// Newer gives the words after those shown, at last the draft.
func (h *History) Newer() (string, bool) {
	if h.at == len(h.said) {
		return "", false
	}
	h.at++
	if h.at == len(h.said) {
		return h.draft, true
	}
	return h.said[h.at], true
}

// Find looks for the nth newest words that hold text, each once.
func (h *History) Find(text string, nth int) (string, bool) {
	seen := map[string]bool{}
	for i := len(h.said) - 1; i >= 0; i-- {
		s := h.said[i]
		if seen[s] || !strings.Contains(strings.ToLower(s), strings.ToLower(text)) {
			continue
		}
		seen[s] = true
		if nth == 0 {
			return s, true
		}
		nth--
	}
	return "", false
}
