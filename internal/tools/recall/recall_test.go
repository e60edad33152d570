package recall

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

// past is a session of two events.
func past(_ context.Context, event int64) (kind, text string, err error) {
	switch event {
	case 1:
		return "user", "remember \U000E0041periwinkle", nil
	case 2:
		return "tool_result", strings.Repeat("a long line of output\n", 10_000), nil
	}
	return "", "", tool.Errorf(tool.Missing, "there is no event %d", event)
}

func TestAnEventIsGivenBack(t *testing.T) {
	s := stage.New(t, nil)
	s.Past = past
	if got := string(s.Call(Tool, `{"event":1}`).Data); got != `{"output":"remember periwinkle","kind":"user"}` {
		t.Errorf("event 1 is %s", got)
	}
}

func TestALongEventIsShortenedAndKeptWhole(t *testing.T) {
	s := stage.New(t, nil)
	s.Past = past
	got := string(s.Call(Tool, `{"event":2}`).Data)
	if len(got) > 100<<10 || !strings.Contains(got, `"truncated":true`) || !strings.Contains(got, "whole output in ") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

func TestAnEventThatIsNotThereIsMissing(t *testing.T) {
	s := stage.New(t, nil)
	s.Past = past
	if r := s.Call(Tool, `{"event":9}`); r.Code() != tool.Missing || !strings.Contains(string(r.Envelope()), "there is no event 9") {
		t.Errorf("event 9: %s", r.Envelope())
	}
}

func TestASessionThatCannotBeReadIsSaid(t *testing.T) {
	s := stage.New(t, nil)
	s.Past = func(context.Context, int64) (string, string, error) { return "", "", errors.New("the disk is gone") }
	if r := s.Call(Tool, `{"event":1}`); r.OK() || !strings.Contains(string(r.Envelope()), "the disk is gone") {
		t.Errorf("it said %s", r.Envelope())
	}
}

func TestWithoutASessionThereIsNoPast(t *testing.T) {
	if r := stage.New(t, nil).Call(Tool, `{"event":1}`); r.Code() != tool.InvalidParams || !strings.Contains(string(r.Envelope()), "need a session") {
		t.Errorf("without a session: %s", r.Envelope())
	}
}
