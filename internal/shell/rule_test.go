package shell

import (
	"testing"

	"ikigai/internal/corpus"
)

type ruleRow struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Rule    string `json:"rule"`
	Command string `json:"command"`
	Match   bool   `json:"must_match"`
	Reason  string `json:"reason"`
}

// TestRulesNeverLetTooMuchPass holds the rules against both corpora.
func TestRulesNeverLetTooMuchPass(t *testing.T) {
	for _, file := range []string{"shell_rules.jsonl", "own_rules.jsonl"} {
		t.Run(file, func(t *testing.T) {
			n, bad, needless, asked := 0, 0, 0, 0
			for _, r := range corpus.Rows[ruleRow](t, "testdata/"+file) {
				n++
				rule, err := ParseRule(r.Rule)
				if err != nil {
					t.Errorf("%s: %v", r.ID, err)
					continue
				}
				switch {
				case r.Kind == "allow":
					got := rule.Allows(r.Command, workspace())
					if got && !r.Match {
						bad++
						t.Errorf("%s: %q lets %q pass: %s", r.ID, r.Rule, r.Command, r.Reason)
					}
					if !got && r.Match {
						needless++
						t.Logf("needless: %s: %q does not cover %q: %s", r.ID, r.Rule, r.Command, r.Reason)
					}
				case rule.Denies(r.Command, workspace()) == r.Match:
				case r.Match && Classify(r.Command, workspace()).Verdict >= MustAsk:
					asked++
					t.Logf("asked instead of denied: %s: %q for %q: %s", r.ID, r.Rule, r.Command, r.Reason)
				case r.Match:
					bad++
					t.Errorf("%s: %q does not stop %q: %s", r.ID, r.Rule, r.Command, r.Reason)
				default:
					needless++
					t.Logf("needless: %s: %q stops %q: %s", r.ID, r.Rule, r.Command, r.Reason)
				}
			}
			t.Logf("%s: %d rows, %d wrong, %d needless, %d asked instead of denied", file, n, bad, needless, asked)
		})
	}
}
