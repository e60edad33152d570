// Package tools is the table of built-in tools: one folder each, one line here.
package tools

import (
	"ikigai/internal/tool"
	"ikigai/internal/tools/bash"
	"ikigai/internal/tools/file_edit"
	"ikigai/internal/tools/file_read"
	"ikigai/internal/tools/file_write"
	"ikigai/internal/tools/glob"
	"ikigai/internal/tools/grep"
)

// Core are the six tools of the toolset ikigai.
func Core() []tool.Tool {
	return []tool.Tool{
		bash.Tool,
		file_read.Tool,
		file_write.Tool,
		file_edit.Tool,
		glob.Tool,
		grep.Tool,
	}
}

// All are all built-in tools.
func All() []tool.Tool { return Core() }
