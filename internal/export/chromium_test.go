package export

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/png" // to look at screenshots
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A real browser opens the page of a hostile session: it shows the diff, follows
// the choice of light or dark, and asks nobody for anything.
func TestChromiumShowsThePageAndAsksForNothing(t *testing.T) {
	b := newBrowser(t, page1(t, Session{ID: "1", Title: "the page"}, sample(strings.Join(hostile, "\n"))))
	dom := string(b.run("--dump-dom"))
	for _, want := range []string{"+new line", "-old line", "<title>the page</title>", `<rect height="10" class="tool"`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the browser shows no %q", want)
		}
	}
	light, dark := b.screenshot("1"), b.screenshot("0")
	if light < 0.8 || dark > 0.2 {
		t.Errorf("the brightness is %.2f when light is wanted, %.2f when dark is", light, dark)
	}
	if hosts := b.asked(); len(hosts) > 0 {
		t.Errorf("the page asked for %q", hosts)
	}
}

// The same browser would ask if the page let it: a page without our policy does.
func TestChromiumAsksWhereAPageLetsIt(t *testing.T) {
	b := newBrowser(t, `<!DOCTYPE html><title>x</title><img src="http://outside.example/x.png">`)
	b.run("--dump-dom")
	if hosts := b.asked(); !slices.Contains(hosts, "outside.example") {
		t.Errorf("asked for were %q: the test above proves nothing", hosts)
	}
}

// A browser opens one page; a proxy of ours stands where the net would be and
// remembers who was asked for.
type browser struct {
	*testing.T
	program, dir, proxy string
	runs                int
	mu                  sync.Mutex // guards hosts
	hosts               []string
}

func newBrowser(t *testing.T, page string) *browser {
	t.Helper()
	b := &browser{T: t, program: chromium(t), dir: t.TempDir()}
	if err := os.WriteFile(b.file("page.html"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(b)
	t.Cleanup(proxy.Close)
	b.proxy = proxy.URL
	return b
}

func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hosts = append(b.hosts, r.Host)
	http.Error(w, "nobody is here", http.StatusNotFound)
}

// asked are the hosts that the page asked for. Those that the browser itself
// looks for at its start, with an empty page too, are not the page's.
func (b *browser) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.hosts), func(host string) bool {
		name, _, _ := strings.Cut(host, ":")
		return strings.HasSuffix(name, ".google.com") || strings.HasSuffix(name, ".googleapis.com") || strings.HasSuffix(name, ".gvt1.com")
	})
}

// chromium is the browser. Without one the test is skipped, or fails where it
// must not be missing.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds to start")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("IKIGAI_REQUIRE_CHROMIUM") == "1" {
		t.Fatal("chromium is required here and not installed")
	}
	t.Skip("chromium is not installed here; Debian's package of that name is enough")
	return ""
}

func (b *browser) file(name string) string { return filepath.Join(b.dir, name) }

// run opens the page in a new profile and gives what the browser printed.
func (b *browser) run(args ...string) []byte {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	b.runs++
	args = append(args, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--user-data-dir="+b.file(fmt.Sprint("profile", b.runs)),
		"--proxy-server="+b.proxy, "--proxy-bypass-list=<-loopback>", "file://"+b.file("page.html"))
	cmd := exec.CommandContext(ctx, b.program, args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v\n%s", b.program, err, complaints.String())
	}
	return out
}

// screenshot is how bright the page is, from 0 to 1, in a scheme: 0 asks for
// dark, 1 for light.
func (b *browser) screenshot(scheme string) float64 {
	b.Helper()
	name := b.file("shot" + scheme + ".png")
	b.run("--screenshot="+name, "--window-size=1200,1600", "--hide-scrollbars", "--blink-settings=preferredColorScheme="+scheme)
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	shot, _, err := image.Decode(f)
	if err != nil {
		b.Fatal(err)
	}
	sum, n := 0.0, 0
	box := shot.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y += 7 {
		for x := box.Min.X; x < box.Max.X; x += 7 {
			red, green, blue, _ := shot.At(x, y).RGBA()
			sum += float64(red+green+blue) / 3 / 0xffff
			n++
		}
	}
	return sum / float64(n)
}
