package command

import (
	"context"
	"fmt"
	"strings"
)

// help is made on demand: it lists the table it stands in.
func help() Command {
	return Command{Name: "help", Help: "List the commands and keys", Run: runHelp}
}

func runHelp(context.Context, Env, string) (string, error) {
	var b strings.Builder
	b.WriteString("Commands:\n")
	for _, c := range All() {
		fmt.Fprintf(&b, "  %-26s  %s\n", strings.TrimSpace("/"+c.Name+" "+c.Args), c.Help)
	}
	b.WriteString("Keys:\n")
	for _, k := range keyHelp {
		fmt.Fprintf(&b, "  %-26s  %s\n", k[0], k[1])
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

var keyHelp = [][2]string{
	{"Enter", "send; while a turn runs, steer it"},
	{"Tab", "complete; while a turn runs, queue for after it"},
	{"Ctrl-J, Alt-Enter, \\Enter", "a new line; also Shift-Enter where the terminal can"},
	{"Esc", "stop the turn; what was done so far is kept"},
	{"Up, Down, Ctrl-R", "what was said before, and a search in it"},
	{"@file, !command", "name a file; run a command and offer its output to the model"},
	{"Ctrl-G", "write in your editor"},
	{"Ctrl-O", "the last call in full"},
	{"Ctrl-C", "clear the line; twice: end"},
	{"Shift-Tab", "the next mode: who decides"},
	{"Ctrl-Z", "suspend"},
}
