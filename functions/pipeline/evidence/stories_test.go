package evidence_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/storytest"
)

// TestFaults has each call of this package fail once.
func TestFaults(t *testing.T) { storytest.Faults(t, "evidence", "commands", "plans", "waves") }
