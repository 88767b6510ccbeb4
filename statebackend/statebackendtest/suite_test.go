package statebackendtest

import (
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

func TestFake(t *testing.T) {
	Run(t, Suite{
		Open:  func(*testing.T) statebackend.Backend { return new(Fake) },
		Kinds: []statebackend.LockKind{statebackend.MemoryLock},
	})
}
