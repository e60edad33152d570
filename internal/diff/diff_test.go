package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestUnifiedLooksAsGitShowsIt(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"equal", "x\n", "x\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"a new file", "", "a\n", "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n"},
		{"nothing left", "a\nb\n", "", "--- f\n+++ f\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{"a last line end gone", "a\n", "a", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		{"context without a last line end", "a\nb", "A\nb", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"},
		{"CR is part of a line", "a\r\n", "a\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\r\n+a\n"},
		{"binary", "\x00", "a", "Binary files f and f differ\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Unified("f", "f", []byte(c.a), []byte(c.b), 3); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestDistantChangesAreHunksOfTheirOwn(t *testing.T) {
	var a []string
	for i := range 30 {
		a = append(a, fmt.Sprintf("line %d\n", i))
	}
	b := slices.Clone(a)
	b[5], b[12], b[25] = "x\n", "y\n", "z\n"
	got := Unified("f", "f", []byte(strings.Join(a, "")), []byte(strings.Join(b, "")), 3)
	if n := strings.Count(got, "@@ -"); n != 2 { // 5 and 12 share their context
		t.Errorf("%d hunks:\n%s", n, got)
	}
}

func TestNamesCannotForgeLines(t *testing.T) {
	got := Unified("a\n+++ b", `q"`, []byte("a\n"), []byte("b\n"), 0)
	if !strings.HasPrefix(got, "--- \"a\\n+++ b\"\n+++ \"q\\\"\"\n@@") {
		t.Errorf("got %q", got)
	}
}

func TestManySmallChangesStaySmall(t *testing.T) {
	var a, b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&a, "line %d uses oldName\n", i)
		if i%3 == 0 {
			fmt.Fprintf(&b, "line %d uses newName\n", i)
			continue
		}
		fmt.Fprintf(&b, "line %d uses oldName\n", i)
	}
	if added, removed := Stat([]byte(a.String()), []byte(b.String())); added != 1000 || removed != 1000 {
		t.Errorf("added %d, removed %d; want 1000 each", added, removed)
	}
}

func TestHugeTextsGetASummary(t *testing.T) {
	a := bytes.Repeat([]byte("a\n"), maxSize)
	got := Unified("f", "f", a, []byte("b\n"), 3)
	if !strings.Contains(got, "Too large") || len(got) > 200 {
		t.Errorf("got %.200q", got)
	}
	if added, removed := Stat(a, []byte("b")); added != 1 || removed != maxSize {
		t.Errorf("added %d, removed %d", added, removed)
	}
}

// texts makes two texts of n lines or so from few different lines, so that
// nothing is unique, or from many.
func texts(r *rand.Rand, n, kinds int) (a, b []byte) {
	line := func() string {
		return fmt.Sprintf("%d%s", r.IntN(kinds), []string{"\n", "\n", "\n", "\r\n"}[r.IntN(4)])
	}
	var old []string
	for range r.IntN(n + 1) {
		old = append(old, line())
	}
	new := slices.Clone(old)
	for range r.IntN(6) {
		i := r.IntN(len(new) + 1)
		j := min(len(new), i+r.IntN(4))
		new = slices.Replace(new, i, j, line())
	}
	end := func(s []string) []byte {
		text := strings.Join(s, "")
		if r.IntN(3) == 0 {
			text = strings.TrimRight(text, "\r\n")
		}
		return []byte(text)
	}
	return end(old), end(new)
}

func TestAPatchProgramMakesBOutOfA(t *testing.T) {
	apply := patchProgram(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		a, b := texts(r, 40, []int{3, 1000}[i%2])
		patch := Unified("a/f", "b/f", a, b, 3)
		if bytes.Equal(a, b) {
			if patch != "" {
				t.Fatalf("equal texts differ: %q", patch)
			}
			continue
		}
		if got := apply(t, a, patch); !bytes.Equal(got, b) {
			t.Fatalf("patching %q with\n%s\ngives %q, want %q", a, patch, got, b)
		}
	}
}

// patchProgram applies a patch with whatever program is there.
func patchProgram(t *testing.T) func(t *testing.T, a []byte, patch string) []byte {
	t.Helper()
	argv := []string{"git", "apply", "--whitespace=nowarn", "-"}
	if _, err := exec.LookPath("git"); err != nil {
		argv = []string{"patch", "--binary", "-s", "-p1"}
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skip("neither git nor patch is installed")
	}
	dir := t.TempDir()
	return func(t *testing.T, a []byte, patch string) []byte {
		t.Helper()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, a, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		cmd.Stdin = strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s\n%q to be patched with\n%s", argv, err, out, a, patch)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

// rebuild replays changes, and checks that they are in order and apart.
func rebuild(t *testing.T, old, new []string, all []change) []string {
	t.Helper()
	var out []string
	at := 0
	for i, c := range all {
		if c.oldStart < at || (i > 0 && c.oldStart == at) || c.oldEnd < c.oldStart || c.newEnd < c.newStart {
			t.Fatalf("change %d is out of order: %v", i, all)
		}
		out = append(out, old[at:c.oldStart]...)
		if len(out) != c.newStart {
			t.Fatalf("change %d begins at new line %d, not %d", i, c.newStart, len(out))
		}
		out = append(out, new[c.newStart:c.newEnd]...)
		at = c.oldEnd
	}
	return append(out, old[at:]...)
}

func FuzzChanges(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nb\n"))
	f.Add([]byte("a\na\nb\n"), []byte("b\na\na"))
	f.Add([]byte(""), []byte("\n\n"))
	f.Add([]byte("x\ny\nx\ny\n"), []byte("y\nx\ny\nx\nz"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, new := lines(a), lines(b)
		if got := strings.Join(rebuild(t, old, new, changes(old, new)), ""); got != string(b) {
			t.Fatalf("changes lead to %q, not %q", got, b)
		}
		if (Unified("a", "b", a, b, 3) == "") != bytes.Equal(a, b) {
			t.Fatal("a difference without a word, or words without a difference")
		}
	})
}

func benchmark(b *testing.B, old, new string) {
	b.SetBytes(int64(len(old)))
	for b.Loop() {
		Unified("f", "f", []byte(old), []byte(new), 3)
	}
}

func BenchmarkOneLineOfManyChanged(b *testing.B) {
	var s strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&s, "line %d of the file\n", i)
	}
	benchmark(b, s.String(), strings.Replace(s.String(), "line 10000 ", "line x ", 1))
}

func BenchmarkNothingInCommon(b *testing.B) {
	benchmark(b, strings.Repeat("a\nb\nc\n", 50_000), strings.Repeat("x\ny\nz\n", 50_000))
}

func BenchmarkSameLinesInDisorder(b *testing.B) {
	benchmark(b, strings.Repeat("a\nb\nc\nd\n", 25_000), strings.Repeat("d\nb\na\nc\n", 25_000))
}
