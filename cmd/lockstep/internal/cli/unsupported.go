package cli

// Unsupported is a command of Terraform's that Lockstep does not have, with the alternative.
func Unsupported(name, instead string) Command {
	return Command{Name: name, Synopsis: "Not supported: " + instead, Run: func(a *App, args []string) int {
		f := a.NewFlags(name, name)
		for _, arg := range args {
			if isHelp(arg) {
				f.help()
				return 0
			}
		}
		return f.Refuse("Unsupported command", "Lockstep does not support the command %s. Instead, %s.", name, instead)
	}}
}
