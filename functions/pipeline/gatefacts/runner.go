package gatefacts

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// noRunner returns the problem if the project's environment names a runner that this deployment does not have.
// A plan reports it, long before an apply. An apply that was begun is not refused: it continues without the
// runner.
func noRunner(have []string, r runs.Run, g environments.Granted) string {
	at := g.Runner()
	if at.Name == "" || slices.Contains(have, at.Name) || r.Phase.UnderWay() {
		return ""
	}
	return fmt.Sprintf("the environment %q has runner = %q (%s on the base branch), and this deployment of Lockstep has no such runner, as none has with SubnetIds or ProviderLayerArn: remove the line there, and an apply that is long goes on from function to function", g.Name(), at.Name, at.At)
}
