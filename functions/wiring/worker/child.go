package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/apart"
	"github.com/lockstep-iac/lockstep/functions/run/modules"
	"github.com/lockstep-iac/lockstep/functions/run/operating"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// A childSettings is what a run's process is told of the function.
type childSettings struct{ DataDir, Mirror string }

// Main is for mains of functions with an engine, first of all: in the process of a run it
// does the run's work and does not return.
func Main() { apart.Main(child) }

// child makes the engine of a run's process.
func child(c *apart.Child) (run.Engine, error) {
	var s childSettings
	if err := json.Unmarshal(c.Settings, &s); err != nil {
		return nil, fmt.Errorf("read the settings of the run: %w", err)
	}
	c.Show(s.DataDir, s.Mirror)
	states := operating.S3States(c.Sessions)
	return &operating.Engine{
		Version: version,
		Backend: func(ctx context.Context, j run.Job, b *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
			c.State()
			return states(ctx, j, b)
		},
		Modules: modules.Elsewhere{Ask: c.Fetch}.Install,
		DataDir: s.DataDir, Mirror: s.Mirror,
		PluginEnv: c.Environment, Rescue: c.Rescue, Begin: c.Begin,
		Secrets: func() []string { return ownSecrets(os.Environ()) },
		Memory:  c.Memory, Remember: c.Remember,
	}, nil
}
