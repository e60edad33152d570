package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Code says what went wrong in one stable word. Tools have further codes of
// their own; those are passed on as they are.
type Code string

// The codes of the wrapper: what a tool could not say itself.
const (
	ToolNotFound      Code = "TOOL_NOT_FOUND"
	InvalidParams     Code = "INVALID_PARAMS"
	PermissionDenied  Code = "PERMISSION_DENIED"
	ToolTimeout       Code = "TOOL_TIMEOUT"
	ToolCrashed       Code = "TOOL_CRASHED"
	InvalidJSONOutput Code = "INVALID_JSON_OUTPUT"
	OutputTooLarge    Code = "OUTPUT_TOO_LARGE"
	CallCancelled     Code = "CANCELLED"
	LimitReached      Code = "LIMIT_REACHED"
	Interrupted       Code = "INTERRUPTED"
)

// Codes the built-in tools share.
const (
	Missing        Code = "NOT_FOUND" // what was named, and is no file: a task, a job, an event
	FileNotFound   Code = "FILE_NOT_FOUND"
	InvalidPath    Code = "INVALID_PATH"
	InvalidPattern Code = "INVALID_PATTERN"
	FileChanged    Code = "FILE_CHANGED"
	OpenFailed     Code = "OPEN_FAILED"
	ReadFailed     Code = "READ_FAILED"
	WriteFailed    Code = "WRITE_FAILED"
	NoSpace        Code = "NO_SPACE"
	BinaryFile     Code = "BINARY_FILE"
	InvalidUTF8    Code = "INVALID_UTF8"
)

// ErrorType is the coarse vocabulary of the Local Harness seed.
type ErrorType string

const (
	None           ErrorType = "none"
	TypeNotFound   ErrorType = "not_found"
	TypeValidation ErrorType = "validation_failed"
	TypePermission ErrorType = "permission_denied"
	TypeIO         ErrorType = "io_error"
	TypeParse      ErrorType = "parse_error"
	TypeInternal   ErrorType = "internal_error"
)

var typeOfCode = map[Code]ErrorType{
	"":                 None,
	FileNotFound:       TypeNotFound,
	Missing:            TypeNotFound,
	ToolNotFound:       TypeNotFound,
	"NotFound":         TypeNotFound,
	"AMBIGUOUS":        TypeValidation,
	"EMPTY_OLD_TEXT":   TypeValidation,
	"NO_CHANGE":        TypeValidation,
	"OVERLAP":          TypeValidation,
	"NO_EDITS":         TypeValidation,
	FileChanged:        TypeValidation,
	"InvalidArguments": TypeValidation,
	PermissionDenied:   TypePermission,
	"PermissionDenied": TypePermission,
	NoSpace:            TypeIO,
	OutputTooLarge:     TypeIO,
	"READ_ERROR":       TypeIO,
	InvalidJSONOutput:  TypeParse,
	BinaryFile:         TypeParse,
	InvalidUTF8:        TypeParse,
	"PARSE_ERROR":      TypeParse,
}

// Type is the error_type of a code: one table for all vocabularies. A code that
// is in no table and fits no pattern is an internal_error.
func (c Code) Type() ErrorType {
	if t, ok := typeOfCode[c]; ok {
		return t
	}
	switch s := string(c); {
	case strings.HasPrefix(s, "INVALID_"):
		return TypeValidation
	case strings.HasSuffix(s, "_FAILED"):
		return TypeIO
	}
	return TypeInternal
}

// An Error is a failure with a code, in words for the model.
type Error struct {
	Code Code
	Text string
	Err  error // the cause, for errors.Is; may be nil
}

// Errorf makes an Error. A %w in format becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Text: err.Error(), Err: errors.Unwrap(err)}
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of err, or other when it has none.
func CodeOf(err error, other Code) Code {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return other
}

// A Result is the one answer to one Call. Failure is a Result too.
type Result struct {
	CallID, Name string
	Summary      string          // one line for a person
	Data         json.RawMessage // the tool's own object, also when it reports {"error","error_code"}
	Failure      *Failure        // set only when the wrapper speaks
	At           time.Time       // when it was ready
	Took         time.Duration
	Truncated    bool
	Limit        int             // not zero: the loop limit of that many replies was reached with this result
	Notes        []string        // repairs and dropped arguments, for people; never sent
	Display      json.RawMessage // what the tool asked to have drawn; never sent
}

// A Failure is what the tool could not say itself.
type Failure struct {
	Code           Code
	Message        string
	ExitCode       *int   // nil when there was none: killed, or never started
	Stdout, Stderr string // what was captured, cut to size
}

// Fail is the Result of a call that the wrapper answers.
func Fail(c Call, code Code, format string, args ...any) Result {
	f := &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
	return Result{CallID: c.ID, Name: c.Name, Summary: f.Message, Failure: f}
}

// Code is the code of the failure, the tool's own error_code, or empty for a success.
func (r Result) Code() Code {
	if r.Failure != nil {
		return r.Failure.Code
	}
	var own struct {
		Error *string `json:"error"`
		Code  Code    `json:"error_code"`
	}
	if json.Unmarshal(r.Data, &own) != nil || own.Error == nil {
		return ""
	}
	if own.Code == "" {
		return "TOOL_ERROR"
	}
	return own.Code
}

// OK reports whether the tool did what was asked.
func (r Result) OK() bool { return r.Code() == "" }

// Error lets the code of a tool end a call as the wrapper would.
func (f *Failure) Error() string { return f.Message }
