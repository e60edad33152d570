package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func openaiPeer() peer {
	return peer{
		format: "openai",
		under:  "/v1",
		ask:    askOpenAI,
		says:   openaiSays,
		known: map[string]string{
			"- .messages[].content null": "a turn of nothing but calls has no text, which may be said or left out",
		},
		again: map[string]string{
			"- [].content null":      "a turn of nothing but calls has no text, which may be said or left out",
			"- [].content":           "a refusal is text for us: other servers know no field for it",
			"+ [].refusal":           "a refusal is text for us: other servers know no field for it",
			"- [].extra_content":     "a gateway's own",
			"- [].reasoning_details": "a gateway's own",
			"~ [].tool_calls[].id":   "the server gave no id, and two calls without one could not be told apart",
			"~ [].tool_calls[]":      "the server did not say that the call is one of a function, and the client forgets it",
		},
	}
}

func openaiSays(err error) string {
	var e *openai.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

func openaiClient(url string) openai.Client {
	return openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func askOpenAI(ctx context.Context, url, _ string, body []byte, whole bool) (reply, error) {
	var p openai.ChatCompletionNewParams
	if err := readParams(body, &p, nil); err != nil {
		return reply{}, err
	}
	client := openaiClient(url)
	if whole {
		c, err := client.Chat.Completions.New(ctx, p)
		if err != nil {
			return reply{}, err
		}
		return readChat(*c), nil
	}
	stream := client.Chat.Completions.NewStreaming(ctx, p)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			return readChat(all.ChatCompletion), errors.New("the accumulator refuses a chunk")
		}
	}
	return readChat(all.ChatCompletion), stream.Err()
}

func readChat(c openai.ChatCompletion) reply {
	r := reply{Usage: usage{
		Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens,
		CacheRead: c.Usage.PromptTokensDetails.CachedTokens, Reasoning: c.Usage.CompletionTokensDetails.ReasoningTokens,
	}}
	for _, choice := range c.Choices {
		r.Text += choice.Message.Content
		r.Refusal += choice.Message.Refusal
		r.Finish = choice.FinishReason
		r.Again = again(choice.Message.ToParam())
		for _, call := range choice.Message.ToolCalls {
			r.Calls = append(r.Calls, called{call.ID, call.Function.Name, arguments(call.Function.Arguments)})
		}
	}
	return r
}

// readParams reads a body into request types of a generated client, which are
// then put right. These types drop what they do not know, which is seen when they
// are written again; but kinds of items that they do not know they carry along as
// they came, and those are found here.
func readParams(body []byte, p any, putRight func() error) error {
	err := json.Unmarshal(body, p)
	if err == nil && putRight != nil {
		err = putRight()
	}
	if err == nil {
		err = overridden(p)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errRequest, err)
	}
	return nil
}
