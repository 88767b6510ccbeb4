package main

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/authoring"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/changing"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/deploying"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/explaining"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/preparing"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/serving"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/statekeeping"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/surveying"
)

// commands is the table of all commands, in the order of the help: one row each.
func commands() []cli.Command {
	list := []cli.Command{
		preparing.Init,
		authoring.Validate,
		changing.Plan,
		changing.Apply,
		changing.Destroy,
		statekeeping.Show,
		statekeeping.StatePull,
		cli.Version,
		serving.Demo,
		serving.Serve,
		deploying.Deploy,
		deploying.Doctor,
		deploying.Cost,
		authoring.Console,
		authoring.Fmt,
		statekeeping.ForceUnlock,
		preparing.Get,
		authoring.Graph,
		changing.Import,
		preparing.Login,
		preparing.Logout,
		authoring.MetadataFunctions,
		preparing.Modules,
		statekeeping.Output,
		preparing.Providers,
		preparing.ProvidersLock,
		preparing.ProvidersMirror,
		preparing.ProvidersSchema,
		surveying.Projects,
		statekeeping.Recover,
		changing.Refresh,
		statekeeping.Taint,
		statekeeping.Untaint,
		explaining.Gate,
		surveying.ConfigCheck,
		surveying.ConfigImport,
		surveying.ConfigSchema,
		cli.Group("config", "The repository's settings, lockstep.hcl"),
		cli.Group("env", "Deprecated name of `workspace`"),
		cli.Group("gate", "The requirements of lockstep.hcl"),
		cli.Group("metadata", "Details of the language, for programs"),
		cli.Group("state", "Inspect and edit the state"),
		cli.Group("workspace", "Keep several states for one configuration"),
		statekeeping.StateList,
		statekeeping.StateMv,
		statekeeping.StatePush,
		statekeeping.StateReplaceProvider,
		statekeeping.StateRm,
		statekeeping.StateShow,
	}
	for _, family := range []string{"workspace", "env"} {
		list = append(list,
			statekeeping.WorkspaceDelete(family),
			statekeeping.WorkspaceList(family),
			statekeeping.WorkspaceNew(family),
			statekeeping.WorkspaceSelect(family),
			statekeeping.WorkspaceShow(family),
		)
	}
	return append(list,
		cli.Unsupported("test", "plan a configuration that calls the module"),
	)
}
