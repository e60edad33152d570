// Package openai speaks OpenAI's Chat Completions, and with Quirks what the many
// servers speak that call themselves compatible with it.
package openai

import (
	"encoding/json"
	"net/http"

	"ikigai/internal/dialect"
)

const name = "openai"

// Format is this wire format.
func Format() dialect.Format {
	return dialect.Format{
		Name:    name,
		Wire:    "openai-chat",
		Path:    func(string) string { return "/chat/completions" },
		Header:  header,
		Encoder: newEncoder,
		Decoder: newDecoder,
		Kept:    readKept,
	}
}

func readKept(raw json.RawMessage) dialect.Kept {
	var k struct {
		Details []struct{ Signature, Data, ID string } `json:"reasoning_details"`
		Extra   struct {
			Google struct {
				Signature string `json:"thought_signature"`
			} `json:"google"`
		} `json:"extra_content"`
	}
	_ = json.Unmarshal(raw, &k) // what is not ours shows nothing
	out := dialect.Kept{Signature: k.Extra.Google.Signature}
	for _, d := range k.Details {
		out.Signature, out.Encrypted = out.Signature+d.Signature, out.Encrypted+d.Data
		if out.ID == "" {
			out.ID = d.ID
		}
	}
	return out
}

func header(key string, h http.Header) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}
