package command

// All are the commands, in the order in which help lists them.
func All() []Command {
	return []Command{
		help(), toolCommand, refresh, tasks,
		sessions, resume, fork, undo, redo, retry, compact, pin, contextCommand,
		model, effort, mode, policy, trust,
		stats, copyCommand, export, clearCommand, quit,
	}
}
