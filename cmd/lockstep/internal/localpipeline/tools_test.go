package localpipeline

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// TestStepsAtOnceHaveTheirOwnSecrets holds that the secrets of one step do not overwrite those of another one, which runs at
// the same time.
func TestStepsAtOnceHaveTheirOwnSecrets(t *testing.T) {
	t.Parallel()
	hidden := append(make([]string, 0, 2), "the secret of Lockstep")
	e := (&Machine{scratch: &subprocess.Scratch{}}).stepper(Config{}, hidden)
	e.Redact("a text", []string{"the secret of a step"})
	if got := hidden[:2][1]; got != "" {
		t.Errorf("the list has room for %q", got)
	}
}
