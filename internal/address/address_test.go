package address

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"ikigai/internal/corpus"
	"ikigai/internal/tool"
)

type row struct {
	ID        string            `json:"id"`
	URL       string            `json:"url"`
	URLGz     string            `json:"url_gz_b64"`
	DNS       map[string]answer `json:"dns"`
	Redirects []string          `json:"redirects"`
	Expect    string            `json:"expect"`
	Dial      string            `json:"dial"`
	AlsoOK    []string          `json:"also_ok"`
	Reason    string            `json:"reason"`
}

// An answer is what the first, second, ... look-up of a name gives; the last repeats.
type answer [][]string

func (a *answer) UnmarshalJSON(data []byte) error {
	var one []string
	if json.Unmarshal(data, &one) == nil {
		*a = answer{one}
		return nil
	}
	return json.Unmarshal(data, (*[][]string)(a))
}

func (r row) url(t testing.TB) string {
	t.Helper()
	return string(corpus.Value(t, r.URL, "", r.URLGz))
}

// lookup answers from the row, counting the look-ups of each name.
func (r row) lookup() func(string) []string {
	asked := map[string]int{}
	return func(name string) []string {
		all := r.DNS[name]
		if len(all) == 0 {
			return nil
		}
		n := min(asked[name], len(all)-1)
		asked[name]++
		return all[n]
	}
}

func TestCorpusOfAddresses(t *testing.T) {
	exact, accepted, unsafe, wrong := 0, 0, 0, 0
	for _, r := range corpus.Rows[row](t, "testdata/urls.jsonl") {
		outcome, dial := Judge(r.url(t), r.lookup(), r.Redirects)
		switch {
		case outcome == r.Expect && dial == r.Dial:
			exact++
		case outcome != Allowed && slices.Contains(r.AlsoOK, outcome):
			accepted++
		case outcome == Allowed && (r.Expect != Allowed || !isPublicDial(dial)):
			unsafe++
			t.Errorf("%s (%s): SAFETY: %.100q is allowed at %s", r.ID, r.Reason, r.URL, dial)
		default:
			wrong++
			t.Errorf("%s (%s): %.100q is %s %s; want %s %s", r.ID, r.Reason, r.URL, outcome, dial, r.Expect, r.Dial)
		}
	}
	t.Logf("exact %d, accepted %d, safety failures %d, other differences %d", exact, accepted, unsafe, wrong)
}

func isPublicDial(dial string) bool {
	a, err := netip.ParseAddrPort(dial)
	return err == nil && Public(a.Addr()) && allowedPort(a.Port())
}

func TestRefusalsSayWhichKindTheyAre(t *testing.T) {
	for text, code := range map[string]tool.Code{
		"ftp://a.example/":        InvalidURL,
		"http://a.example:70000/": InvalidURL,
		"http://a.example:22/":    tool.PermissionDenied,
		"http://a.example:0/":     tool.PermissionDenied,
		"http://a.example:+80/":   InvalidURL,
		"http://a.example:080/":   InvalidURL,
	} {
		if _, err := Check(text); tool.CodeOf(err, "") != code {
			t.Errorf("%s: got %v, want %s", text, err, code)
		}
	}
}

func TestLocationsAreResolvedAsTheStandardSays(t *testing.T) {
	base, err := Check("http://a.example/b/c/d;p?q")
	if err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{ // RFC 3986 section 5.4
		"g":                      "/b/c/g",
		"./g":                    "/b/c/g",
		"g/":                     "/b/c/g/",
		"/g":                     "/g",
		"?y":                     "/b/c/d;p?y",
		"g?y":                    "/b/c/g?y",
		"#s":                     "/b/c/d;p?q",
		"g?y/./x":                "/b/c/g?y/./x",
		";x":                     "/b/c/;x",
		"":                       "/b/c/d;p?q",
		".":                      "/b/c/",
		"..":                     "/b/",
		"../g":                   "/b/g",
		"../../g":                "/g",
		"../../../g":             "/g",
		"/./g":                   "/g",
		"g.":                     "/b/c/g.",
		"./g/.":                  "/b/c/g/",
		"g/../h":                 "/b/c/h",
		"http://a.example/x":     "/x",
		"//a.example:80/y":       "/y",
		"HTTP://A.example./z#%x": "/z",
	} {
		got, err := base.Redirect(location)
		if err != nil || got.String() != "http://a.example"+want {
			t.Errorf("%q: got %v, %v; want %s", location, got, err, want)
		}
	}
	bare, err := Check("https://a.example")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := bare.Redirect("x"); err != nil || got.String() != "https://a.example/x" {
		t.Errorf("from no path: %v, %v", got, err)
	}
}

func TestDialerReachesOnlyWhatItChecked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	names := map[string][]netip.Addr{
		"mixed.example":   {netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("93.184.216.34")},
		"private.example": {netip.MustParseAddr("::1"), netip.MustParseAddr("127.0.0.1")},
	}
	lookups := 0
	var dialled []string
	d := Dialer{
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			lookups++
			return names[name], nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
	client := http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
	answer, err := client.Get("http://mixed.example/")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || string(body) != "hello" {
		t.Fatalf("got %q, %v", body, err)
	}
	if want := []string{"93.184.216.34:80"}; lookups != 1 || !slices.Equal(dialled, want) {
		t.Errorf("%d look-ups, dialled %v; want one and %v", lookups, dialled, want)
	}
	for _, url := range []string{"http://private.example/", "http://127.0.0.1/", "http://[::1]:8080/", "http://gone.example/", "http://mixed.example:22/"} {
		if _, err := client.Get(url); tool.CodeOf(err, "") != tool.PermissionDenied {
			t.Errorf("%s: got %v, want %s", url, err, tool.PermissionDenied)
		}
	}
	if len(dialled) != 1 {
		t.Errorf("dialled %v", dialled)
	}
}

func TestDialerTriesTheNextPublicAddress(t *testing.T) {
	var dialled []string
	d := Dialer{
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("2a04:4e42::81"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:93.184.216.34")}, nil
		},
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return nil, errors.New("unreachable")
		},
	}
	if _, err := d.DialContext(t.Context(), "tcp", "a.example:443"); err == nil {
		t.Error("connected")
	}
	if want := []string{"[2a04:4e42::81]:443", "93.184.216.34:443"}; !slices.Equal(dialled, want) {
		t.Errorf("dialled %v, want %v", dialled, want)
	}
}

func TestLookupFailureIsTold(t *testing.T) {
	broken := errors.New("no resolver")
	d := Dialer{Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, broken }}
	if _, err := d.DialContext(t.Context(), "tcp", "a.example:443"); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func FuzzJudge(f *testing.F) {
	for _, r := range corpus.Rows[row](f, "testdata/urls.jsonl") {
		var addrs []string
		for _, a := range r.DNS {
			for _, l := range a {
				addrs = append(addrs, l...)
			}
		}
		f.Add(r.url(f), strings.Join(addrs, " "), strings.Join(r.Redirects, " "))
	}
	f.Fuzz(func(t *testing.T, url, addrs, redirects string) {
		lookup := func(string) []string { return strings.Fields(addrs) }
		hops := strings.Fields(redirects)
		outcome, dial := Judge(url, lookup, hops)
		if outcome == Allowed && !isPublicDial(dial) {
			t.Fatalf("%q by %q: allowed at %s", url, hops, dial)
		}
		if outcome == Allowed && len(hops) > MaxRedirects {
			t.Fatalf("%d hops were followed", len(hops))
		}
		if (dial != "") != (outcome == Allowed) {
			t.Fatalf("%s with dial %q", outcome, dial)
		}
		if target, err := Check(url); err == nil {
			again, err := Check(target.String())
			if err != nil || again.Host != target.Host || again.Port != target.Port || again.Addr != target.Addr {
				t.Fatalf("%q is fetched as %q, which leads elsewhere: %v", url, target, err)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for b.Loop() {
		if _, err := Check("https://docs.example/a/b.html?x=1&y=2#part"); err != nil {
			b.Fatal(err)
		}
	}
}
