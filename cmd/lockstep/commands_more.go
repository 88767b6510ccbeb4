package main

import "slices"

// moreCommands returns the sub-commands besides the main ones.
func moreCommands() []command {
	state := []command{
		stateListCommand, stateMvCommand, statePushCommand, stateReplaceProviderCommand, stateRmCommand, stateShowCommand,
	}
	workspace, env := workspaceFamily("workspace"), workspaceFamily("env")
	out := []command{
		consoleCommand, fmtCommand, forceUnlockCommand, getCommand, graphCommand, importCommand, metadataFunctionsCommand, modulesCommand, outputCommand,
		providersCommand, providersLockCommand, providersMirrorCommand, providersSchemaCommand, refreshCommand, taintCommand, untaintCommand,
		group("env", "The same as `workspace`, under its deprecated name", env),
		group("metadata", "What is known of the language", []command{metadataFunctionsCommand}),
		group("state", "Look at the state, and mend it", append(slices.Clip(state), statePullCommand)),
		group("workspace", "Keep several states for one configuration", workspace),
	}
	out = append(append(append(out, state...), workspace...), env...)
	return append(out, unsupportedCommands...)
}

// workspaceFamily returns the commands about workspaces, under the first word of their names.
func workspaceFamily(word string) []command {
	return []command{
		workspaceDeleteCommand(word), workspaceListCommand(word), workspaceNewCommand(word), workspaceSelectCommand(word), workspaceShowCommand(word),
	}
}
