package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/dialect"
	"ikigai/internal/dialect/wire"
)

// A peer is a vendor's own client for one of our formats.
type peer struct {
	format string // ours
	under  string // what comes between the host and the path of our format
	ask    ask
	// plain writes a body of ours in the way that the client's types can read,
	// where the server takes several ways to write one value.
	plain func(body []byte) []byte
	// says are the server's words in an error of the client; without it they are
	// in its text.
	says func(error) string
	// known are the differences between a body of ours and the one that the
	// client makes of it, each with its reason. Each must occur.
	known map[string]string
	// again are the known differences between a reply that we send back and one
	// that the client does.
	again map[string]string
	// limited begins the differences of schemas that say more than the client can.
	limited string
	// silent are headers of ours that the client has no way to send.
	silent []string
}

// ask reads body into the client's types, sends it to the server at url, for
// model, and reads the answer: as a stream, or whole. An answer that is an error
// comes back as one, with what came before it.
type ask func(ctx context.Context, url, model string, body []byte, whole bool) (reply, error)

const key = "sk-conformance"

func peers() []peer {
	return []peer{openaiPeer(), responsesPeer(), anthropicPeer(), geminiPeer(), ollamaPeer()}
}

// ours is the format that the peer speaks, too.
func (p peer) ours(t *testing.T) dialect.Format {
	t.Helper()
	f, ok := wire.Find(p.format)
	if !ok {
		t.Fatalf("no format %s", p.format)
	}
	return f
}

// errRequest marks a body that the client's types do not take.
var errRequest = errors.New("the body does not fit the client's types")

// An answer is what the server on this machine says to every request.
type answer struct {
	status    int
	transport string // sse, ndjson or json
	body      []byte
}

var contentTypes = map[string]string{"sse": "text/event-stream", "ndjson": "application/x-ndjson", "json": "application/json"}

// arrival is a request as it came to the server.
type arrival struct {
	path   string // with its query
	header http.Header
	body   []byte
}

// serve gives the address of a server that says a to everything, and the place
// where the last request is put.
func serve(t *testing.T, a answer) (url string, got *arrival) {
	t.Helper()
	got = &arrival{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("reading a request: %v", err)
		}
		*got = arrival{path: r.URL.RequestURI(), header: r.Header, body: body}
		w.Header().Set("Content-Type", contentTypes[a.transport])
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // a client that heard enough may be gone
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// A reply is what a model said, in words that all clients share. The order
// between texts and calls is not among them: some clients do not keep it.
type reply struct {
	Text     string
	Refusal  string
	Thinking string
	Proofs   []string // signatures and what nobody may read, in order
	Calls    []called
	Finish   string // the vendor's own word
	Usage    usage

	Again any // the JSON with which the client would send it back, as a list of messages or items
}

type called struct {
	ID   string
	Name string
	Args any // as a JSON value; a string where it is none
}

type usage struct{ Input, Output, CacheRead, CacheWrite, Reasoning int64 }

// arguments reads the text of a call's arguments.
func arguments(text string) any {
	var v any
	switch {
	case text == "":
		return map[string]any{}
	case json.Unmarshal([]byte(text), &v) != nil:
		return text
	}
	return v
}

// again is the JSON value of what the client would send back.
func again(list ...any) any {
	raw, err := json.Marshal(list)
	if err != nil {
		return err.Error()
	}
	return arguments(string(raw))
}

// proof adds what proves that thinking is the model's own, if there is some.
func (r *reply) proof(s string) {
	if s != "" {
		r.Proofs = append(r.Proofs, s)
	}
}

// unexpected leaves of differences those that are not known.
func (p peer) unexpected(found []string) []string {
	return slices.DeleteFunc(found, func(d string) bool {
		return p.known[d] != "" || p.limited != "" && strings.HasPrefix(d, p.limited)
	})
}
