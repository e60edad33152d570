package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/ollama/ollama/api"
)

func ollamaPeer() peer {
	return peer{
		format: "ollama",
		ask:    askOllama,
		known: map[string]string{
			"+ .options null": "the client always has the field",
			"+ .messages[].tool_calls[].function.index 0": "the client always has the field",
		},
		again: map[string]string{
			"+ [].tool_calls[].function.index":   "the order says it",
			"+ [].tool_calls[].function.index 0": "the order says it",
		},
		limited: "- .tools[].function.parameters.", // the server reads the better known words of a schema and skips the others
		silent:  []string{"Authorization"},         // a key is for a proxy in front of the server; the client signs instead
	}
}

// askOllama reads whole answers as streams of one line, as the client does.
func askOllama(ctx context.Context, address, _ string, body []byte, _ bool) (reply, error) {
	var q api.ChatRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return reply{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	base, err := url.Parse(address)
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", errRequest, err)
	}
	var r reply
	var said api.Message
	err = api.NewClient(base, http.DefaultClient).Chat(ctx, &q, func(piece api.ChatResponse) error {
		r.Text += piece.Message.Content
		r.Thinking += piece.Message.Thinking
		said.Role, said.Content, said.Thinking = piece.Message.Role, r.Text, r.Thinking
		said.ToolCalls = append(said.ToolCalls, piece.Message.ToolCalls...)
		for _, c := range piece.Message.ToolCalls {
			r.Calls = append(r.Calls, called{c.ID, c.Function.Name, arguments(c.Function.Arguments.String())})
		}
		if piece.Done {
			r.Finish = piece.DoneReason
			r.Usage = usage{Input: int64(piece.PromptEvalCount), Output: int64(piece.EvalCount)}
		}
		return nil
	})
	r.Again = again(said)
	return r, err
}
