package dialect

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ikigai/internal/llm"
)

// Faults reads the bodies of error responses; decoders embed it. The vendors
// differ in where they put the words, not in what they say.
type Faults struct{}

// Fault reads the body of a response whose status is an error.
func (Faults) Fault(status int, h http.Header, body []byte) *llm.Error {
	e := Complaint(nil, body)
	if e == nil {
		e = &llm.Error{Message: plainFault(status, body)}
	}
	e.Status = status
	e.Class = classify(status, e)
	if wait := retryAfter(h); wait > 0 {
		e.RetryAfter = wait
	}
	e.Hint = hints[e.Class]
	return e
}

func plainFault(status int, body []byte) string {
	if text := Excerpt(body); text != "" {
		return text
	}
	if text := http.StatusText(status); text != "" {
		return text
	}
	return fmt.Sprintf("the provider answered with status %d and no words", status)
}

// A Report is an error object as the provider sent it; the cause of an llm.Error.
type Report struct{ Raw json.RawMessage }

func (r *Report) Error() string { return string(r.Raw) }

// Complaint finds the error that a message reports, in one of the shapes seen
// so far; nil when it reports none. event is the name of its SSE event.
func Complaint(event, data []byte) *llm.Error {
	raw := complaint(event, data)
	if raw == nil {
		return nil
	}
	e := readReport(raw)
	e.Class = classify(0, e)
	e.Hint = hints[e.Class]
	return e
}

// complaint gives the error object, or the string that stands for one.
func complaint(event, data []byte) json.RawMessage {
	var shell struct {
		Error   json.RawMessage `json:"error"`
		Errors  json.RawMessage `json:"errors"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
		Object  json.RawMessage `json:"object"`
		Type    json.RawMessage `json:"type"`
	}
	if list := []json.RawMessage{}; json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	if json.Unmarshal(data, &shell) != nil {
		if string(event) == "error" && len(data) > 0 {
			return AppendString(nil, data)
		}
		return nil
	}
	switch {
	case told(shell.Error):
		return shell.Error
	case told(shell.Errors):
		return shell.Errors
	case told(shell.Detail):
		return shell.Detail
	case string(event) == "error", string(shell.Object) == `"error"`, string(shell.Type) == `"error"`:
		return data
	case len(event) == 0 && len(shell.Message) > 0 && shell.Message[0] == '"':
		return data
	}
	return nil
}

func told(raw json.RawMessage) bool {
	s := string(raw)
	return s != "" && s != "null" && s != `""` && s != "{}" && s != "[]"
}

// readReport reads an error object, a string, or a list of either.
func readReport(raw json.RawMessage) *llm.Error {
	e := &llm.Error{Err: &Report{Raw: append(json.RawMessage(nil), raw...)}}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		raw = list[0]
	}
	if json.Unmarshal(raw, &e.Message) == nil {
		return e
	}
	var o struct {
		Message string          `json:"message"`
		Msg     string          `json:"msg"`
		Error   json.RawMessage `json:"error"`
		Code    any             `json:"code"`
		Type    string          `json:"type"`
		Status  any             `json:"status"`
		Details []struct {
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
		Metadata struct {
			Raw any `json:"raw"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(raw, &o) // fields of another type than ours are left out; the rest is read
	e.Message, e.Code, e.Type = o.Message, plainValue(o.Code), o.Type
	if e.Message == "" {
		e.Message = o.Msg
	}
	if e.Message == "" {
		e.Message = Excerpt(raw)
	}
	if cause := plainValue(o.Metadata.Raw); cause != "" && cause != e.Message {
		e.Message += ": " + Excerpt([]byte(cause)) // a gateway that quotes the provider behind it
	}
	if e.Type == "" {
		e.Type = plainValue(o.Status)
	}
	for _, d := range o.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			e.RetryAfter = wait
		}
	}
	return e
}

func plainValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// classes by HTTP status; the codes inside a body can say more.
var classes = map[int]llm.Class{
	401: llm.Auth, 403: llm.Auth, 404: llm.NotFound, 402: llm.Quota, 429: llm.RateLimited,
	408: llm.Overloaded, 409: llm.Overloaded, 400: llm.BadRequest, 413: llm.BadRequest, 422: llm.BadRequest,
}

// words in the code or type of an error, and what they mean. The first that fits counts.
var classWords = []struct {
	word  string
	class llm.Class
}{
	{"context_length_exceeded", llm.TooLong},
	{"model_context_window_exceeded", llm.TooLong},
	{"insufficient_quota", llm.Quota},
	{"insufficient_balance", llm.Quota},
	{"billing", llm.Quota},
	{"authentication", llm.Auth},
	{"permission", llm.Auth},
	{"invalid_api_key", llm.Auth},
	{"unauthenticated", llm.Auth},
	{"not_found", llm.NotFound},
	{"rate_limit", llm.RateLimited},
	{"resource_exhausted", llm.RateLimited},
	{"too_many_requests", llm.RateLimited},
	{"overloaded", llm.Overloaded},
	{"unavailable", llm.Overloaded},
	{"timeout", llm.Overloaded},
	{"deadline", llm.Overloaded},
	{"server_error", llm.Overloaded},
	{"api_error", llm.Overloaded},
	{"internal", llm.Overloaded},
	{"content_filter", llm.Blocked},
	{"content_policy", llm.Blocked},
	{"invalid", llm.BadRequest},
	{"badrequest", llm.BadRequest},
	{"tool_use_failed", llm.BadRequest},
}

// texts that say that the conversation is too long, where no code does.
var tooLong = []string{
	"prompt is too long", "maximum context length", "context length", "context window", "context_length",
	"input token count", "too many tokens", "exceeds the available context size", "reduce the length",
}

var poor = []string{"credit balance", "insufficient quota", "insufficient balance", "insufficient credits"}

// classify finds the class of an error from its status and the provider's words.
func classify(status int, e *llm.Error) llm.Class {
	text := strings.ToLower(e.Message)
	given := status
	if status == 0 {
		status, _ = strconv.Atoi(e.Code)
	}
	refused := status == 0 || status >= 400 && status < 500
	switch {
	case refused && status != 429 && containsAny(text, tooLong):
		return llm.TooLong
	case refused && containsAny(text, poor):
		return llm.Quota
	}
	c, known := classes[status]
	if known && c != llm.BadRequest && c != llm.RateLimited {
		return c
	}
	words := strings.ToLower(e.Code + " " + e.Type)
	for _, w := range classWords {
		if strings.Contains(words, w.word) && (given == 0 || w.class == llm.TooLong || w.class == llm.Quota || w.class == llm.Auth) {
			return w.class
		}
	}
	switch {
	case known:
		return c
	case status >= 400 && status < 500:
		return llm.BadRequest
	case status > 0 && status < 400:
		return llm.Garbage
	}
	return llm.Overloaded
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// hints are the next step for a person.
var hints = map[llm.Class]string{
	llm.Auth:        "check the key of this provider",
	llm.NotFound:    "check the name of the model and the address of the provider",
	llm.TooLong:     "compact the conversation, or start a new session",
	llm.Quota:       "check the plan and the balance of this account",
	llm.RateLimited: "wait a while, or use another model",
	llm.Overloaded:  "try again later",
	llm.Blocked:     "say it in other words",
}

// retryAfter reads how long to wait from the headers. A date counts from the
// server's own clock where it tells it.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(s * float64(time.Second))
	}
	until, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, until.Sub(now))
}

// Cut is the error of a stream that ended without its end signal.
func Cut(partial bool) *llm.Error {
	e := &llm.Error{Class: llm.Truncated, Message: "the stream ended before the reply was whole", Partial: partial}
	e.Hint = "try again"
	return e
}

var markupPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<!--.*?-->|<(script|style|head)\b.*?</(script|style|head)>|<[^>]*>`)
})

var titlePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })

// Excerpt is the beginning of a body, for a person: the title of a page or its
// text without the markup, in one line, without control characters.
func Excerpt(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), 1<<16)]), "\ufffd")
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		if title := titlePattern().FindStringSubmatch(text); title != nil && strings.TrimSpace(title[1]) != "" {
			text = title[1]
		}
		text = markupPattern().ReplaceAllString(text, " ")
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	const most = 200
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
