package statebackendtest

import (
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// Suite describes the backend under test.
type Suite struct {
	// Open returns a backend whose store is empty, for one test.
	Open func(t *testing.T) statebackend.Backend

	// ProcessLocks reports that a lock ends with its process, so that nobody else can release it.
	ProcessLocks bool

	// Leases reports that locks can carry a lease.
	Leases bool

	// Kinds are the kinds of the locks that Locks lists after a Lock.
	Kinds []statebackend.LockKind
}

// Run tests that a backend fulfils the contracts of package statebackend. Its tests run in parallel.
func Run(t *testing.T, s Suite) {
	for _, group := range []struct {
		name  string
		tests []contractTest
	}{
		{"Store", storeTests},
		{"Locker", lockerTests},
		{"Lease", leaseTests},
		{"Backend", backendTests},
		{"Sidecar", sidecarTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					t.Parallel()
					test.run(t, s)
				})
			}
		})
	}
}

// contractTest tests one sentence of a contract.
type contractTest struct {
	name string
	run  func(t *testing.T, s Suite)
}

// open opens the default workspace twice, as two processes would.
func (s Suite) open(t *testing.T) (mine, theirs statebackend.Workspace) {
	t.Helper()
	b := s.Open(t)
	return openWorkspace(t, b, statebackend.DefaultWorkspace), openWorkspace(t, b, statebackend.DefaultWorkspace)
}

func openWorkspace(t *testing.T, b statebackend.Backend, name string) statebackend.Workspace {
	t.Helper()
	w, err := b.Open(name)
	if err != nil {
		t.Fatalf("Open(%q): %v", name, err)
	}
	return w
}

func mustGet(t *testing.T, s statebackend.Store) statebackend.Snapshot {
	t.Helper()
	snapshot, err := s.Get(t.Context())
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	return snapshot
}

func mustPut(t *testing.T, s statebackend.Store, data string, prev statebackend.Version) statebackend.Version {
	t.Helper()
	v, err := s.Put(t.Context(), []byte(data), prev)
	if err != nil {
		t.Fatalf("Put(%s): %v", data, err)
	}
	return v
}

func mustLock(t *testing.T, l statebackend.Locker) string {
	t.Helper()
	id, err := l.Lock(t.Context(), statebackend.NewLockInfo("OperationTypePlan", "1.2.3"))
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	return id
}

func mustUnlock(t *testing.T, l statebackend.Locker, id string) {
	t.Helper()
	if err := l.Unlock(t.Context(), id); err != nil {
		t.Fatalf("Unlock(%s): %v", id, err)
	}
}
