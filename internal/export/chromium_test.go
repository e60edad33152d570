package export

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A real browser opens the page of a hostile session: it shows the diff, runs
// nothing, and asks nobody for anything.
func TestChromiumShowsThePageAndAsksForNothing(t *testing.T) {
	browser := chromium()
	if browser == "" {
		t.Skip("chromium is not installed here; Debian's package of that name is enough")
	}
	asked := &listener{}
	proxy := httptest.NewServer(asked)
	defer proxy.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page1(t, Session{ID: "1", Title: "the page"}, sample(strings.Join(hostile, "\n")))), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--proxy-server="+proxy.URL, "--proxy-bypass-list=<-loopback>", "--virtual-time-budget=3000", "--dump-dom", "file://"+file)
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", browser, err)
	}
	for _, want := range []string{"+new line", "-old line", "<title>the page</title>"} {
		if !strings.Contains(string(dom), want) {
			t.Errorf("the browser shows no %q", want)
		}
	}
	if hosts := asked.outside(); len(hosts) > 0 {
		t.Errorf("the page asked for %q", hosts)
	}
}

func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A listener stands where the net would be and remembers who was asked for.
type listener struct {
	mu    sync.Mutex // guards hosts
	hosts []string
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hosts = append(l.hosts, r.Host)
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintln(w, "nobody is here")
}

// outside are the hosts that were asked for, without those the browser itself
// looks for at its start.
func (l *listener) outside() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var hosts []string
	for _, h := range l.hosts {
		name, _, _ := strings.Cut(h, ":")
		if !strings.HasSuffix(name, "google.com") && !strings.HasSuffix(name, "googleapis.com") && !strings.HasSuffix(name, "gvt1.com") {
			hosts = append(hosts, h)
		}
	}
	return hosts
}
