package shell

import (
	"slices"
	"testing"

	"ikigai/internal/corpus"
)

// workspace is the situation that the corpora are written for.
func workspace() Place {
	return Place{Dir: "/ws", Roots: []string{"/ws"}, Home: "/home/user"}
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
			for _, r := range corpus.Rows[riskRow](t, "testdata/"+file) {
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
