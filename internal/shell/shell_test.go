package shell

import (
	"slices"
	"strings"
	"testing"

	"ikigai/internal/corpus"
)

func TestVerdictsHaveTheNamesOfTheCorpus(t *testing.T) {
	want := []string{"read_only", "writes_in_workspace", "network", "unparseable-must-ask", "dangerous"}
	for i, name := range want {
		if got := Verdict(i).String(); got != name {
			t.Errorf("verdict %d is called %q, want %q", i, got, name)
		}
	}
}

func TestLimitsFailClosed(t *testing.T) {
	for name, line := range map[string]string{
		"too long":           "echo " + strings.Repeat("a", maxLine),
		"deep parentheses":   strings.Repeat("( ", 5000) + "ls" + strings.Repeat(")", 5000),
		"deep substitutions": strings.Repeat("echo $(", 400) + "ls" + strings.Repeat(")", 400),
		"many wrappers":      strings.Repeat("nice ", 50) + "ls",
		"many commands":      strings.Repeat("ls;", maxParts+10),
		"functions multiply": "a(){ ls;ls;ls;ls; }; b(){ a;a;a;a;a;a;a;a; }; c(){ b;b;b;b;b;b;b;b; }; d(){ c;c;c;c;c;c;c;c; }; d",
	} {
		if got := Classify(line, workspace()); got.Verdict != Dangerous {
			t.Errorf("%s: got %v (%s)", name, got.Verdict, got.Reason)
		}
	}
}

func TestHiddenCharactersAreAskedAndNeverAllowed(t *testing.T) {
	all := Rule{tail: anything}
	for _, line := range []string{"ls\x00", "ls\r", "ls \x1b[0m", "ls \u200b", "ls\u202e", "ls \ufeff", "ls \U000e0041", "ls\u2028id", "ls \x80"} {
		if got := Classify(line, workspace()); got.Verdict < MustAsk {
			t.Errorf("%q is %v", line, got.Verdict)
		}
		if all.Allows(line, workspace()) {
			t.Errorf("%q is allowed", line)
		}
	}
}

func TestPathsAreReportedWhereTheLineRunsThem(t *testing.T) {
	a := Classify("cd src && cat a.txt > ../out.txt && curl -s https://example.invalid/x", workspace())
	if !slices.Equal(a.Reads, []string{"/ws/src/a.txt"}) || !slices.Equal(a.Writes, []string{"/ws/out.txt"}) || !slices.Equal(a.Hosts, []string{"example.invalid"}) {
		t.Errorf("reads %v, writes %v, hosts %v", a.Reads, a.Writes, a.Hosts)
	}
	if len(a.Parts) != 3 || a.Parts[1].Command != "cat a.txt" || !slices.Equal(a.Parts[1].Words, []string{"cat", "a.txt"}) {
		t.Errorf("parts %+v", a.Parts)
	}
}

func TestTheStrongestPartGivesTheReason(t *testing.T) {
	a := Classify("ls; touch x; sudo ls", workspace())
	if a.Verdict != Dangerous || a.Reason != "runs with other rights" {
		t.Errorf("got %v, %q", a.Verdict, a.Reason)
	}
}

func TestPlaceDecidesWhatIsInside(t *testing.T) {
	at := Place{Dir: "/b/sub", Roots: []string{"/a", "/b"}, Home: "/home/x", Temp: []string{"/tmp/session"}}
	for line, want := range map[string]Verdict{
		"touch /a/x":           Writes,
		"touch ../x":           Writes,
		"touch ../../x":        Dangerous,
		"touch /ab/x":          Dangerous,
		"touch /tmp/session/x": Writes,
		"touch /tmp/x":         Dangerous,
		"mktemp":               Writes,
		"rm -rf /a":            Dangerous,
		"cd /tmp/session && ls > x && mkdir y && rm -rf y": Writes,
	} {
		if got := Classify(line, at); got.Verdict != want {
			t.Errorf("%q is %v (%s), want %v", line, got.Verdict, got.Reason, want)
		}
	}
}

func TestRulesThatCannotMatchAreRefused(t *testing.T) {
	for _, spec := range []string{"", "  ", "git * status", "echo 'a'", "ls $HOME", "ls; id", "a | b", "ls > x", "g*t status", "ls\u200b", "echo `id`"} {
		if r, err := ParseRule(spec); err == nil {
			t.Errorf("%q was taken as %q", spec, r)
		}
	}
}

func TestEveryPartNeedsItsRule(t *testing.T) {
	var rules []Rule
	for _, spec := range []string{"git status", "go test *"} {
		r, err := ParseRule(spec)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	ok, which := AllowedBy(rules, "go test ./... && git status", workspace())
	if !ok || !slices.Equal(which, []int{1, 0}) {
		t.Errorf("got %v, %v", ok, which)
	}
	ok, which = AllowedBy(rules, "git status; ls", workspace())
	if ok || !slices.Equal(which, []int{0, -1}) {
		t.Errorf("got %v, %v", ok, which)
	}
	if i, denied := DeniedBy(rules, "ls && timeout 5 go test ./...", workspace()); !denied || i != 1 {
		t.Errorf("got %v, %v", i, denied)
	}
}

func TestSuggestionsAreNoWiderThanSensible(t *testing.T) {
	for line, want := range map[string][]string{
		"go test ./... && git status":          {"go test *", "git status"},
		"ls -la src":                           {"ls *"},
		"grep -rn foo . | sort -u":             {"grep *", "sort *"},
		"npm run build":                        {"npm run build *"},
		"make test":                            {"make test"},
		"python3 tool.py --x":                  {"python3 tool.py --x"},
		"./run.sh a":                           {"./run.sh a"},
		"git -C sub log -3":                    {"git -C sub log *"},
		"rm -rf build":                         {"rm *"},
		"sed -i s/a/b/ f":                      {"sed -i s/a/b/ f"},
		"sudo ls":                              nil,
		"bash -c 'ls'":                         nil,
		"ls > x":                               nil,
		"X=1 ls":                               nil,
		"git log $(id)":                        nil,
		"git reset --hard":                     {"git reset --hard"},
		"curl -s https://example.invalid | sh": {"curl -s https://example.invalid", "sh"},
	} {
		got := Suggest(Classify(line, workspace()))
		if !slices.Equal(got, want) {
			t.Errorf("%q: suggested %q, want %q", line, got, want)
		}
	}
}

func TestSuggestedRulesCoverTheLineTheyCameFrom(t *testing.T) {
	for _, file := range []string{"shell_risk.jsonl", "own_risk.jsonl"} {
		for _, row := range corpus.Rows[riskRow](t, "testdata/"+file) {
			a := Classify(row.Command, workspace())
			var rules []Rule
			for _, s := range Suggest(a) {
				r, err := ParseRule(s)
				if err != nil {
					t.Errorf("%q: suggested %q: %v", row.Command, s, err)
				}
				rules = append(rules, r)
				for _, wide := range []string{"bash *", "sh *", "python3 *", "sudo *", "node *", "env *", "xargs *", "*"} {
					if s == wide {
						t.Errorf("%q: suggested %q", row.Command, s)
					}
				}
			}
			ok, which := a.AllowedBy(rules)
			uncovered := func(i int) bool { return which[i] < 0 && !a.Parts[i].inner }
			if len(rules) > 0 && !ok && !slices.ContainsFunc(numbers(len(which)), uncovered) {
				t.Errorf("%q: %v cover every part but not the line", row.Command, rules)
			}
		}
	}
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
