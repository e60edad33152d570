package dialect

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ikigai/internal/llm"
)

func TestErrorBodiesOfAllShapesAreRead(t *testing.T) {
	for _, c := range []struct {
		name, body    string
		status        int
		class         llm.Class
		message, code string
		again         bool
	}{
		{"openai", `{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}`, 401, llm.Auth, "bad key", "invalid_api_key", false},
		{"quota is no rate limit", `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, 429, llm.Quota, "You exceeded", "insufficient_quota", false},
		{"a rate limit", `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, 429, llm.RateLimited, "slow down", "rate_limit_exceeded", true},
		{"too long by code", `{"error":{"message":"x","code":"context_length_exceeded"}}`, 400, llm.TooLong, "x", "context_length_exceeded", false},
		{"too long by text", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`, 400, llm.TooLong, "prompt is too long", "", false},
		{"too long at Google", `{"error":{"code":400,"message":"The input token count (9) exceeds the maximum","status":"INVALID_ARGUMENT"}}`, 400, llm.TooLong, "input token count", "400", false},
		{"no money", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, 400, llm.Quota, "credit balance", "", false},
		{"payment", `{"error":{"message":"pay","code":402}}`, 402, llm.Quota, "pay", "402", false},
		{"overloaded", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, 529, llm.Overloaded, "Overloaded", "", true},
		{"a list around it", `[{"error":{"code":503,"message":"later","status":"UNAVAILABLE"}}]`, 503, llm.Overloaded, "later", "503", true},
		{"a mere string", `{"error":"model 'x' not found"}`, 404, llm.NotFound, "model 'x' not found", "", false},
		{"a message alone", `{"message":"no such route"}`, 404, llm.NotFound, "no such route", "", false},
		{"a detail", `{"detail":"Not Found"}`, 404, llm.NotFound, "Not Found", "", false},
		{"a list of details", `{"detail":[{"msg":"field required","loc":["body"]}]}`, 422, llm.BadRequest, "field required", "", false},
		{"a gateway that quotes", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"tools are not supported"}}}`, 400, llm.BadRequest, "Provider returned error: tools are not supported", "400", false},
		{"a page", "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", 502, llm.Overloaded, "502 Bad Gateway", "", true},
		{"nothing", "", 500, llm.Overloaded, "Internal Server Error", "", true},
		{"words", "upstream timed out", 504, llm.Overloaded, "upstream timed out", "", true},
		{"a strange status", "", 418, llm.BadRequest, "teapot", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Faults{}.Fault(c.status, http.Header{}, []byte(c.body))
			if e.Class != c.class || !strings.Contains(e.Message, c.message) || e.Code != c.code || e.Status != c.status {
				t.Errorf("%s %q code %q status %d", e.Class, e.Message, e.Code, e.Status)
			}
			if e.Retryable() != c.again {
				t.Errorf("retryable is %v", e.Retryable())
			}
		})
	}
}

func TestHowLongToWaitIsRead(t *testing.T) {
	date := func(h http.Header, now, until string) http.Header {
		h.Set("Date", now)
		h.Set("Retry-After", until)
		return h
	}
	for _, c := range []struct {
		name string
		h    http.Header
		body string
		want time.Duration
	}{
		{"seconds", http.Header{"Retry-After": {"7"}}, "", 7 * time.Second},
		{"milliseconds first", http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, "", 250 * time.Millisecond},
		{"a date by the server's clock", date(http.Header{}, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:47 GMT"), "", 10 * time.Second},
		{"a date that is over", date(http.Header{}, "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:00:00 GMT"), "", 0},
		{"in the body", http.Header{}, `{"error":{"message":"x","details":[{"@type":"QuotaFailure"},{"retryDelay":"34.4s"}]}}`, 34400 * time.Millisecond},
		{"nonsense", http.Header{"Retry-After": {"soon"}}, "", 0},
	} {
		if got := (Faults{}).Fault(429, c.h, []byte(c.body)).RetryAfter; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestErrorsInsideAStreamAreClassed(t *testing.T) {
	for _, c := range []struct {
		event, data string
		class       llm.Class
	}{
		{"", `{"error":{"code":400,"message":"Token limit reached"}}`, llm.BadRequest},
		{"", `{"error":{"code":502,"message":"gone"}}`, llm.Overloaded},
		{"", `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Overloaded},
		{"", `{"error":{"message":"out of quota","code":"insufficient_quota"}}`, llm.Quota},
		{"error", `{"message":"failed","code":"tool_use_failed"}`, llm.BadRequest},
		{"error", `plain words`, llm.Overloaded},
		{"", `{"object":"error","message":"x","type":"BadRequestError"}`, llm.BadRequest},
	} {
		e := Complaint([]byte(c.event), []byte(c.data))
		if c.event == "" {
			e = Complaint(nil, []byte(c.data))
		}
		if e == nil || e.Class != c.class {
			t.Errorf("%s: %+v", c.data, e)
		}
		if report := (*Report)(nil); !errors.As(e, &report) {
			t.Errorf("%s: the provider's own words are lost", c.data)
		}
	}
	for _, data := range []string{`{"error":null}`, `{"choices":[]}`, `{}`, `5`, `{"error":""}`} {
		if e := Complaint(nil, []byte(data)); e != nil {
			t.Errorf("%s is taken for an error: %v", data, e)
		}
	}
}

func TestAnExcerptIsHarmless(t *testing.T) {
	got := Excerpt([]byte("a\x1b]0;x\x07b\u202ec\u200b d\r\n" + strings.Repeat("é", 300)))
	if strings.ContainsAny(got, "\x1b\x07\u202e\u200b\r\n") || len(got) > 210 || !strings.HasSuffix(got, "...") {
		t.Errorf("%q", got)
	}
}
