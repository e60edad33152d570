package agent

import "ikigai/internal/convo"

// said is the event of words that the machine has let in, with the pictures that
// came with them. Words are recorded in the order in which they came.
func (a *Agent) said(text string) convo.Event {
	e := convo.Event{Kind: convo.KindUser, Text: text}
	if len(a.pictures) == 0 {
		return e
	}
	if images := a.pictures[0]; len(images) > 0 {
		e.Body = convo.Words{Images: images}
	}
	a.pictures = a.pictures[1:]
	return e
}
