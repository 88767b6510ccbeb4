package main

// commands returns all sub-commands, as help lists them.
func commands() []command {
	return append([]command{
		initCommand, validateCommand, planCommand, applyCommand, destroyCommand,
		showCommand, statePullCommand, versionCommand, demoCommand, serveCommand,
	}, moreCommands()...)
}
