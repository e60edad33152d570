// Package web_fetch is the tool that reads a web page. It is offered only where
// somebody asked for it.
package web_fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/html/charset"

	"ikigai/internal/address"
	"ikigai/internal/clean"
	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
	"ikigai/internal/tools/internal/text"
)

const (
	maxPage = 5 << 20
	timeout = 30 * time.Second
)

type input struct {
	URL string `json:"url" doc:"http or https"`
}

type output struct {
	toolkit.Shown
	URL         string `json:"url" doc:"Where it was found"`
	ContentType string `json:"content_type,omitempty"`
	Redirect    string `json:"redirect,omitempty" doc:"Where the page moved to"`
}

// Tool fetches a page from the public internet.
var Tool = New(address.Dialer{})

// New makes the tool with another way to connect.
func New(d address.Dialer) tool.Tool {
	f := fetcher{client: &http.Client{
		Transport: &http.Transport{
			DialContext: d.DialContext, DisableKeepAlives: true,
			TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout, MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return toolkit.New(toolkit.Def[input, output]{
		Name:    "web_fetch",
		Doc:     "Read a web page as Markdown.",
		Risk:    tool.Medium,
		Effects: []tool.Effect{tool.Net},
		Timeout: timeout,
		Plan:    plan,
		Run:     f.run,
	})
}

func plan(_ context.Context, _ tool.Place, in input) (tool.Plan, error) {
	t, err := address.Check(in.URL)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: "fetch " + t.String(), Hosts: []string{t.Host}}, nil
}

type fetcher struct{ client *http.Client }

// run walks from the address over redirects to the page. Every hop is checked
// and looked up anew. One to another site ends the call, since what was allowed
// is this one: the model may ask for the other by its own name.
func (f fetcher) run(ctx context.Context, at tool.Place, _ tool.Grant, in input, _ tool.Progress) (output, error) {
	t, err := address.Check(in.URL)
	for hop := 0; err == nil; hop++ {
		var resp *http.Response
		if resp, err = f.get(ctx, t); err != nil {
			break
		}
		to := resp.Header.Get("Location")
		if resp.StatusCode < 300 || resp.StatusCode > 399 || to == "" {
			return page(at, t, resp)
		}
		resp.Body.Close()
		from := t
		if t, err = t.Redirect(to); err != nil {
			break
		}
		if site(t.Host) != site(from.Host) {
			return moved(from, t), nil
		}
		if hop == address.MaxRedirects {
			err = tool.Errorf(tool.PermissionDenied, "%s redirects more than %d times", in.URL, address.MaxRedirects)
		}
	}
	if ctx.Err() != nil {
		return output{}, ctx.Err()
	}
	return output{}, err
}

// site is a host without the www that many put before it.
func site(host string) string { return strings.TrimPrefix(host, "www.") }

func moved(from, to address.Target) output {
	said := fmt.Sprintf("%s redirects to another site: %s. Call web_fetch with that address to read it.", from, to)
	return output{Shown: toolkit.Shown{Output: said}, URL: from.String(), Redirect: to.String()}
}

func (f fetcher) get(ctx context.Context, t address.Target) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.String(), nil)
	if err != nil {
		return nil, tool.Errorf(address.InvalidURL, "%w", err)
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; ikigai)")
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1")
	resp, err := f.client.Do(req)
	if err == nil {
		return resp, nil
	}
	if e := (*tool.Error)(nil); errors.As(err, &e) {
		return nil, e
	}
	return nil, tool.Errorf("FETCH_FAILED", "fetching %s: %w", t, err)
}

// page reads the answer of the last hop.
func page(at tool.Place, t address.Target, resp *http.Response) (output, error) {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return output{}, tool.Errorf("FETCH_FAILED", "%s answered %s", t, resp.Status)
	}
	kind := resp.Header.Get("Content-Type")
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err != nil {
		return output{}, tool.Errorf("FETCH_FAILED", "reading %s: %w", t, err)
	}
	cut := len(body) > maxPage
	words, err := readable(t, kind, body[:min(len(body), maxPage)])
	if err != nil {
		return output{}, err
	}
	if cut {
		words += fmt.Sprintf("\n[... the page is larger than %d bytes; the rest was not fetched]", maxPage)
	}
	out := output{Shown: toolkit.Show(at, clean.Model(words)), URL: t.String(), ContentType: kind}
	out.Truncated = out.Truncated || cut
	return out, nil
}

// readable makes text of a page: Markdown of HTML, other text as it is.
func readable(t address.Target, kind string, body []byte) (string, error) {
	media, _, err := mime.ParseMediaType(kind)
	if err != nil || media == "" {
		media, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	if !strings.HasPrefix(media, "text/") && !text.Plain(body) {
		return "", tool.Errorf(tool.BinaryFile, "%s is no text but %s", t, media)
	}
	if r, err := charset.NewReader(strings.NewReader(string(body)), kind); err == nil {
		if decoded, err := io.ReadAll(r); err == nil {
			body = decoded
		}
	}
	if media == "text/html" || media == "application/xhtml+xml" {
		return Markdown(string(body), t.String()), nil
	}
	return string(body), nil
}

// Summary is where the text is from, and how much of it.
func (o output) Summary() string {
	if o.Redirect != "" {
		return "moved to " + o.Redirect
	}
	return fmt.Sprintf("%d bytes from %s", len(o.Output), o.URL)
}

// Aliases are the names under which other agents fetch pages.
func Aliases() []toolkit.Alias {
	return toolkit.Also(Tool, "WebFetch", "fetch", "fetch_url", "read_url", "read_url_content", "http_get")
}
