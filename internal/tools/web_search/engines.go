package web_search

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"ikigai/internal/clean"
	"ikigai/internal/tool"
)

// An engine is one way to search.
type engine struct {
	name   string
	url    string
	keys   []string // variables that must be set
	help   string   // where to get them
	header string   // the header that carries the first key
	ask    func(query string, n int, keys []string) url.Values
	parse  func(page []byte) ([]result, error)
}

// engines is the table; the first is the one without a choice.
func engines() []engine {
	return []engine{
		{
			name: "duckduckgo", url: "https://html.duckduckgo.com/html/",
			ask:   func(q string, _ int, _ []string) url.Values { return url.Values{"q": {q}} },
			parse: parseDuckDuckGo,
		},
		{
			name: "brave", url: "https://api.search.brave.com/res/v1/web/search",
			keys: []string{"BRAVE_API_KEY"}, help: "make one at https://api-dashboard.search.brave.com", header: "X-Subscription-Token",
			ask:   func(q string, n int, _ []string) url.Values { return url.Values{"q": {q}, "count": {strconv.Itoa(n)}} },
			parse: parseBrave,
		},
		{
			name: "google", url: "https://www.googleapis.com/customsearch/v1",
			keys: []string{"GOOGLE_SEARCH_API_KEY", "GOOGLE_SEARCH_ENGINE_ID"},
			help: "make them at https://developers.google.com/custom-search/v1/introduction",
			ask: func(q string, n int, keys []string) url.Values {
				return url.Values{"q": {q}, "num": {strconv.Itoa(n)}, "key": {keys[0]}, "cx": {keys[1]}}
			},
			parse: parseGoogle,
		},
	}
}

func find(name string) (engine, error) {
	var names []string
	for _, e := range engines() {
		if e.name == name || name == "" {
			return e, nil
		}
		names = append(names, e.name)
	}
	return engine{}, tool.Errorf("INVALID_PROVIDER", "there is no search engine %q; web.provider is one of %s", name, strings.Join(names, ", "))
}

func (e engine) credentials(getenv func(string) string) ([]string, error) {
	var keys, missing []string
	for _, v := range e.keys {
		if key := getenv(v); key != "" {
			keys = append(keys, key)
		} else {
			missing = append(missing, v)
		}
	}
	if len(missing) > 0 {
		return nil, tool.Errorf("MISSING_CREDENTIALS", "%s needs %s in the environment: %s. Or search with duckduckgo, which needs none",
			e.name, strings.Join(missing, " and "), e.help)
	}
	return keys, nil
}

// judge turns a bad status into an error that says what to do.
func (e engine) judge(status int) error {
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusUnauthorized, status == http.StatusForbidden && len(e.keys) > 0:
		return tool.Errorf("INVALID_CREDENTIALS", "%s refused the key in %s (status %d)", e.name, strings.Join(e.keys, ", "), status)
	case status == http.StatusTooManyRequests:
		return tool.Errorf("RATE_LIMITED", "%s wants fewer searches (status %d); wait, or set web.provider to another engine", e.name, status)
	case status == http.StatusAccepted, status == http.StatusForbidden:
		return tool.Errorf("SEARCH_FAILED", "%s takes us for a robot (status %d); wait, or set web.provider to an engine with a key", e.name, status)
	}
	return tool.Errorf("SEARCH_FAILED", "%s answered with status %d", e.name, status)
}

func parseBrave(page []byte) ([]result, error) {
	var answer struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	if err := json.Unmarshal(page, &answer); err != nil {
		return nil, tool.Errorf("PARSE_ERROR", "reading the answer of brave: %w", err)
	}
	var found []result
	for _, r := range answer.Web.Results {
		found = add(found, plain(r.Title), r.URL, plain(r.Description))
	}
	return found, nil
}

func parseGoogle(page []byte) ([]result, error) {
	var answer struct {
		Items []struct{ Title, Link, Snippet string }
	}
	if err := json.Unmarshal(page, &answer); err != nil {
		return nil, tool.Errorf("PARSE_ERROR", "reading the answer of google: %w", err)
	}
	var found []result
	for _, r := range answer.Items {
		found = add(found, r.Title, r.Link, r.Snippet)
	}
	return found, nil
}

// add takes a result in, each text on one line. One without a web address is none.
func add(found []result, title, link, snippet string) []result {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return found
	}
	return append(found, result{oneLine(title), clean.Line(link), oneLine(snippet)})
}

func oneLine(text string) string { return clean.Model(strings.Join(strings.Fields(text), " ")) }

// plain is the text of a piece of HTML.
func plain(marked string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(marked)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.WriteString(html.UnescapeString(string(z.Text())))
		}
	}
}

// parseDuckDuckGo reads the page without scripts. Each result is a box with a
// heading that links to it and a snippet; advertisements are such boxes too.
func parseDuckDuckGo(page []byte) ([]result, error) {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, tool.Errorf("PARSE_ERROR", "reading the page of duckduckgo: %w", err)
	}
	var found []result
	known := false
	for n := range doc.Descendants() {
		switch {
		case has(n, "no-results"), has(n, "results"):
			known = true
		case has(n, "anomaly-modal"), has(n, "anomaly-modal__title"):
			return nil, tool.Errorf("SEARCH_FAILED", "duckduckgo takes us for a robot; wait, or set web.provider to an engine with a key")
		case has(n, "result") && !has(n, "result--ad"):
			found = addBox(found, n)
		}
	}
	if len(found) == 0 && !known {
		return nil, tool.Errorf("PARSE_ERROR", "the page of duckduckgo is not as it used to be; set web.provider to another engine")
	}
	return found, nil
}

func addBox(found []result, box *html.Node) []result {
	var title, link, snippet string
	for n := range box.Descendants() {
		switch {
		case has(n, "result__a"):
			title, link = words(n), target(attribute(n, "href"))
		case has(n, "result__snippet"):
			snippet = words(n)
		}
	}
	return add(found, title, link, snippet)
}

// target is where a link leads: the engine's own address carries it as uddg.
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		return to
	}
	if u.Scheme == "" && u.Host != "" {
		u.Scheme = "https"
	}
	return u.String()
}

func has(n *html.Node, class string) bool {
	if n.Type != html.ElementNode {
		return false
	}
	for _, c := range strings.Fields(attribute(n, "class")) {
		if c == class {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// words is all text below a node.
func words(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
