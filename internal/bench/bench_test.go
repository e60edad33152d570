package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestTable prints the table of what was measured, and writes it as one file.
// make bench runs it last.
func TestTable(t *testing.T) {
	dir, file := os.Getenv(DirVariable), os.Getenv("IKIGAI_BENCH_JSON")
	if dir == "" || file == "" {
		t.Skip("make bench sets " + DirVariable + " and IKIGAI_BENCH_JSON")
	}
	rows, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	table(os.Stdout, rows)
}

// table is Markdown, so that docs/performance.md can hold it as it is.
func table(w io.Writer, rows []Row) {
	fmt.Fprintln(w, "| workload | ours, CPU ms | ours, wall ms | rival | its CPU ms | its wall ms | ratio | goal | |")
	fmt.Fprintln(w, "|---|---:|---:|---|---:|---:|---:|---|---|")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n",
			r.Workload, number(r.OursCPU), number(r.OursWall), strings.ReplaceAll(r.Rival, "|", `\|`), number(r.RivalCPU), number(r.RivalWall), number(r.Ratio), r.Goal, r.Note)
	}
}

func number(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 0.1:
		return fmt.Sprintf("%.4f", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func TestRowsAreKeptByTheNameOfTheirBenchmark(t *testing.T) {
	dir := t.TempDir()
	second, first := []Row{{Workload: "b", OursCPU: 1.5, Rival: "rg | head", RivalCPU: 3, Ratio: 0.5, Goal: "at most 0.7"}}, []Row{{Workload: "a"}}
	for name, rows := range map[string][]Row{"2": second, "1": first} {
		if err := Write(dir, name, rows); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(dir)
	if want := append(first, second...); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	var b strings.Builder
	table(&b, got)
	if !strings.Contains(b.String(), "| b | 1.50 |  | rg \\| head | 3.00 |  | 0.50 | at most 0.7 |  |\n") {
		t.Errorf("the table is\n%s", b.String())
	}
	if err := os.WriteFile(dir+"/3.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil {
		t.Error("a broken file is no error")
	}
}
