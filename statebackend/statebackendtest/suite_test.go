package statebackendtest

import (
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

func TestFake(t *testing.T) {
	Run(t, Suite{
		Open:   func(*testing.T) statebackend.Backend { return new(Fake) },
		Kinds:  []statebackend.LockKind{statebackend.MemoryLock},
		Leases: true,
	})
}

func TestFakeFaults(t *testing.T) {
	RunFaults(t, func(_ *testing.T, faults *Faults) statebackend.Backend { return &Fake{Faults: faults} })
}

func TestFakeLeaseFaults(t *testing.T) {
	RunLeaseFaults(t, func(_ *testing.T, faults *Faults) statebackend.Backend { return &Fake{Faults: faults} })
}
