package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/apart"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A childSettings is the part of the function's settings that a run's process gets.
type childSettings struct{ DataDir, Mirror string }

// Main is for mains of functions with an engine, first of all: in the process of a run it
// does the run's work and does not return.
func Main() { apart.Main(child) }

// child makes the engine of a run's process.
func child(c *apart.Child) (jobs.Engine, error) {
	var s childSettings
	if err := json.Unmarshal(c.Settings, &s); err != nil {
		return nil, fmt.Errorf("read the settings of the run: %w", err)
	}
	c.Show(s.DataDir, s.Mirror)
	states := executor.S3States(c.Sessions)
	e := &executor.Engine{
		Version: version,
		Backend: func(ctx context.Context, j jobs.Job, b *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
			c.State()
			return states(ctx, j, b)
		},
		KMS:     executor.KMS(c.Sessions),
		Modules: modules.Remote{Proxy: c.Fetch}.Install,
		DataDir: s.DataDir, Mirror: s.Mirror,
		PluginEnv: c.Environment, Vault: c.Secrets, Rescue: c.Rescue, Begin: c.Begin, Gate: c.Gate,
		Secrets: func() []string { return ownSecrets(os.Environ()) },
		Memory:  c.Memory, Remember: c.Remember,
	}
	e.Room = room(s.DataDir)
	if s.Mirror == "" {
		e.Store, e.Keep = store{c}.archive, store{c}.keep
	}
	return e, nil
}
