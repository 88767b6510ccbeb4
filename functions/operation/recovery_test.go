package operation

import (
	"testing"

	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// journaled is a backend with a journal beside each state.
type journaled struct {
	*statebackendtest.Fake
	log statebackend.Log
}

type journaledWorkspace struct {
	statebackend.Workspace
	statebackend.Leased
	log statebackend.Log
}

func (b journaled) Open(name string) (statebackend.Workspace, error) {
	w, err := b.Fake.Open(name)
	return journaledWorkspace{w, w.(statebackend.Leased), b.log}, err
}

func (w journaledWorkspace) Journal() statebackend.Log { return w.log }

// TestRecoveryIsOfTheLastOpening holds that an operation that opens the state again forgets what it
// found before: an apply that was under way has come to its end meanwhile.
func TestRecoveryIsOfTheLastOpening(t *testing.T) {
	b := journaled{new(statebackendtest.Fake), new(statebackendtest.Log)}
	w, _, err := journal.Open(t.Context(), b.log, "run")
	if err != nil {
		t.Fatal(err)
	}
	j := journaling.New("run", w)
	if err := j.Begin(journaling.Start{Stored: states.Empty(), Prior: states.Empty(), Lineage: "lineage"}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Intent(t.Context(), journaling.Intent{Address: "thing.a", Action: plans.Create.String()}); err != nil {
		t.Fatal(err)
	}
	o := Operation{Journaled: true}
	for want := 1; want >= 0; want-- {
		if ds := o.OpenState(t.Context(), b, statebackend.DefaultWorkspace, nil); ds.HasErrors() {
			t.Fatal(ds)
		}
		if got := len(o.Recovery.Unresolved); got != want || len(o.Recovery.Waiting()) != want {
			t.Errorf("%d creations are unresolved, want %d", got, want)
		}
		if err := w.Finish(t.Context()); want == 1 && err != nil {
			t.Fatal(err)
		}
	}
}
