package foreseeing_test

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/storytest"
)

// TestStories plays stories of the whole pipeline, and compares all of its effects: see package
// storytest.
func TestStories(t *testing.T) { storytest.Play(t, "outputs") }

// TestFaults has each call of this package fail once.
func TestFaults(t *testing.T) { storytest.Faults(t, "foreseeing", "outputs") }
