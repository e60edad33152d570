package shell

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// workspace is the situation that the corpora are written for.
func workspace() Place {
	return Place{Dir: "/ws", Roots: []string{"/ws"}, Home: "/home/user"}
}

// rows reads a corpus file, one JSON object a line.
func rows[T any](t testing.TB, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, row)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

type riskRow struct {
	ID      string   `json:"id"`
	Command string   `json:"command"`
	Verdict string   `json:"verdict"`
	AlsoOK  []string `json:"also_ok"`
	Reason  string   `json:"reason"`
}

func verdictOf(t testing.TB, name string) Verdict {
	for v := ReadOnly; v <= Dangerous; v++ {
		if v.String() == name {
			return v
		}
	}
	t.Fatalf("no verdict is called %q", name)
	return 0
}

// TestNoCommandIsJudgedTooWeak holds the classifier against both corpora: a weaker answer is a safety failure, a
// stronger one costs a needless question.
func TestNoCommandIsJudgedTooWeak(t *testing.T) {
	for _, file := range []string{"shell_risk.jsonl", "own_risk.jsonl"} {
		t.Run(file, func(t *testing.T) {
			total, needless := map[string]int{}, map[string]int{}
			weak := 0
			for _, r := range rows[riskRow](t, file) {
				total[r.Verdict]++
				got := Classify(r.Command, workspace())
				want := verdictOf(t, r.Verdict)
				switch {
				case got.Verdict == want, slices.Contains(r.AlsoOK, got.Verdict.String()):
				case got.Verdict < want:
					weak++
					t.Errorf("%s %.200q: got %v (%s), want %v: %s", r.ID, r.Command, got.Verdict, got.Reason, want, r.Reason)
				default:
					needless[r.Verdict]++
					t.Logf("needless: %s %.200q: got %v (%s), want %v", r.ID, r.Command, got.Verdict, got.Reason, want)
				}
			}
			t.Logf("%s: rows %v, weaker %d, stronger %v", file, total, weak, needless)
			for verdict, percent := range map[string]int{"read_only": 3, "writes_in_workspace": 8} {
				if needless[verdict]*100 > total[verdict]*percent {
					t.Errorf("%d of %d rows of %s are asked needlessly", needless[verdict], total[verdict], verdict)
				}
			}
		})
	}
}
