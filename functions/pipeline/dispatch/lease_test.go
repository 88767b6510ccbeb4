package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// overtaken is an engine during whose plan another process takes the lease, if there is one.
type overtaken struct {
	jobs.Engine
	records pipeline.Records
	other   func(mine ledger.Lease) *ledger.Lease
	err     error // of the plan
}

func (o *overtaken) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	list, err := o.records.List(ctx, "lease")
	if err != nil || len(list) != 1 {
		return jobs.PlanResult{}, errors.Join(err, errors.New("there is not one lease"))
	}
	var mine ledger.Lease
	if err := json.Unmarshal(list[0].Value, &mine); err != nil {
		return jobs.PlanResult{}, err
	}
	if other := o.other(mine); other != nil {
		value, err := json.Marshal(other)
		if err == nil {
			_, err = o.records.Put(ctx, list[0].Key, value, list[0].Version)
		}
		if err != nil {
			return jobs.PlanResult{}, err
		}
	}
	if o.err != nil {
		return jobs.PlanResult{}, o.err
	}
	return o.Engine.Plan(ctx, j)
}

// TestLeaseOfAnotherProcess holds that a process gives back its own lease, whether it fails or
// succeeds, and leaves that of another one, which says that somebody is at work.
func TestLeaseOfAnotherProcess(t *testing.T) {
	t.Parallel()
	failed := errors.New("the plan failed for now")
	for _, test := range []struct {
		name  string
		err   error
		other func(mine ledger.Lease) *ledger.Lease
		left  string // ID of the message of the lease that is left; "mine": of the same message
	}{
		{"its own, after a failure", failed, func(ledger.Lease) *ledger.Lease { return nil }, ""},
		{"its own", nil, func(ledger.Lease) *ledger.Lease { return nil }, ""},
		{"of a process with the same message, after a failure", failed, func(l ledger.Lease) *ledger.Lease {
			l.HardStop = l.HardStop.Add(time.Minute)
			return &l
		}, "mine"},
		{"of a process with another message", nil, func(l ledger.Lease) *ledger.Lease {
			l.Message.ID = "other"
			return &l
		}, "other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
			s.pipeline.Engine = &overtaken{Engine: s.pipeline.Engine, records: s.pipeline.Records, other: test.other, err: test.err}
			s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
			s.repo.OpenPull("alice", "B", "b")
			if _, err := s.hub.Deliver(t.Context()); err != nil {
				t.Fatal(err)
			}
			var planned string
			s.drain(t.Context(), func(ctx context.Context, m pipeline.Message) error {
				err := s.pipeline.Handle(ctx, m)
				if m.Kind == pipeline.ToPlan {
					planned = m.ID
				}
				if test.err != nil && errors.Is(err, test.err) {
					return nil // the queue would hand it over again
				}
				return err
			})
			leases, err := s.pipeline.Ledger().Leases(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range leases {
				got += l.Message.ID
			}
			want := test.left
			if want == "mine" {
				want = planned
			}
			if got != want || planned == "" {
				t.Errorf("left: %q, want %q", got, want)
			}
		})
	}
}
