package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/tool"
)

// cpu is the time this process and its collected children have used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			tb.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// measure reports the CPU time of one run; end collects what idles.
func measure(b *testing.B, once func() error, end func()) {
	if err := once(); err != nil {
		b.Fatal(err)
	}
	before := cpu(b)
	n := 0
	for b.Loop() {
		if err := once(); err != nil {
			b.Fatal(err)
		}
		n++
	}
	end()
	b.ReportMetric(float64((cpu(b) - before).Microseconds())/float64(n), "cpu-us/op")
}

// buildInit builds the real helper, which starts faster than a test binary.
func buildInit(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "ikigai-init")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "ikigai/cmd/ikigai-init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("building ikigai-init: %v\n%s", err, out)
	}
	return path
}

// BenchmarkTrue starts the smallest program in every way there is. "plain" is
// the standard library alone.
func BenchmarkTrue(b *testing.B) {
	helper := buildInit(b)
	b.Run("plain", func(b *testing.B) {
		measure(b, func() error { _, err := exec.Command("true").CombinedOutput(); return err }, func() {})
	})
	modes := []struct {
		name  string
		mode  Mode
		light bool
	}{{"off", Off, false}, {"light", Auto, true}, {"whole", Require, false}}
	for _, m := range modes {
		b.Run(m.name, func(b *testing.B) {
			root := b.TempDir()
			s, err := New(Options{
				Mode: m.mode, light: m.light, Init: helper, Roots: []string{root}, Temp: b.TempDir(), Cache: b.TempDir(), Home: root,
				Environ: os.Environ(), Hide: hides(),
			})
			if err != nil {
				b.Skip(err)
			}
			c := tool.Command{Argv: []string{"true"}, Env: tool.Environment{Inherit: true}}
			measure(b, func() error { _, err := s.Start(b.Context(), c, tool.Grant{}); return err }, func() { _ = s.Close() })
		})
	}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		b.Run("bubblewrap", func(b *testing.B) {
			root := b.TempDir()
			measure(b, func() error {
				_, err := exec.Command(bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev",
					"--proc", "/proc", "--tmpfs", "/run", "--bind", root, root, "--chdir", root, "true").CombinedOutput()
				return err
			}, func() {})
		})
	}
}

func hides() []string {
	if os.Getenv("HIDE") != "" {
		return nil
	}
	return []string{"/etc/shadow", "/root/.ssh", "/root/.aws", "/root/.netrc"}
}
