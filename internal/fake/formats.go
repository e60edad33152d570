package fake

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A speech is how one wire format sends a reply: its content type and the
// pieces, in order, each whole by itself.
type speech struct {
	kind   string
	frames func(Reply) []string
}

// speeches are the formats by what their path ends in.
var speeches = []struct {
	path string
	speech
}{
	{"/chat/completions", speech{"text/event-stream", openaiFrames}},
	{"/responses", speech{"text/event-stream", responsesFrames}},
	{"/messages", speech{"text/event-stream", anthropicFrames}},
	{":streamGenerateContent", speech{"text/event-stream", geminiFrames}},
	{"/api/chat", speech{"application/x-ndjson", ollamaFrames}},
}

func speechOf(path string) speech {
	for _, s := range speeches {
		if strings.HasSuffix(path, s.path) {
			return s.speech
		}
	}
	return speeches[0].speech
}

type object = map[string]any

// event is one server-sent event; name may be empty.
func event(name string, data any) string {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	if name != "" {
		return fmt.Sprintf("event: %s\ndata: %s\n\n", name, raw)
	}
	return fmt.Sprintf("data: %s\n\n", raw)
}

func (r Reply) tokens() (in, out int) {
	if r.Usage == nil {
		return 0, 0
	}
	return r.Usage[0], r.Usage[1]
}

func anthropicFrames(r Reply) []string {
	in, out := r.tokens()
	frames := []string{event("message_start", object{"type": "message_start", "message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "content": []any{}, "model": "scripted", "usage": object{"input_tokens": in, "output_tokens": 1},
	}})}
	n := 0
	block := func(start object, deltas []object) {
		frames = append(frames, event("content_block_start", object{"type": "content_block_start", "index": n, "content_block": start}))
		for _, d := range deltas {
			frames = append(frames, event("content_block_delta", object{"type": "content_block_delta", "index": n, "delta": d}))
		}
		frames = append(frames, event("content_block_stop", object{"type": "content_block_stop", "index": n}))
		n++
	}
	if r.Thinking != "" {
		block(object{"type": "thinking", "thinking": ""}, append(each(r.Thinking, r.Pieces, "thinking_delta", "thinking"), object{"type": "signature_delta", "signature": "c2lnbmVk"}))
	}
	if r.Text != "" {
		block(object{"type": "text", "text": ""}, each(r.Text, r.Pieces, "text_delta", "text"))
	}
	for i, c := range r.Calls {
		block(object{"type": "tool_use", "id": idOf(c, i), "name": c.Name, "input": object{}}, each(c.arguments(), r.Pieces, "input_json_delta", "partial_json"))
	}
	stop := map[bool]string{true: "tool_use", false: "end_turn"}[len(r.Calls) > 0]
	return append(
		frames,
		event("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": out}}),
		event("message_stop", object{"type": "message_stop"}),
	)
}

// each cuts text into deltas of a type.
func each(text string, n int, kind, field string) []object {
	var all []object
	for _, p := range runePieces(text, n) {
		all = append(all, object{"type": kind, field: p})
	}
	return all
}

func idOf(c Call, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("call_%d", i)
}

func responsesFrames(r Reply) []string {
	in, out := r.tokens()
	frames := []string{event("response.created", object{"type": "response.created", "response": object{"id": "resp_1", "status": "in_progress"}})}
	n := 0
	item := func(added object, deltas []string, done object) {
		frames = append(frames, event("response.output_item.added", object{"type": "response.output_item.added", "output_index": n, "item": added}))
		frames = append(frames, deltas...)
		frames = append(frames, event("response.output_item.done", object{"type": "response.output_item.done", "output_index": n, "item": done}))
		n++
	}
	if r.Text != "" {
		var deltas []string
		for _, p := range runePieces(r.Text, r.Pieces) {
			deltas = append(deltas, event("response.output_text.delta", object{"type": "response.output_text.delta", "output_index": n, "content_index": 0, "item_id": "msg_1", "delta": p}))
		}
		content := []any{object{"type": "output_text", "text": r.Text, "annotations": []any{}}}
		item(object{"type": "message", "id": "msg_1", "role": "assistant", "content": []any{}}, deltas, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content})
	}
	for i, c := range r.Calls {
		var deltas []string
		for _, p := range runePieces(c.arguments(), r.Pieces) {
			deltas = append(deltas, event("response.function_call_arguments.delta", object{"type": "response.function_call_arguments.delta", "output_index": n, "item_id": fmt.Sprint("fc_", i), "delta": p}))
		}
		call := func(args string) object {
			return object{"type": "function_call", "id": fmt.Sprint("fc_", i), "call_id": idOf(c, i), "name": c.Name, "arguments": args}
		}
		item(call(""), deltas, call(c.arguments()))
	}
	return append(frames, event("response.completed", object{"type": "response.completed", "response": object{
		"id": "resp_1", "status": "completed", "usage": object{"input_tokens": in, "output_tokens": out, "total_tokens": in + out},
	}}))
}

func geminiFrames(r Reply) []string {
	in, out := r.tokens()
	var frames []string
	send := func(parts []any, finish string) {
		c := object{"content": object{"role": "model", "parts": parts}, "index": 0}
		if finish != "" {
			c["finishReason"] = finish
		}
		frames = append(frames, event("", object{"candidates": []any{c}, "usageMetadata": object{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out}}))
	}
	for _, p := range runePieces(r.Text, r.Pieces) {
		if p != "" {
			send([]any{object{"text": p}}, "")
		}
	}
	for _, c := range r.Calls {
		send([]any{object{"functionCall": object{"name": c.Name, "args": json.RawMessage(c.arguments())}}}, "")
	}
	send([]any{object{"text": ""}}, "STOP")
	return frames
}

func ollamaFrames(r Reply) []string {
	in, out := r.tokens()
	var frames []string
	send := func(message object, more object) {
		o := object{"model": "scripted", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false}
		for k, v := range more {
			o[k] = v
		}
		raw, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		frames = append(frames, string(raw)+"\n")
	}
	for _, p := range runePieces(r.Text, r.Pieces) {
		if p != "" {
			send(object{"role": "assistant", "content": p}, nil)
		}
	}
	for _, c := range r.Calls {
		call := object{"function": object{"name": c.Name, "arguments": json.RawMessage(c.arguments())}}
		send(object{"role": "assistant", "content": "", "tool_calls": []any{call}}, nil)
	}
	send(object{"role": "assistant", "content": ""}, object{"done": true, "done_reason": "stop", "prompt_eval_count": in, "eval_count": out})
	return frames
}
