package local

import (
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

func TestConformance(t *testing.T) {
	statebackendtest.Run(t, statebackendtest.Suite{
		Open:         func(t *testing.T) statebackend.Backend { return open(t, t.TempDir()) },
		ProcessLocks: true,
		Kinds:        []statebackend.LockKind{statebackend.FileLock},
	})
}

func open(t *testing.T, dir string) *Backend {
	t.Helper()
	b, err := Open(nil, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
