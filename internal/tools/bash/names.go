package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ikigai/internal/tool"
	"ikigai/internal/toolkit"
)

// Aliases are the names under which other agents run commands.
func Aliases() []toolkit.Alias {
	all := []toolkit.Alias{{Tool: executeCommand, Name: toolkit.Name{Name: "execute_command", Set: "swebash"}, Of: Tool}}
	for _, n := range []string{
		"execute_command", "run_command", "run_shell_command", "run_terminal_cmd", "run_in_terminal", "shell", "local_shell",
		"terminal", "exec", "execute_bash", "Bash",
	} {
		all = append(all, toolkit.As(Tool, toolkit.Name{Name: n}, guess.input))
	}
	return all
}

// guess has the parameters that such tools have in common. Those that say
// nothing about what runs are taken and left aside.
type guess struct {
	Command    any    `json:"command" format:"command" alias:"cmd,script"`
	Seconds    int    `json:"timeout_seconds,omitempty" min:"1" max:"300"`
	Timeout    int    `json:"timeout,omitempty" doc:"Seconds, or milliseconds from 1000 on" min:"1"`
	Millis     int    `json:"timeout_ms,omitempty" min:"1"`
	Dir        string `json:"workdir,omitempty" format:"path" alias:"cwd,directory,working_directory"`
	Background bool   `json:"background,omitempty" alias:"run_in_background,is_background,isBackground"`
	Say        string `json:"description,omitempty" alias:"explanation,justification"`
}

func (g guess) input() (any, error) {
	line, err := g.line()
	if err != nil {
		return nil, err
	}
	if g.Dir != "" {
		line = "cd " + quote(g.Dir) + " && {\n" + line + "\n}"
	}
	return input{Command: line, Timeout: g.seconds(), Background: g.Background}, nil
}

func (g guess) seconds() int {
	const most = int(tool.MaxTimeout / time.Second)
	switch {
	case g.Millis > 0:
		return min(most, (g.Millis+999)/1000)
	case g.Timeout >= 1000:
		return min(most, (g.Timeout+999)/1000)
	case g.Timeout > 0:
		return min(most, g.Timeout)
	}
	return g.Seconds
}

// line is the command as one line: as it is, or from a list of words.
func (g guess) line() (string, error) {
	raw, err := json.Marshal(g.Command)
	if err != nil {
		return "", err
	}
	var line string
	var words []string
	switch {
	case json.Unmarshal(raw, &line) == nil:
		return line, nil
	case json.Unmarshal(raw, &words) != nil:
		return "", fmt.Errorf("command is a string, or a list of words")
	case len(words) == 3 && slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh"}, words[0]) && slices.Contains([]string{"-c", "-lc"}, words[1]):
		return words[2], nil
	}
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " "), nil
}

// quote makes one word of a text, whatever is in it.
func quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:@%+,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// The tool of the swebash toolset, to the letter of its definition.
type executeInput struct {
	Command string `json:"command" doc:"The shell command to execute" format:"command"`
	Timeout int    `json:"timeout_seconds,omitempty" doc:"Maximum execution time in seconds (default: 30)" default:"30"`
}

type executeOutput struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"`
	Truncated bool   `json:"truncated,omitempty"`
}

// maxExecute is how much of both streams together that tool gives back.
const maxExecute = 100 << 10

var executeCommand = toolkit.New(toolkit.Def[executeInput, executeOutput]{
	Name:    "execute_command",
	Doc:     "Execute a shell command and return its output. Use this to run terminal commands, check system status, or perform system operations.",
	Risk:    tool.High,
	Effects: []tool.Effect{tool.Exec},
	Plan: func(ctx context.Context, at tool.Place, in executeInput) (tool.Plan, error) {
		if in.Timeout < 0 || in.Timeout > int(tool.MaxTimeout/time.Second) {
			return tool.Plan{}, tool.Errorf(tool.InvalidParams, "timeout_seconds is %d; at most 300 are possible", in.Timeout)
		}
		return plan(ctx, at, in.input())
	},
	Run: func(ctx context.Context, at tool.Place, g tool.Grant, in executeInput, p tool.Progress) (executeOutput, error) {
		c := command(at, in.Command, p)
		c.Keep = maxExecute / 2
		e, err := start(ctx, at, c, g, in.input().timeout())
		if err != nil {
			return executeOutput{}, err
		}
		return executeOutput{
			Stdout: text(e.Stdout), Stderr: text(e.Stderr), ExitCode: e.Code,
			Truncated: e.StdoutTotal > int64(len(e.Stdout)) || e.StderrTotal > int64(len(e.Stderr)),
		}, nil
	},
})

func (in executeInput) input() input { return input{Command: in.Command, Timeout: in.Timeout} }

// Cut reports whether output was left out.
func (o executeOutput) Cut() bool { return o.Truncated }
