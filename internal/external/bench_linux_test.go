package external

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

const ordinary = `{"name":"%s","description":"Looks for rows in a table and gives back those that match.","parameters":{` +
	`"path":{"type":"string","description":"The table","required":true,"format":"path"},` +
	`"query":{"type":"string","description":"What to look for","required":true},` +
	`"limit":{"type":"integer","description":"Most rows to give back"}},` +
	`"returns":{"type":"object","properties":{"rows":{"type":"array"}}},"effects":["read"],"risk":"safe"}`

// BenchmarkKnownTools is what 200 tools that the cache knows add to a start.
// cpu-ms/op is processor time of the whole process, whatever else runs.
func BenchmarkKnownTools(b *testing.B) {
	base := b.TempDir()
	for i := range 200 {
		name := fmt.Sprintf("tool_%03d", i)
		writeTool(b, filepath.Join(base, name), sh("", fmt.Sprintf(ordinary, name), ""))
	}
	o := Options{Start: plainStart(b, sandbox.Off), Cache: filepath.Join(b.TempDir(), "schemas.json"), Timeout: time.Minute}
	dirs := []Dir{{base, tool.User}}
	if set := Scan(b.Context(), dirs, o); len(set.Names()) != 200 {
		b.Fatal(set.Problems)
	}
	o.Start = nil // nothing may be started from now on
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		if set := Scan(b.Context(), dirs, o); len(set.Names()) != 200 {
			b.Fatal(set.Problems)
		}
	}
	b.ReportMetric(float64(cpuTime()-before)/1e6/float64(b.N), "cpu-ms/op")
}

// BenchmarkUnknownTools asks 50 tools that nobody knows, of which one hangs.
// others-ms/op is when the last of the 49 had answered.
func BenchmarkUnknownTools(b *testing.B) {
	for name, mode := range map[string]sandbox.Mode{"auto": sandbox.Auto, "off": sandbox.Off} {
		b.Run(name, func(b *testing.B) {
			base := b.TempDir()
			for i := range 49 {
				name := fmt.Sprintf("tool_%03d", i)
				writeTool(b, filepath.Join(base, name), sh("", fmt.Sprintf(ordinary, name), ""))
			}
			writeTool(b, filepath.Join(base, "hangs"), "#!/bin/sh\nexec sleep 60\n")
			start, last := watched(plainStart(b, mode))
			o := Options{Start: start}
			for b.Loop() {
				began := time.Now()
				if set := Scan(b.Context(), []Dir{{base, tool.User}}, o); len(set.Names()) != 49 {
					b.Fatal(set.Problems)
				}
				b.ReportMetric(float64(last().Sub(began).Milliseconds()), "others-ms/op")
			}
		})
	}
}

func writeTool(b *testing.B, path, script string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		b.Fatal(err)
	}
}

func plainStart(b *testing.B, mode sandbox.Mode) tool.StartFunc {
	b.Helper()
	s, err := sandbox.New(sandbox.Options{Mode: mode, Temp: b.TempDir(), Home: b.TempDir(), Environ: os.Environ()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s.Start
}

// watched remembers when a program last ended by itself.
func watched(start tool.StartFunc) (tool.StartFunc, func() time.Time) {
	var mu sync.Mutex // guards last
	var last time.Time
	watching := func(ctx context.Context, c tool.Command, g tool.Grant) (tool.Exit, error) {
		exit, err := start(ctx, c, g)
		mu.Lock()
		defer mu.Unlock()
		if exit.How == tool.Exited {
			last = time.Now()
		}
		return exit, err
	}
	return watching, func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// cpuTime is the processor time of this process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
