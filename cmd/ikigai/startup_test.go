package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// buildIkigai builds the program as a release is built.
func buildIkigai(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "ikigai")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building ikigai: %v\n%s", err, out)
	}
	return bin
}

// TestNothingCostlyHappensBeforeMain watches what packages allocate while they
// are initialised. Bytes and counts are the same on every machine; time is not.
func TestNothingCostlyHappensBeforeMain(t *testing.T) {
	const mostBytes, mostAllocs, mostOfOne = 450_000, 2_500, 150_000
	cmd := exec.Command(buildIkigai(t), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.*?, (\d+) bytes, (\d+) allocs$`)
	found := line.FindAllStringSubmatch(string(out), -1)
	if len(found) < 20 {
		t.Fatalf("the trace has only %d packages:\n%s", len(found), out)
	}
	bytes, allocs := 0, 0
	for _, m := range found {
		b, _ := strconv.Atoi(m[2])
		a, _ := strconv.Atoi(m[3])
		bytes, allocs = bytes+b, allocs+a
		if b > mostOfOne {
			t.Errorf("%s allocates %d bytes before main; at most %d", m[1], b, mostOfOne)
		}
	}
	t.Logf("%d packages, %d bytes, %d allocations", len(found), bytes, allocs)
	if bytes > mostBytes || allocs > mostAllocs {
		t.Errorf("%d bytes in %d allocations before main; at most %d in %d", bytes, allocs, mostBytes, mostAllocs)
	}
}
