// Package responses speaks OpenAI's Responses, without state on the server: every
// request carries the whole conversation, and reasoning goes back encrypted.
package responses

import (
	"encoding/json"
	"net/http"

	"ikigai/internal/dialect"
)

const name = "responses"

// Format is this wire format.
func Format() dialect.Format {
	return dialect.Format{
		Name:    name,
		Wire:    "openai-responses",
		Path:    func(string) string { return "/responses" },
		Header:  header,
		Encoder: newEncoder,
		Decoder: newDecoder,
		Kept:    showKept,
	}
}

func header(key string, h http.Header) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// kept is what we read of a kept item. Reasoning and what we do not understand
// is kept whole; of calls it is the id, of messages the phase too: whether they
// were said on the way or are the answer, which a model wants to know again.
type kept struct {
	ID        string `json:"id,omitempty"`
	Encrypted string `json:"encrypted_content,omitempty"`
	Phase     string `json:"phase,omitempty"`
}

func readKept(raw json.RawMessage) kept {
	var k kept
	_ = json.Unmarshal(raw, &k) // what is not ours is empty
	return k
}

func showKept(raw json.RawMessage) dialect.Kept {
	k := readKept(raw)
	return dialect.Kept{Encrypted: k.Encrypted, ItemID: k.ID}
}
