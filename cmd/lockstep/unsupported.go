package main

// unsupported is a command of Terraform's that Lockstep does without, and what to
// do instead.
func unsupported(name, instead string) command {
	return command{name: name, synopsis: "Not supported: " + instead, run: func(a *app, args []string) int {
		f := a.newFlags(name, name)
		for _, arg := range args {
			if arg == "-h" || arg == "-help" || arg == "--help" {
				f.help()
				return 0
			}
		}
		return f.refuse("Unsupported command", "%s is not supported: %s", name, instead)
	}}
}

var unsupportedCommands = []command{
	unsupported("login", "put a registry's token into the CLI configuration file, or into a TF_TOKEN_HOST variable"),
	unsupported("logout", "take the registry's token out of the CLI configuration file"),
	unsupported("test", "plan a configuration that calls the module"),
}
