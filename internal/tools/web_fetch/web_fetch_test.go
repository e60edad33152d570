package web_fetch

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ikigai/internal/address"
	"ikigai/internal/tool"
	"ikigai/internal/tools/internal/stage"
)

// An internet is names with their addresses, all of which lead to one server of
// the test: what is looked up and judged is real, what is dialled is not.
type internet struct {
	names  map[string]string
	server *httptest.Server
	dialed []string
}

func connect(t *testing.T, names map[string]string, page http.HandlerFunc) (*internet, tool.Tool) {
	t.Helper()
	n := &internet{names: names, server: httptest.NewServer(page)}
	t.Cleanup(n.server.Close)
	return n, New(address.Dialer{Lookup: n.lookup, Dial: n.dial})
}

func (n *internet) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	if a, ok := n.names[name]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, fmt.Errorf("no such host: %s", name)
}

func (n *internet) dial(ctx context.Context, _, to string) (net.Conn, error) {
	n.dialed = append(n.dialed, to)
	return (&net.Dialer{}).DialContext(ctx, "tcp", n.server.Listener.Addr().String())
}

const public = "93.184.216.34"

type answer struct {
	Output, URL, Redirect string
	Truncated             bool
	FullOutput            string `json:"full_output"`
}

func fetch(t *testing.T, tl tool.Tool, url string) (answer, tool.Result) {
	t.Helper()
	r := stage.New(t, nil).Call(tl, fmt.Sprintf(`{"url":%q}`, url))
	var a answer
	if r.Failure == nil {
		if err := json.Unmarshal(r.Data, &a); err != nil {
			t.Fatal(err)
		}
	}
	return a, r
}

func serves(page string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write([]byte(page))
	}
}

func TestAPageBecomesMarkdown(t *testing.T) {
	raw, err := os.ReadFile("testdata/article.html")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/article.md")
	if err != nil {
		t.Fatal(err)
	}
	n, tl := connect(t, map[string]string{"example.com": public}, serves(string(raw)))
	a, r := fetch(t, tl, "http://example.com/docs/page")
	if diff := cmp.Diff(strings.TrimSpace(string(want)), a.Output); diff != "" || a.URL != "http://example.com/docs/page" {
		t.Errorf("%s\n%s", r.Envelope(), diff)
	}
	if n.dialed[0] != public+":80" {
		t.Errorf("it dialled %v", n.dialed)
	}
}

func TestRedirectsWithinASiteAreFollowed(t *testing.T) {
	n, tl := connect(t, map[string]string{"example.com": public, "www.example.com": "93.184.216.35"}, func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Path {
		case "example.com/":
			http.Redirect(w, r, "http://www.example.com/a", http.StatusMovedPermanently)
		case "www.example.com/a":
			http.Redirect(w, r, "b", http.StatusFound)
		default:
			serves("<p>here</p>")(w, r)
		}
	})
	a, r := fetch(t, tl, "http://example.com/")
	if a.Output != "here" || a.URL != "http://www.example.com/b" {
		t.Errorf("%s", r.Envelope())
	}
	if diff := cmp.Diff([]string{public + ":80", "93.184.216.35:80", "93.184.216.35:80"}, n.dialed); diff != "" {
		t.Errorf("each hop is looked up anew:\n%s", diff)
	}
}

// What was allowed is one site; another one is asked for by its own name.
func TestARedirectToAnotherSiteIsHandedBack(t *testing.T) {
	n, tl := connect(t, map[string]string{"short.example": public, "elsewhere.example": public}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/page", http.StatusFound)
	})
	a, r := fetch(t, tl, "http://short.example/x")
	if a.Redirect != "https://elsewhere.example/page" || !strings.Contains(a.Output, a.Redirect) || len(n.dialed) != 1 {
		t.Errorf("%s, dialled %v", r.Envelope(), n.dialed)
	}
}

func TestNothingInsideIsReached(t *testing.T) {
	names := map[string]string{"example.com": public, "inside.example": "10.0.0.1", "local.example": "127.0.0.1", "cloud.example": "169.254.169.254"}
	for _, url := range []string{
		"http://127.0.0.1/", "http://[::1]/", "http://10.1.2.3/", "http://169.254.169.254/latest/meta-data/", "http://inside.example/",
		"http://local.example:8080/", "http://cloud.example/", "http://unknown.example/", "http://example.com:22/",
	} {
		n, tl := connect(t, names, serves("secret"))
		if _, r := fetch(t, tl, url); r.OK() || len(n.dialed) > 0 {
			t.Errorf("%s: %s, dialled %v", url, r.Envelope(), n.dialed)
		}
	}
	for _, to := range []string{"http://127.0.0.1/", "http://[::ffff:10.0.0.1]/", "//169.254.169.254/", "file:///etc/passwd", "http://example.com:22/"} {
		n, tl := connect(t, names, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		if _, r := fetch(t, tl, "http://example.com/"); r.OK() && len(n.dialed) > 1 || strings.Contains(string(r.Envelope()), "secret") {
			t.Errorf("redirect to %s: %s, dialled %v", to, r.Envelope(), n.dialed)
		}
	}
}

// A name that changes its address between two hops is judged at each.
func TestANameThatMovesInsideIsRefused(t *testing.T) {
	names := map[string]string{"example.com": public}
	n, tl := connect(t, names, func(w http.ResponseWriter, r *http.Request) {
		names["example.com"] = "192.168.0.1"
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	if _, r := fetch(t, tl, "http://example.com/"); r.Code() != tool.PermissionDenied || len(n.dialed) != 1 {
		t.Errorf("%s, dialled %v", r.Envelope(), n.dialed)
	}
}

func TestRedirectsComeToAnEnd(t *testing.T) {
	n, tl := connect(t, map[string]string{"example.com": public}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Path+"x", http.StatusFound)
	})
	if _, r := fetch(t, tl, "http://example.com/"); r.Code() != tool.PermissionDenied || len(n.dialed) != address.MaxRedirects+1 {
		t.Errorf("%s after %d hops", r.Envelope(), len(n.dialed))
	}
}

func TestOtherKindsOfPages(t *testing.T) {
	for _, c := range []struct{ kind, body, want string }{
		{"text/plain", "a < b", "a < b"},
		{"application/json", `{"a":1}`, `{"a":1}`},
		{"", "<html><body><h1>T</h1>", "# T"},
		{"text/html; charset=iso-8859-1", "<p>caf\xe9</p>", "café"},
		{"text/html", `<meta charset="windows-1252"><p>` + "\x80" + `</p>`, "€"},
		{"image/png", "\x89PNG\r\n\x1a\n\x00", "BINARY_FILE"},
		{"application/octet-stream", "\x00\x01", "BINARY_FILE"},
		{"text/html", "<p>tag\U000E0041s</p>", "tags"},
	} {
		_, tl := connect(t, map[string]string{"example.com": public}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.kind}
			w.Write([]byte(c.body))
		})
		if a, r := fetch(t, tl, "http://example.com/"); a.Output != c.want && string(r.Code()) != c.want {
			t.Errorf("%s %q: %s", c.kind, c.body, r.Envelope())
		}
	}
}

func TestBadStatusIsAnError(t *testing.T) {
	_, tl := connect(t, map[string]string{"example.com": public}, http.NotFound)
	if _, r := fetch(t, tl, "http://example.com/"); r.Code() != "FETCH_FAILED" || !strings.Contains(string(r.Data), "404") {
		t.Errorf("%s", r.Envelope())
	}
}

func TestAHugePageIsCut(t *testing.T) {
	_, tl := connect(t, map[string]string{"example.com": public}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip") // small on the wire
		z := gzip.NewWriter(w)
		for range 100 {
			z.Write([]byte(strings.Repeat("0123456\n", 16<<10)))
		}
		z.Close()
	})
	a, r := fetch(t, tl, "http://example.com/")
	if !r.OK() || !r.Truncated || len(a.Output) > 64<<10 || !strings.Contains(a.Output, "larger than") || a.FullOutput == "" {
		t.Errorf("%d bytes, %.300s", len(a.Output), r.Envelope())
	}
}

func TestASlowPageEndsAtTheDeadline(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	_, tl := connect(t, map[string]string{"example.com": public}, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	p, err := tl.Prepare(t.Context(), stage.New(t, nil).Place, json.RawMessage(`{"url":"http://example.com/"}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if r := p.Run(ctx, tool.Grant{}, nil); r.Code() != tool.ToolTimeout {
		t.Errorf("%s", r.Envelope())
	}
}

func TestThePlanNamesTheHost(t *testing.T) {
	s := stage.New(t, nil)
	if p := s.Plan(Tool, `{"url":"https://Example.COM/a"}`); len(p.Hosts) != 1 || p.Hosts[0] != "example.com" {
		t.Errorf("%+v", p)
	}
	if r := s.Call(Tool, `{"url":"http://user@example.com/"}`); r.Code() != address.InvalidURL {
		t.Errorf("%s", r.Envelope())
	}
}

func TestDeepNestingGivesTheWords(t *testing.T) {
	if got := Markdown(strings.Repeat("<div>", 5000)+"words<script>no</script><style>no</style>", ""); got != "words" {
		t.Errorf("%.100q", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	raw, err := os.ReadFile("testdata/article.html")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Add(strings.Repeat("<table><tr><td>", 200))
	f.Add("<a href='\x00'><![CDATA[x]]><ul><li><ol><pre><code>")
	f.Fuzz(func(t *testing.T, page string) {
		if len(page) > 1<<16 {
			return
		}
		if out := Markdown(page, "https://example.com/a"); utf8.ValidString(page) && !utf8.ValidString(out) {
			t.Errorf("%q", out)
		}
	})
}

func BenchmarkMarkdown(b *testing.B) {
	raw, err := os.ReadFile("testdata/article.html")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Markdown(string(raw), "https://example.com/")
	}
}
