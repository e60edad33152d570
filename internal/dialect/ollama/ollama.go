// Package ollama speaks Ollama's own /api/chat.
package ollama

import (
	"encoding/json"
	"net/http"

	"ikigai/internal/dialect"
)

const name = "ollama"

// Format is this wire format.
func Format() dialect.Format {
	return dialect.Format{
		Name:    name,
		Wire:    "ollama-chat",
		Path:    func(string) string { return "/api/chat" },
		Header:  header,
		Encoder: newEncoder,
		Decoder: newDecoder,
		Kept:    func(json.RawMessage) dialect.Kept { return dialect.Kept{} },
	}
}

// header adds the key, which only a server behind a proxy asks for.
func header(key string, h http.Header) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}
