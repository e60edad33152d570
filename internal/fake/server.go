// Package fake stands in for what cannot be had in a test: a model behind the
// wire, as a real HTTP server that plays a script. Everything else in our tests
// is real.
package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// A Reply is one answer of the scripted model. The zero Reply is an empty text.
type Reply struct {
	Text     string        `json:"text"`
	Thinking string        `json:"thinking"`
	Calls    []Call        `json:"calls"`
	Pieces   int           `json:"pieces"`      // into how many pieces texts and arguments are cut; 1 when zero
	Usage    *[2]int       `json:"usage"`       // input and output tokens
	Status   int           `json:"status"`      // an HTTP error, with Body
	Body     string        `json:"body"`        // sent as it is, instead of a reply
	Type     string        `json:"type"`        // content type of Body
	Cut      bool          `json:"cut"`         // the connection closes before the end signal
	Stall    float64       `json:"stall"`       // seconds of silence; until the client goes when negative
	After    int           `json:"stall_after"` // after so many frames
	Endless  bool          `json:"endless"`
	Finish   string        `json:"finish"` // the finish reason; chosen by itself when empty
	Repeat   int           `json:"repeat"` // give this reply so many times
	Expect   string        `json:"expect"` // what the request body must contain; else HTTP 400
	When     string        `json:"when"`   // the answer to every request that contains this, whatever its turn
	Delay    time.Duration `json:"-"`
}

// A Call is one tool call of a Reply. Args is an object, or a string that is
// sent as it is.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// arguments is the text that is sent for the arguments.
func (c Call) arguments() string {
	var s string
	if len(c.Args) > 0 && c.Args[0] == '"' && json.Unmarshal(c.Args, &s) == nil {
		return s
	}
	return string(c.Args)
}

// A Model is a scripted model behind HTTP. It speaks the format its path asks
// for.
type Model struct {
	*httptest.Server
	mu       sync.Mutex // guards the fields below
	script   []Reply
	always   []Reply // with When
	requests [][]byte
	log      io.Writer
	gone     chan struct{}
}

// NewModel starts a server that gives the replies of script, one per request.
// When they are used up it answers HTTP 500.
func NewModel(script []Reply) *Model {
	m := &Model{gone: make(chan struct{})}
	for _, r := range script {
		if r.When != "" {
			m.always = append(m.always, r)
			continue
		}
		for range max(r.Repeat, 1) {
			m.script = append(m.script, r)
		}
	}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	return m
}

// Close ends the server and whatever it is still sending.
func (m *Model) Close() {
	close(m.gone)
	m.CloseClientConnections()
	m.Server.Close()
}

// Log writes each request body to w, one line each.
func (m *Model) Log(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = w
}

// Requests are the bodies received so far.
func (m *Model) Requests() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests
}

// ParseScript reads replies, one JSON object per line; blank lines and lines
// that begin with # are skipped.
func ParseScript(text string) ([]Reply, error) {
	var script []Reply
	s := bufio.NewScanner(strings.NewReader(text))
	s.Buffer(nil, 16<<20)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		var r Reply
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("line %d of the script: %w", n, err)
		}
		script = append(script, r)
	}
	return script, s.Err()
}

func (m *Model) serve(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r, ok := m.next(body)
	switch {
	case !ok:
		http.Error(w, `{"error":{"message":"the script is over","type":"script"}}`, http.StatusInternalServerError)
	case r.Expect != "" && !bytes.Contains(body, []byte(r.Expect)):
		http.Error(w, fmt.Sprintf(`{"error":{"message":"the request lacks %q","type":"script"}}`, r.Expect), http.StatusBadRequest)
	case r.Status != 0 || r.Body != "":
		m.sendBody(w, r)
	default:
		time.Sleep(r.Delay)
		m.stream(w, req, r)
	}
}

func (m *Model) next(body []byte) (Reply, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, body)
	if m.log != nil {
		fmt.Fprintf(m.log, "%s\n", bytes.ReplaceAll(body, []byte("\n"), nil))
	}
	for _, r := range m.always {
		if bytes.Contains(body, []byte(r.When)) {
			return r, true
		}
	}
	if len(m.script) == 0 {
		return Reply{}, false
	}
	r := m.script[0]
	m.script = m.script[1:]
	return r, true
}

func (m *Model) sendBody(w http.ResponseWriter, r Reply) {
	kind := r.Type
	if kind == "" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	io.WriteString(w, r.Body)
}

// stream sends a reply in the format of the path.
func (m *Model) stream(w http.ResponseWriter, req *http.Request, r Reply) {
	how := speechOf(req.URL.Path)
	w.Header().Set("Content-Type", how.kind)
	s := &sender{w: w, flush: w.(http.Flusher).Flush}
	frames := how.frames(r)
	for i, f := range frames {
		if i == max(r.After, 1) && r.Stall != 0 {
			m.stall(req, r.Stall)
		}
		if r.Cut && i == len(frames)/2+1 {
			panic(http.ErrAbortHandler)
		}
		s.send(f)
	}
	for r.Endless {
		select {
		case <-req.Context().Done():
			return
		case <-m.gone:
			return
		default:
			s.send(frames[0])
		}
	}
}

func (m *Model) stall(req *http.Request, seconds float64) {
	wait := time.Duration(seconds * float64(time.Second))
	if seconds < 0 {
		wait = time.Hour
	}
	select {
	case <-time.After(wait):
	case <-req.Context().Done():
	case <-m.gone:
	}
}

type sender struct {
	w     io.Writer
	flush func()
}

func (s *sender) send(data string) {
	io.WriteString(s.w, data)
	s.flush()
}
