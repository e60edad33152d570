package provider

import (
	"ikigai/internal/dialect"
	"ikigai/internal/dialect/openai"
)

// A root says how a base URL of a format ends: what a bare host lacks, and what
// is one too many because the format's own path has it.
type root struct {
	add  string
	drop []string
}

var formats = []struct {
	name string
	wire string
	root root
	make func() dialect.Format
}{
	{"openai", "openai-chat", root{add: "/v1"}, openai.Format},
}

// FormatOf gives the wire format of that name: the folder's or the recordings'.
func FormatOf(name string) (dialect.Format, bool) {
	for _, f := range formats {
		if name == f.name || name == f.wire {
			return f.make(), true
		}
	}
	return dialect.Format{}, false
}

// Dialects are the names of all wire formats.
func Dialects() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

func roots(name string) root {
	for _, f := range formats {
		if f.name == name {
			return f.root
		}
	}
	return root{}
}
