package provider

import (
	"ikigai/internal/dialect"
	"ikigai/internal/dialect/anthropic"
	"ikigai/internal/dialect/gemini"
	"ikigai/internal/dialect/ollama"
	"ikigai/internal/dialect/openai"
	"ikigai/internal/dialect/responses"
)

// A spelling is a wire format by name, and how its addresses are written.
type spelling struct {
	name    string
	wire    string   // the name in recordings
	root    string   // what a bare host lacks
	extra   []string // what people write that the format's own path has already
	list    string   // where the models are listed
	limited bool     // a request must say how long the reply may be
	make    func() dialect.Format
}

var spellings = []spelling{
	{name: "openai", wire: "openai-chat", root: "/v1", list: "/models", make: openai.Format},
	{name: "responses", wire: "openai-responses", root: "/v1", list: "/models", make: responses.Format},
	{name: "anthropic", wire: "anthropic-messages", extra: []string{"/v1"}, list: "/v1/models", limited: true, make: anthropic.Format},
	{name: "gemini", wire: "gemini", root: "/v1beta", list: "/models", make: gemini.Format},
	{name: "ollama", wire: "ollama-chat", extra: []string{"/v1", "/api"}, list: "/api/tags", make: ollama.Format},
}

// FormatOf gives the wire format of that name: the folder's or the recordings'.
func FormatOf(name string) (dialect.Format, bool) {
	for _, s := range spellings {
		if name == s.name || name == s.wire {
			return s.make(), true
		}
	}
	return dialect.Format{}, false
}

// Dialects are the names of all wire formats.
func Dialects() []string {
	names := make([]string, len(spellings))
	for i, s := range spellings {
		names[i] = s.name
	}
	return names
}

func spellingOf(name string) spelling {
	for _, s := range spellings {
		if s.name == name {
			return s
		}
	}
	return spelling{}
}
