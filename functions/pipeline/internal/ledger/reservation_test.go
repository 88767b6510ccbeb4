package ledger

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// TestReservation holds what several pull requests do to the lock of one state: "lock 1" and so on, and who has it then,
// with a "-" for one that was lifted and not removed.
func TestReservation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ steps, want string }{
		{"lock 1", "1"},
		{"lock 1, lock 2", "1"},
		{"lock 1, lock 1", "1"},
		{"lift 1", ""},
		{"lock 1, lift 2", "1"},
		{"lock 1, lift 1", "1-"},
		{"lock 1, lift 1, lift 1", "1-"},
		{"lock 1, drop 1", "1"},
		{"lock 1, lift 1, drop 2", "1-"},
		{"lock 1, lift 1, drop 1", ""},
		{"lock 1, lift 1, drop 1, drop 1", ""},
		{"lock 1, lift 1, lock 2", "2"},
		{"lock 1, lift 1, lock 2, drop 1", "2"},
		{"lock 1, lift 1, lock 1", "1"},
		{"lock 1, lift 1, lock 1, drop 1", "1"},
	} {
		ld := Ledger{Records: &memory.Store{}}
		r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 3}, Project: "net", Workspace: "default"}}
		for step := range strings.SplitSeq(test.steps, ", ") {
			var what string
			var n int
			if _, err := fmt.Sscanf(step, "%s %d", &what, &n); err != nil {
				t.Fatal(err)
			}
			var err error
			switch what {
			case "lock":
				_, err = ld.Reserve(t.Context(), r, runs.Reservation{Number: n})
			case "lift":
				_, err = ld.LiftReservation(t.Context(), r, n)
			case "drop":
				err = ld.DropReservation(t.Context(), r, n)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		v, err := ld.Reservation(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if v != nil {
			got = fmt.Sprint(v.Number)
			if v.Lifted {
				got += "-"
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.steps, got, test.want)
		}
	}
}

// TestReservedMeanwhile holds that of two pull requests which both find a state without a lock one gets it, and the other one is told.
func TestReservedMeanwhile(t *testing.T) {
	t.Parallel()
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 3}, Project: "net", Workspace: "default"}}
	store := &memory.Store{}
	first := sync.OnceFunc(func() {
		if v, err := (Ledger{Records: store}).Reserve(t.Context(), r, runs.Reservation{Number: 1}); err != nil || v.Number != 1 {
			t.Errorf("the first one: %+v, %v", v, err)
		}
	})
	ld := Ledger{Records: memory.Gate(func(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
		err := do(ctx)
		if x.Call == "get "+runs.ReservationKey(5, r.StateName()) {
			first()
		}
		return err
	}).Records(store)}
	if v, err := ld.Reserve(t.Context(), r, runs.Reservation{Number: 2}); err != nil || v.Number != 1 {
		t.Errorf("the second one: %+v, %v", v, err)
	}
	if v, err := ld.Reservation(t.Context(), r); err != nil || v.Number != 1 {
		t.Errorf("the lock is %+v, %v", v, err)
	}
}

// TestAdopt holds that a lock that was set before the address of its state was known, and so has the name of the project, counts once the
// project has another name.
func TestAdopt(t *testing.T) {
	t.Parallel()
	ld := Ledger{Records: &memory.Store{}}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 3}, Project: "net", Workspace: "default"}}
	if _, err := ld.Reserve(t.Context(), r, runs.Reservation{Number: 3}); err != nil {
		t.Fatal(err)
	}
	r.Address.Place = "s3://states/net"
	if err := AdoptLock(t.Context(), ld, r); err != nil {
		t.Fatal(err)
	}
	r.Project = "network"
	if v, err := ld.Reservation(t.Context(), r); err != nil || v == nil || v.Number != 3 {
		t.Errorf("the lock is %v, %v", v, err)
	}
}
