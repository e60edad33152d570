package conformance

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func anthropicPeer() peer {
	return peer{
		format: "anthropic",
		ask:    askAnthropic,
		again: map[string]string{
			"+ [].content[].caller":  "who calls is the model itself, unless it runs code at the vendor's",
			"~ [].content[].content": "the client forgets what a block of a kind it does not know says in pieces",
			"~ [].content[].text":    "we cut the space at the end of a text, which the server refuses in some places",
		},
		known: map[string]string{
			"= .messages[].content[].content": "a result may be text or a list of blocks; the client writes lists",
		},
	}
}

func askAnthropic(ctx context.Context, url, _ string, body []byte, whole bool) (reply, error) {
	var p anthropic.MessageNewParams
	if err := readParams(body, &p, nil); err != nil {
		return reply{}, err
	}
	client := anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey(key), option.WithMaxRetries(0))
	if whole {
		m, err := client.Messages.New(ctx, p)
		if err != nil {
			return reply{}, err
		}
		return readMessage(*m), nil
	}
	stream := client.Messages.NewStreaming(ctx, p)
	var all anthropic.Message
	for stream.Next() {
		if err := all.Accumulate(stream.Current()); err != nil {
			return readMessage(all), err
		}
	}
	return readMessage(all), stream.Err()
}

func readMessage(m anthropic.Message) reply {
	u := m.Usage
	r := reply{Finish: string(m.StopReason), Again: again(m.ToParam()), Usage: usage{
		Input:  u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		Output: u.OutputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens,
	}}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			r.Text += b.Text
		case "thinking":
			r.Thinking += b.Thinking
			r.proof(b.Signature)
		case "redacted_thinking":
			r.proof(b.Data)
		case "tool_use":
			r.Calls = append(r.Calls, called{b.ID, b.Name, arguments(string(b.Input))})
		}
	}
	return r
}
