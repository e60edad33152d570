// Package gemini speaks Google's streamGenerateContent.
package gemini

import (
	"encoding/json"
	"net/http"

	"ikigai/internal/dialect"
)

const name = "gemini"

// Format is this wire format.
func Format() dialect.Format {
	return dialect.Format{
		Name:    name,
		Wire:    "gemini",
		Path:    func(model string) string { return "/models/" + model + ":streamGenerateContent?alt=sse" },
		Header:  header,
		Encoder: newEncoder,
		Decoder: newDecoder,
		Kept: func(raw json.RawMessage) dialect.Kept {
			return dialect.Kept{Signature: readKept(raw).Signature}
		},
	}
}

func header(key string, h http.Header) {
	if key != "" {
		h.Set("X-Goog-Api-Key", key)
	}
}

// kept is what goes back with a part: its signature, and the id that the server
// itself gave to a call.
type kept struct {
	ID        string `json:"id,omitempty"`
	Signature string `json:"thoughtSignature,omitempty"`
	Thought   bool   `json:"thought,omitempty"` // the part was marked as thinking
}

func readKept(raw json.RawMessage) kept {
	var k kept
	_ = json.Unmarshal(raw, &k) // what is not ours is empty
	return k
}
