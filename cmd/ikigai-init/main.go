// Command ikigai-init stands between the agent and a program it runs: process
// 1 of the program's jail, or the keeper of its tree. The agent starts it and
// speaks to it over a socket; it is of no use to people.
package main

import (
	"os"

	"ikigai/internal/sandbox/jail"
)

func main() { os.Exit(jail.Main()) }
