package executor

import (
	"context"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// InChild returns the engine for the process of a run. It uses functions that the parent process provides.
// states opens backends.
func InChild(c *subprocess.Child, states BackendFunc) *Engine {
	return &Engine{
		Backend: func(ctx context.Context, j jobs.Job, b *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
			c.State()
			return states(ctx, j, b)
		},
		KMS:     kmsWith(c.Sessions),
		Modules: modules.Remote{Proxy: c.Fetch}.Install, TestModules: modules.Remote{Proxy: c.Fetch}.InstallWithTests,
		PluginEnv: c.Environment, Vault: c.Secrets, Rescue: c.Rescue, Begin: c.Begin, PrepareUnit: c.PrepareUnit, Gate: c.Gate,
		Memory: c.Memory, Remember: c.Remember,
	}
}
