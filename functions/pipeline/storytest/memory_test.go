package storytest

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest"
)

// TestMemory holds that what stories run on keeps the contracts of the pipeline's sockets.
func TestMemory(t *testing.T) {
	t.Run("records", func(t *testing.T) {
		lambdatest.TestRecords(t, func(*testing.T) pipeline.Records { return &memory{} })
	})
	t.Run("artifacts", func(t *testing.T) {
		lambdatest.TestArtifacts(t, func(*testing.T) pipeline.Artifacts { return (&memory{}).Artifacts() })
	})
}
