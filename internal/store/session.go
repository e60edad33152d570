package store

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"ikigai/internal/convo"
)

// wordsLength is how much of the last words a list of sessions shows, in runes.
const wordsLength = 120

// Count takes an event that was appended into what is known of the session.
func (s *Session) Count(r Row) {
	s.Events = r.Seq
	if at := Moment(r.At); !at.IsZero() {
		s.Updated = at
	}
	switch convo.Kind(r.Kind) {
	case convo.KindToolCall:
		s.Calls++
	case convo.KindUser, convo.KindAssistant:
		if w := oneLine(r.Content, wordsLength); w != "" {
			s.LastWords = w
		}
	}
}

// Next checks that an event is the one that comes after what is there.
func (s *Session) Next(seq int64) error {
	if seq == s.Events+1 {
		return nil
	}
	return fmt.Errorf("keeping event %d of session %s: the next one is %d", seq, s.ID, s.Events+1)
}

// Fork begins the session as with the events of from up to seq, all when seq is
// 0, byte for byte. What as leaves empty it takes from its parent. The new
// session is open; when it could not be made whole it is removed again.
func Fork(ctx context.Context, in Store, from string, seq int64, as Session) (Session, error) {
	parent, err := in.Session(ctx, from)
	if err != nil {
		return Session{}, err
	}
	if seq == 0 || seq > parent.Events {
		seq = parent.Events
	}
	as = inherit(as, parent, seq)
	if err := in.Begin(ctx, as); err != nil {
		return Session{}, fmt.Errorf("forking session %s: %w", parent.ID, err)
	}
	if err := copyRows(ctx, in, parent.ID, as.ID, seq); err != nil {
		in.Remove(ctx, as.ID) // the copy's own error is the one to tell
		return Session{}, fmt.Errorf("forking session %s: %w", parent.ID, err)
	}
	return in.Session(ctx, as.ID)
}

func inherit(as, parent Session, seq int64) Session {
	for _, f := range []struct {
		to   *string
		from string
	}{{&as.Title, parent.Title}, {&as.Dir, parent.Dir}, {&as.Branch, parent.Branch}, {&as.Model, parent.Model}} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	as.Parent, as.ParentSeq = parent.ID, seq
	return as
}

func copyRows(ctx context.Context, in Store, from, to string, upto int64) error {
	for r, err := range in.Rows(ctx, from, 0) {
		if err != nil {
			return err
		}
		if r.Seq > upto {
			break
		}
		if err := in.Append(ctx, to, r.Verbatim()); err != nil {
			return err
		}
	}
	return in.Flush(ctx)
}

// Holds reports whether text holds every one of the words, whatever their case.
// No words are in no text.
func Holds(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return len(words) > 0
}

// Words are what a search looks for: split at blanks, in lower case.
func Words(query string) []string { return strings.Fields(strings.ToLower(query)) }

// NewHit is what a search shows of a row.
func NewHit(s Session, r Row, words []string) Hit {
	return Hit{
		Session: s.ID, Title: s.Title, Seq: r.Seq, At: Moment(r.At), Kind: convo.Kind(r.Kind),
		Excerpt: Excerpt(r.Content, words),
	}
}

// excerptLength is how long the line is that a Hit shows, in runes.
const excerptLength = 160

// Excerpt is one line of text around the first of the words.
func Excerpt(text string, words []string) string {
	start := 0
	if len(words) > 0 {
		// Lower case may have another length than its original: the place is a good guess, never a promise.
		start = min(max(strings.Index(strings.ToLower(text), words[0])-excerptLength/4, 0), len(text))
	}
	for start > 0 && start < len(text) && !utf8.RuneStart(text[start]) {
		start--
	}
	return oneLine(text[start:], excerptLength)
}

// oneLine is text with every run of blanks as one, shortened to n runes. It
// looks at no more of the text than it needs.
func oneLine(text string, n int) string {
	var b strings.Builder
	runes, blank := 0, false
	for _, r := range text {
		if strings.ContainsRune(" \t\r\n\v\f\x00", r) {
			blank = b.Len() > 0
			continue
		}
		if runes >= n-1 {
			b.WriteRune('…')
			break
		}
		if blank {
			b.WriteByte(' ')
			runes++
		}
		b.WriteRune(r)
		runes, blank = runes+1, false
	}
	return b.String()
}
