package agent_test

import (
	"context"
	"testing"

	"ikigai/internal/agent"
	"ikigai/internal/convo"
	"ikigai/internal/fake"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

func TestPicturesStayWithTheirWords(t *testing.T) {
	started, steered := make(chan string), make(chan struct{})
	wait := toolkit.New(toolkit.Def[words, said]{
		Name: "wait", Doc: "wait", Effects: []tool.Effect{tool.Read},
		Run: func(context.Context, tool.Place, tool.Grant, words, tool.Progress) (said, error) {
			started <- ""
			<-steered
			return said{"done"}, nil
		},
	})
	r := open(t, setup{script: []fake.Reply{calls(call("a", "wait", "")), {Text: "ok"}}, tools: []tool.Tool{wait}})
	picture := func(name string) []convo.Image {
		return []convo.Image{{Name: name, Media: "image/gif", Data: []byte("GIF89a")}}
	}
	r.Send(agent.Prompt{Text: "first", Images: picture("first.gif")})
	<-started
	r.Send(agent.Prompt{Text: "second"})
	r.Send(agent.Prompt{Text: "third", Images: picture("third.gif")})
	r.Send(agent.Note{Name: "heard"}) // what was sent before it has arrived when it is seen
	r.until(1, "note", func(e convo.Event) bool { return e.Kind == convo.KindCommand })
	close(steered)
	r.end(1)
	want := map[string]string{"first": "first.gif", "second": "", "third": "third.gif"}
	for _, e := range r.events() {
		if e.Kind != convo.KindUser {
			continue
		}
		got := ""
		if w, ok := e.Body.(convo.Words); ok {
			got = w.Images[0].Name
		}
		if want[e.Text] != got {
			t.Errorf("%s came with %q", e.Text, got)
		}
		delete(want, e.Text)
	}
	if len(want) > 0 {
		t.Errorf("never said: %v", want)
	}
}
