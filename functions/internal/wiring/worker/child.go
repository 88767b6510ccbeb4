package worker

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// childSettings are those settings of the function that the process of a run receives.
type childSettings struct{ DataDir, Mirror string }

// Main must be the first call in main of a function with an engine. If this process was started for a run, Main
// does the run's work and does not return.
func Main() { subprocess.Main(child) }

// child returns the engine that the process of a run uses.
func child(c *subprocess.Child) (jobs.Engine, error) {
	var s childSettings
	if err := json.Unmarshal(c.Settings, &s); err != nil {
		return nil, fmt.Errorf("read the settings of the run: %w", err)
	}
	c.Show(s.DataDir, s.Mirror)
	e := executor.InChild(c, executor.S3States(c.Sessions))
	e.Version, e.DataDir, e.Mirror = wiring.Version, s.DataDir, s.Mirror
	e.Secrets = func() []string { return ownSecrets(os.Environ()) }
	e.Room = room(s.DataDir)
	if s.Mirror == "" {
		e.Store, e.Keep = store{c}.archive, store{c}.keep
	}
	return e, nil
}
