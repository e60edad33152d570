// Package anthropic speaks Anthropic's Messages.
package anthropic

import (
	"encoding/json"
	"net/http"

	"ikigai/internal/dialect"
)

const name = "anthropic"

// Format is this wire format.
func Format() dialect.Format {
	return dialect.Format{
		Name:    name,
		Wire:    "anthropic-messages",
		Path:    func(string) string { return "/v1/messages" },
		Header:  header,
		Encoder: newEncoder,
		Decoder: newDecoder,
		Kept:    readKept,
	}
}

func header(key string, h http.Header) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

// readKept reads a block that was kept whole.
func readKept(raw json.RawMessage) dialect.Kept {
	var b struct{ Signature, Data string }
	_ = json.Unmarshal(raw, &b) // what is not ours shows nothing
	return dialect.Kept{Signature: b.Signature, Redacted: b.Data}
}
