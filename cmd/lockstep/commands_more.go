package main

import "slices"

// moreCommands returns the sub-commands besides the main ones.
func moreCommands() []command {
	state := []command{
		stateListCommand, stateMvCommand, statePushCommand, stateReplaceProviderCommand, stateRmCommand, stateShowCommand,
	}
	workspace := []command{
		workspaceDeleteCommand, workspaceListCommand, workspaceNewCommand, workspaceSelectCommand, workspaceShowCommand,
	}
	out := []command{
		consoleCommand, fmtCommand, forceUnlockCommand, getCommand, graphCommand, importCommand, modulesCommand, outputCommand,
		providersCommand, providersSchemaCommand, refreshCommand, taintCommand, untaintCommand,
		group("state", "Look at the state, and mend it", append(slices.Clip(state), statePullCommand)),
		group("workspace", "Keep several states for one configuration", workspace),
	}
	out = append(append(out, state...), workspace...)
	return append(out, unsupportedCommands...)
}
