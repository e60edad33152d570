package external

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ikigai/internal/sandbox"
	"ikigai/internal/tool"
)

// counting counts how often something is started.
func counting(start tool.StartFunc, n *int) tool.StartFunc {
	return func(ctx context.Context, c tool.Command, g tool.Grant) (tool.Exit, error) {
		*n++
		return start(ctx, c, g)
	}
}

func TestWhatIsKnownIsNotAskedAgain(t *testing.T) {
	b := newBench(t, sandbox.Off)
	path := b.put("known", sh("known", "", ""))
	asked := 0
	o := b.options()
	o.Start = counting(b.ask, &asked)
	o.Cache = filepath.Join(b.place.Dir, "deep", "schemas.json")
	scan := func(want int, why string) *Tool {
		t.Helper()
		found := b.only(o)
		if asked != want {
			t.Errorf("%s: asked %d times, want %d", why, asked, want)
		}
		return found
	}
	first := scan(1, "new")
	again := scan(1, "known")
	if a, b := first.Spec(), again.Spec(); a.Description != b.Description || string(a.Parameters.JSON()) != string(b.Parameters.JSON()) || a.Path != b.Path {
		t.Errorf("%+v\n%+v", a, b)
	}
	if first.Identity().Sum() != again.Identity().Sum() {
		t.Error("the cache has another identity")
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	scan(2, "touched")
	b.put("known", sh("known", "", "echo '{}'"))
	scan(3, "written")
	o.Fresh = true
	scan(4, "fresh")
	o.Fresh = false
	scan(4, "known again")

	raw, err := os.ReadFile(o.Cache)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"empty": nil, "cut": raw[:len(raw)/2], "garbage": []byte("\x00{\n[]\n"), "other bytes": bytes.Replace(raw, []byte("test tool"), []byte("evil tool"), 1),
	} {
		asked = 0
		if err := os.WriteFile(o.Cache, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := scan(1, name).Spec().Description; got != "test tool" {
			t.Errorf("%s: description %q", name, got)
		}
	}
	if err := os.Chmod(o.Cache, 0o666); err != nil {
		t.Fatal(err)
	}
	asked = 0
	scan(1, "a cache that others may write")
}

func TestTheCacheForgetsWhatIsGone(t *testing.T) {
	b := newBench(t, sandbox.Off)
	o := b.options()
	o.Cache = filepath.Join(b.place.Dir, "schemas.json")
	gone := b.put("gone", sh("gone", "", ""))
	b.scan(o)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	b.put("stays", sh("stays", "", ""))
	b.scan(o)
	raw, err := os.ReadFile(o.Cache)
	if err != nil || strings.Contains(string(raw), "gone") || !strings.Contains(string(raw), "stays") {
		t.Errorf("%s %v", raw, err)
	}
	left, _ := filepath.Glob(filepath.Join(b.place.Dir, ".schemas-*"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestACacheThatCannotBeWrittenHidesNoTool(t *testing.T) {
	b := newBench(t, sandbox.Off)
	b.put("fine", sh("fine", "", ""))
	o := b.options()
	o.Cache = filepath.Join(b.put("file", ""), "below", "a", "file")
	if set := b.scan(o); len(set.Names()) != 1 {
		t.Errorf("%v %+v", set.Names(), set.Problems)
	}
}
