package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"ikigai/internal/shell"
)

// corpusPlace is the situation in which debug judges command lines.
func corpusPlace() shell.Place {
	return shell.Place{Dir: "/ws", Roots: []string{"/ws"}, Home: "/home/user"}
}

func (a *app) debugRiskCommand() *cobra.Command {
	return &cobra.Command{
		Use: "risk", Short: "Say what a command line would do", Args: cobra.NoArgs,
		Long: `Say what a command line would do, started in the workspace /ws by a user whose home is elsewhere.

  {"id","command"} -> {"id","verdict","reason","parts":[{"command","verdict","reason"}]}

The verdicts, weakest first: read_only, writes_in_workspace, network, unparseable-must-ask, dangerous.`,
		RunE: func(*cobra.Command, []string) error { return a.eachLine(risk) },
	}
}

type riskPart struct {
	Command string `json:"command"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

type riskAnswer struct {
	Verdict string     `json:"verdict"`
	Reason  string     `json:"reason"`
	Parts   []riskPart `json:"parts"`
}

func risk(r row) (any, error) {
	command, err := r.text("command")
	if err != nil {
		return nil, err
	}
	found := shell.Classify(command, corpusPlace())
	out := riskAnswer{found.Verdict.String(), found.Reason, []riskPart{}}
	for _, p := range found.Parts {
		out.Parts = append(out.Parts, riskPart{p.Command, p.Verdict.String(), p.Reason})
	}
	return out, nil
}

func (a *app) debugRuleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rule", Short: "Say whether a rule covers a command line", Args: cobra.NoArgs,
		Long: `Say whether a rule covers a command line.

  {"id","kind":"allow"|"deny","rule","command"} -> {"id","match":true|false}

An allow rule matches when the whole line may run with no other rule; a deny rule when some part of the line is what it names.`,
		RunE: func(*cobra.Command, []string) error { return a.eachLine(matchRule) },
	}
}

type ruleAnswer struct {
	Match bool `json:"match"`
}

func matchRule(r row) (any, error) {
	var kind, text, command string
	for name, into := range map[string]*string{"kind": &kind, "rule": &text, "command": &command} {
		var err error
		if *into, err = r.text(name); err != nil {
			return nil, err
		}
	}
	rule, err := shell.ParseRule(text)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "allow":
		return ruleAnswer{rule.Allows(command, corpusPlace())}, nil
	case "deny":
		return ruleAnswer{rule.Denies(command, corpusPlace())}, nil
	}
	return nil, fmt.Errorf("kind is %q; it is allow or deny", kind)
}
