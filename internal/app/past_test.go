package app

import (
	"encoding/json"
	"testing"

	"ikigai/internal/convo"
	"ikigai/internal/store"
	"ikigai/internal/store/memory"
	"ikigai/internal/tool"
)

func TestThePastOfASessionIsRead(t *testing.T) {
	h := &house{store: memory.New(), id: "s1"}
	if err := h.store.Begin(t.Context(), store.Session{ID: "s1"}); err != nil {
		t.Fatal(err)
	}
	for i, e := range []convo.Event{
		{Kind: convo.KindUser, Text: "look"},
		convo.Of("short", convo.ToolCall{Call: tool.Call{ID: "c", Name: "echo", Args: json.RawMessage(`{"text":"hi"}`)}}),
		convo.Of("shorter", convo.ToolResult{Result: tool.Result{CallID: "c", Name: "echo", Data: json.RawMessage(`{"output":"hi"}`)}}),
	} {
		e.Seq = int64(i + 1)
		if err := h.store.Append(t.Context(), "s1", e); err != nil {
			t.Fatal(err)
		}
	}
	for event, want := range map[int64][2]string{
		1: {"user", "look"}, 2: {"tool_call", `echo {"text":"hi"}`}, 3: {"tool_result", `{"tool_success":true,"result":{"output":"hi"}}`},
	} {
		if kind, text, err := h.past(t.Context(), event); err != nil || kind != want[0] || text != want[1] {
			t.Errorf("event %d is %s %q, %v", event, kind, text, err)
		}
	}
	for _, event := range []int64{-1, 0, 4} {
		if _, _, err := h.past(t.Context(), event); tool.CodeOf(err, "") != tool.Missing {
			t.Errorf("event %d: %v", event, err)
		}
	}
}
