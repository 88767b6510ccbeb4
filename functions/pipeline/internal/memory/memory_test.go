package memory

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

// TestStore holds that a store keeps the contracts of the pipeline's sockets.
func TestStore(t *testing.T) {
	t.Run("records", func(t *testing.T) {
		lambdatest.TestRecords(t, func(*testing.T) pipeline.Records { return &Store{} })
	})
	t.Run("artifacts", func(t *testing.T) {
		lambdatest.TestArtifacts(t, func(*testing.T) pipeline.Artifacts { return (&Store{}).Artifacts() })
	})
	t.Run("chains", func(t *testing.T) {
		lambdatest.TestChains(t, func(*testing.T) pipeline.Chains { return &Chains{} })
	})
}
