package shell

import (
	"bytes"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"ikigai/internal/corpus"
)

// seed adds every command of the corpora.
func seed(f *testing.F, add func(riskRow)) {
	for _, file := range []string{"shell_risk.jsonl", "own_risk.jsonl"} {
		for _, r := range corpus.Rows[riskRow](f, "testdata/"+file) {
			if len(r.Command) < 300 {
				add(r)
			}
		}
	}
}

// whole tells whether a line is a complete list of commands that other text may stand behind.
func whole(line string) bool {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	return err == nil && strings.TrimSpace(line) != "" && !strings.ContainsAny(line, "#\\<\n&;") && len(line) < 2000
}

// FuzzClassify: no line makes it panic; joining lines never makes the verdict weaker than that of a part; what is
// printed from the parsed line is judged as the line itself.
func FuzzClassify(f *testing.F) {
	seed(f, func(r riskRow) { f.Add(r.Command, "ls") })
	f.Fuzz(func(t *testing.T, a, b string) {
		va, vb := Classify(a, workspace()).Verdict, Classify(b, workspace()).Verdict
		if !whole(a) || !whole(b) {
			return
		}
		for _, line := range []string{a + "; " + b, a + " && " + b, a + " || " + b, a + " | " + b, "(" + a + "\n)", "{ " + a + "\n}"} {
			if _, parses := reprint(line); !parses {
				continue
			}
			got := Classify(line, workspace()).Verdict
			if got < va && movesNot(a, b) {
				t.Errorf("%q is %v, its part %q is %v", line, got, a, va)
			}
			if strings.Contains(line, b) && !strings.HasPrefix(line, "(") && !strings.HasPrefix(line, "{") && got < vb && movesNot(a, b) {
				t.Errorf("%q is %v, its part %q is %v", line, got, b, vb)
			}
		}
		if printed, ok := reprint(a); ok && Classify(printed, workspace()).Verdict != va {
			t.Errorf("%q is %v, printed as %q it is %v", a, va, printed, Classify(printed, workspace()).Verdict)
		}
	})
}

// movesNot: a command after a cd, an assignment or a function may rightly mean something else than alone, and a
// pipe may feed it.
func movesNot(a, b string) bool {
	for _, word := range []string{"cd", "pushd", "popd", "=", "unset", "read", "mapfile", "()", "function", "xargs", "for", "select", "getopts", "printf", "export", "declare"} {
		if strings.Contains(a, word) || strings.Contains(b, word) {
			return false
		}
	}
	return true
}

func reprint(line string) (string, bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || hidden(line) != "" {
		return "", false
	}
	var b bytes.Buffer
	if err := syntax.NewPrinter().Print(&b, file); err != nil || b.Len() > maxLine {
		return "", false
	}
	return b.String(), true
}

// FuzzRule: no rule lets a line pass that is dangerous by more than the very words of the rule, and a line that a
// rule allows is not changed by what the rule did not see.
func FuzzRule(f *testing.F) {
	for _, r := range corpus.Rows[ruleRow](f, "testdata/shell_rules.jsonl") {
		f.Add(r.Rule, r.Command)
	}
	for _, r := range corpus.Rows[ruleRow](f, "testdata/own_rules.jsonl") {
		f.Add(r.Rule, r.Command)
	}
	f.Fuzz(func(t *testing.T, spec, line string) {
		r, err := ParseRule(spec)
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again.String() != r.String() {
			t.Fatalf("rule %q prints as %q, which reads as %q, %v", spec, r, again, err)
		}
		r.Denies(line, workspace())
		if !r.Allows(line, workspace()) {
			return
		}
		a := Classify(line, workspace())
		if a.Verdict == Dangerous && r.tail != exactly {
			t.Errorf("%q lets %q pass, which is dangerous: %s", spec, line, a.Reason)
		}
		if whole(line) && (r.Allows(line+" > out.txt", workspace()) || r.Allows(line+"; rm x", workspace()) && r.tail == exactly && len(r.words) > 0 && r.words[0] != "rm") {
			t.Errorf("%q lets more pass than %q", spec, line)
		}
	})
}
