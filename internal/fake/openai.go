package fake

import "fmt"

// openaiFrames are the server-sent events of a Chat Completions stream.
func openaiFrames(r Reply) []string {
	var frames []string
	add := func(delta any, finish *string) {
		frames = append(frames, event("", object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, p := range runePieces(r.Thinking, r.Pieces) {
		if p != "" {
			add(object{"reasoning_content": p}, nil)
		}
	}
	for _, p := range runePieces(r.Text, r.Pieces) {
		if p != "" {
			add(object{"content": p}, nil)
		}
	}
	for _, d := range callDeltas(r) {
		add(object{"tool_calls": []any{d}}, nil)
	}
	finish := r.Finish
	switch {
	case finish != "":
	case len(r.Calls) > 0:
		finish = "tool_calls"
	default:
		finish = "stop"
	}
	add(object{}, &finish)
	if u := r.Usage; u != nil {
		frames = append(frames, fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n", u[0], u[1]))
	}
	return append(frames, "data: [DONE]\n\n")
}

// callDeltas interleaves the pieces of all calls, as providers may.
func callDeltas(r Reply) []any {
	var deltas []any
	for i, c := range r.Calls {
		head := object{"index": i, "type": "function", "function": object{"name": c.Name, "arguments": ""}}
		if c.ID != "" {
			head["id"] = c.ID
		}
		deltas = append(deltas, head)
	}
	for p := range max(r.Pieces, 1) {
		for i, c := range r.Calls {
			parts := runePieces(c.arguments(), r.Pieces)
			if p < len(parts) && parts[p] != "" {
				deltas = append(deltas, object{"index": i, "function": object{"arguments": parts[p]}})
			}
		}
	}
	return deltas
}

// runePieces cuts at characters: what travels inside JSON strings must be whole.
func runePieces(s string, n int) []string {
	runes := []rune(s)
	if n <= 1 || len(runes) < n {
		return []string{s}
	}
	var out []string
	for i := range n {
		out = append(out, string(runes[i*len(runes)/n:(i+1)*len(runes)/n]))
	}
	return out
}
