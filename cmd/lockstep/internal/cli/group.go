package cli

// Group returns the command for the first word of two-word commands, such as "state" of "state list". Run
// without a second word, it lists these two-word commands.
func Group(name, synopsis string) Command {
	return Command{Name: name, Synopsis: synopsis, Run: func(a *App, args []string) int {
		switch {
		case len(args) == 0:
			a.Commands.list(a.Err, name)
			return 1
		case isHelp(args[0]):
			a.Commands.list(a.Out, name)
			return 0
		}
		return a.noCommand(name + " " + args[0])
	}}
}

// isHelp reports whether an argument asks for the help of a command.
func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }
