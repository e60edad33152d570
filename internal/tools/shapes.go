package tools

import (
	"encoding/json"
	"time"

	"ikigai/internal/tool"
)

// HarnessResult writes a result as the Local Harness does: one ToolResult, with
// the tool's words as its data.
func HarnessResult(r tool.Result) []byte {
	type metadata struct {
		Millis    int64 `json:"execution_time_ms"`
		Size      int   `json:"data_size_bytes"`
		Timestamp int64 `json:"timestamp"`
	}
	out := struct {
		Success  bool           `json:"success"`
		Data     *string        `json:"data"`
		Error    *string        `json:"error_message"`
		Type     tool.ErrorType `json:"error_type"`
		Metadata metadata       `json:"metadata"`
	}{
		Success: r.OK(), Type: r.Code().Type(),
		Metadata: metadata{Millis: r.Took.Milliseconds(), Timestamp: millis(r.At)},
	}
	if words := said(r); out.Success {
		out.Data, out.Metadata.Size = &words, len(words)
	} else {
		out.Error = &words
	}
	return encoded(out)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// SwebashResult writes a result as swebash does: the tool's own JSON, or one line
// that says what kind of error there was.
func SwebashResult(r tool.Result) []byte {
	code := r.Code()
	if code == "" {
		return r.Data
	}
	kind := "Execution failed: "
	switch {
	case code == tool.ToolNotFound:
		kind = "Tool not found: "
	case code.Type() == tool.TypePermission:
		kind = "Permission denied: "
	case code.Type() == tool.TypeValidation:
		kind = "Invalid arguments: "
	}
	return []byte("Error: " + kind + said(r))
}

// said is a result in words: the error, the output, or all of the answer where
// it has no output.
func said(r tool.Result) string {
	if r.Failure != nil {
		return r.Failure.Message
	}
	var own struct {
		Error  *string `json:"error"`
		Output *string `json:"output"`
	}
	if json.Unmarshal(r.Data, &own) == nil {
		switch {
		case own.Error != nil:
			return *own.Error
		case own.Output != nil:
			return *own.Output
		}
	}
	return string(r.Data)
}

func encoded(v any) []byte {
	raw, err := tool.Encode(v)
	if err != nil {
		panic("encoding a result: " + err.Error()) // strings and numbers always encode
	}
	return raw
}
