package main

// moreCommands returns the sub-commands besides the main ones.
func moreCommands() []command {
	return append([]command{
		consoleCommand, fmtCommand, forceUnlockCommand, getCommand, graphCommand, importCommand, outputCommand,
		providersCommand, providersSchemaCommand, refreshCommand,
		stateListCommand, stateMvCommand, statePushCommand, stateReplaceProviderCommand, stateRmCommand, stateShowCommand,
		taintCommand, untaintCommand,
		workspaceListCommand, workspaceShowCommand, workspaceSelectCommand, workspaceNewCommand, workspaceDeleteCommand,
	}, unsupportedCommands...)
}
