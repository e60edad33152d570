package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3/responses"
)

func responsesPeer() peer {
	return peer{
		format: "responses",
		under:  "/v1",
		ask:    askResponses,
		says:   openaiSays,
		again: map[string]string{
			"+ [].status": "that a call is complete goes without saying",
			"~ [].status": "a message that was cut goes back as it stands, as a whole one",
		},
	}
}

func askResponses(ctx context.Context, url, _ string, body []byte, whole bool) (reply, error) {
	var p responses.ResponseNewParams
	if err := readParams(body, &p, func() error { return readSaid(body, p.Input.OfInputItemList) }); err != nil {
		return reply{}, err
	}
	client := openaiClient(url)
	if whole {
		r, err := client.Responses.New(ctx, p)
		if err != nil {
			return reply{}, err
		}
		return readResponse(*r, r.Output), nil
	}
	stream := client.Responses.NewStreaming(ctx, p)
	var last responses.Response
	var items []responses.ResponseOutputItemUnion
	var heard string
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			heard += e.Delta
		case "response.output_item.done":
			items = append(items, e.Item)
		case "response.completed", "response.incomplete":
			last = e.Response
		case "response.failed":
			return readResponse(last, items), errors.New(e.Response.Error.Message)
		case "error":
			return readResponse(last, items), errors.New(e.Message)
		}
	}
	r := readResponse(last, items)
	if r.Text != heard {
		return r, errors.New("the pieces of the text are not the text")
	}
	return r, stream.Err()
}

// readSaid reads again what the model said. On the wire it differs from what a
// person says by its role and its content; the client writes both, but reads
// every message as a person's.
func readSaid(body []byte, items []responses.ResponseInputItemUnionParam) error {
	var b struct{ Input []json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	for i, it := range items {
		if it.OfMessage == nil || it.OfMessage.Role != responses.EasyInputMessageRoleAssistant {
			continue
		}
		var said responses.ResponseOutputMessageParam
		if err := json.Unmarshal(b.Input[i], &said); err != nil {
			return err
		}
		items[i] = responses.ResponseInputItemUnionParam{OfOutputMessage: &said}
	}
	return nil
}

func readResponse(whole responses.Response, items []responses.ResponseOutputItemUnion) reply {
	u := whole.Usage
	r := reply{Finish: string(whole.Status), Usage: usage{
		Input: u.InputTokens, Output: u.OutputTokens,
		CacheRead: u.InputTokensDetails.CachedTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}}
	if reason := whole.IncompleteDetails.Reason; reason != "" {
		r.Finish += ":" + reason
	}
	var sent []any
	for _, it := range items {
		sent = append(sent, json.RawMessage(it.RawJSON()))
		switch it := it.AsAny().(type) {
		case responses.ResponseOutputMessage:
			for _, c := range it.Content {
				r.Text += c.Text
				r.Refusal += c.Refusal
			}
		case responses.ResponseFunctionToolCall:
			r.Calls = append(r.Calls, called{it.CallID, it.Name, arguments(it.Arguments)})
		case responses.ResponseReasoningItem:
			var summary []string
			for _, s := range it.Summary {
				summary = append(summary, s.Text)
			}
			r.Thinking += strings.Join(summary, "\n\n")
			r.proof(it.EncryptedContent)
		}
	}
	r.Again = again(sent...)
	return r
}
