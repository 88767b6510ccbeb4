package dispatch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// round lets the janitor go round once, and everything happen that follows.
func (s *stage) round(want reconcile.Found) {
	s.t.Helper()
	s.roundAt(s.hub.Now(), want)
}

func (s *stage) roundAt(now time.Time, want reconcile.Found) {
	s.t.Helper()
	j := s.janitor()
	got, err := j.Round(s.t.Context(), now)
	if err != nil {
		s.t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("the round: %s", diff)
	}
	s.settle()
}

// TestLostWebhooks holds that what GitHub did not get delivered happens all the same:
// by its list of deliveries, and if that is gone too, by what is there to be seen.
func TestLostWebhooks(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.round(reconcile.Found{})
	s.hub.LoseDeliveries(1)
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	if got := s.status(n); got != "" {
		t.Fatalf("the webhook was not lost:\n%s", got)
	}
	s.round(reconcile.Found{Deliveries: 1, Heads: 1})
	s.expect("the status", s.status(n), "2 to add")
	s.round(reconcile.Found{})

	s.hub.LoseDeliveries(1)
	if got := s.say("alice", n, "lockstep apply"); got != "" {
		t.Fatalf("the webhook was not lost: %s", got)
	}
	s.pipeline.Records = forgetful{s.pipeline.Records} // nothing but the comment is left
	s.webhook.Intake = s.pipeline.Intake()
	s.round(reconcile.Found{Deliveries: 1, Comments: 1})
	s.expect("the status", s.status(n), "applied by `alice`")
	if got := len(s.repo.Comments(n)); got != 3 {
		t.Errorf("%d comments", got)
	}
	s.round(reconcile.Found{})
}

// forgetful are records that do not know which messages were handled.
type forgetful struct{ pipeline.Records }

func (f forgetful) Get(ctx context.Context, key string) (pipeline.Record, error) {
	if strings.HasPrefix(key, "message/") {
		return pipeline.Record{Key: key}, nil
	}
	return f.Records.Get(ctx, key)
}

// TestOldCommentsAreNotCommands holds that what was written before the janitor came, or
// was edited since, is not carried out.
func TestOldCommentsAreNotCommands(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.hub.LoseDeliveries(1)
	s.say("alice", n, "lockstep apply")
	s.hub.SetWebhook("") // and GitHub does not remember it
	s.pipeline.Records = forgetful{s.pipeline.Records}
	s.webhook.Intake = s.pipeline.Intake()
	j := &reconcile.Janitor{Pipeline: s.pipeline, App: noDeliveries{s.app}, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return s.app.Repository(installation, r)
	}}
	harmless := s.repo.Comment("mallory", n, "What a fine change.")
	for range 3 {
		if f, err := j.Round(t.Context(), s.hub.Now()); err != nil || f != (reconcile.Found{}) {
			t.Errorf("%+v, %v", f, err)
		}
		s.repo.EditComment("alice", harmless, "lockstep apply")
	}
}

type noDeliveries struct{ reconcile.App }

func (noDeliveries) Deliveries(context.Context, time.Time) ([]github.DeliveryInfo, error) {
	return nil, nil
}

// dying is an engine whose process dies in the middle of what it does, or that fails to
// plan.
type dying struct {
	jobs.Engine
	plan, apply, fail bool
}

var errDied = errors.New("killed")

func (d *dying) Plan(ctx context.Context, j jobs.Job) (jobs.PlanResult, error) {
	if d.fail {
		return jobs.PlanResult{}, errDied
	}
	if d.plan {
		panic(errDied)
	}
	return d.Engine.Plan(ctx, j)
}

func (d *dying) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	if d.apply {
		permit(jobs.BeforeApply{})
		panic(errDied)
	}
	return d.Engine.Apply(ctx, j, plan, permit)
}

// once hands each waiting message over once, as to a process that dies with what it
// fails at.
func (s *stage) once(ctx context.Context) {
	s.t.Helper()
	if _, err := s.hub.Deliver(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.drain(ctx, func(ctx context.Context, m pipeline.Message) error {
		defer func() {
			if x := recover(); x != nil && x != errDied {
				panic(x)
			}
		}()
		if err := s.pipeline.Handle(ctx, m); err != nil && !errors.Is(err, errDied) {
			return err
		}
		return nil
	})
}

// TestDeadProcesses holds that a run whose process died is found, has failed, and says
// so where people look.
func TestDeadProcesses(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	engine := &dying{Engine: s.pipeline.Engine, plan: true}
	s.pipeline.Engine = engine
	short, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	later := time.Now().Add(2 * time.Hour)
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	s.once(short)
	s.roundAt(time.Now(), reconcile.Found{})
	s.expect("the check", s.check("b"), "in_progress")
	s.roundAt(later, reconcile.Found{Leases: 1})
	s.expect("the status", s.status(n), "failed to plan", "the process that did it ended before it was done")
	s.expect("the check", s.check("b"), "failure Failed to plan")
	s.roundAt(later, reconcile.Found{})

	engine.plan, engine.apply = false, true
	s.say("alice", n, "lockstep plan")
	s.repo.Comment("alice", n, "lockstep apply")
	s.once(short)
	s.expect("the check", s.check("b"), "in_progress")
	s.roundAt(later, reconcile.Found{Leases: 1})
	s.expect("the status", s.status(n), "failed to apply", "read the new plan with care")
	s.expect("the check", s.check("b"), "failure Failed to apply")
	comments := s.repo.Comments(n)
	s.expect("the answer", comments[len(comments)-1].Body, "**Failed to apply** `.`: the apply ended without a result, so Lockstep does not know what was changed.", "read the new plan with care")
	engine.apply = false
	s.expect("a new plan", s.say("alice", n, "lockstep plan"), "**Planned** `.`: 2 to add")
	s.expect("its apply", s.say("alice", n, "lockstep apply"), "**Applied** `.`: 2 added")
}

// TestWaitingIsNotDying holds that a run whose message failed, and waits to be handled
// again, is not taken for one whose process died.
func TestWaitingIsNotDying(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	engine := &dying{Engine: s.pipeline.Engine, fail: true}
	s.pipeline.Engine = engine
	short, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	s.repo.Push("alice", "b", "B", githubtest.Files{"b.tf": resource("b", "1")})
	n := s.repo.OpenPull("alice", "B", "b")
	var waiting pipeline.Message
	if _, err := s.hub.Deliver(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.drain(short, func(ctx context.Context, m pipeline.Message) error {
		err := s.pipeline.Handle(ctx, m)
		if errors.Is(err, errDied) {
			waiting, err = m, nil // the queue hides it for a while
		}
		return err
	})
	s.roundAt(time.Now().Add(2*time.Hour), reconcile.Found{})
	s.expect("the check", s.check("b"), "in_progress")
	engine.fail = false
	if err := s.pipeline.Handle(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.expect("the status", s.status(n), "2 to add")
}

// twin are records in which somebody else has received each delivery, and died, between
// our look and our note of it.
type twin struct{ pipeline.Records }

func (r twin) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	if strings.HasPrefix(key, "delivery/") && prev == "" {
		if _, err := r.Records.Put(ctx, key, []byte("received"), ""); err != nil {
			return "", err
		}
	}
	return r.Records.Put(ctx, key, value, prev)
}

// TestTwinReceivers holds that a delivery which is answered well is sent, though somebody
// else had begun to receive it.
func TestTwinReceivers(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	s.pipeline.Records = twin{s.pipeline.Records}
	s.webhook.Intake = s.pipeline.Intake()
	n := s.pull("alice", "b", githubtest.Files{"b.tf": resource("b", "1")})
	s.expect("the status", s.status(n), "2 to add")
}

// oddDeliveries is an App whose list has a delivery that cannot be read, and that notes
// since when it is asked.
type oddDeliveries struct {
	reconcile.App
	at    time.Time
	since []time.Time
}

func (a *oddDeliveries) Deliveries(_ context.Context, since time.Time) ([]github.DeliveryInfo, error) {
	if a.since = append(a.since, since); a.at.Before(since) {
		return nil, nil
	}
	return []github.DeliveryInfo{{ID: 1, GUID: "00000000-odd", Event: "pull_request", At: a.at}}, nil
}

func (a *oddDeliveries) Delivery(context.Context, int64) (github.Delivery, error) {
	return github.Delivery{}, github.ErrPayload
}

// TestOddDelivery holds that a delivery which cannot be read is spoken of, but not for as
// long as GitHub keeps it, and that a round does not look at all of them again.
func TestOddDelivery(t *testing.T) {
	t.Parallel()
	s := newStage(t, githubtest.Files{"main.tf": resource("a", "1")})
	now := s.hub.Now()
	app := &oddDeliveries{App: s.app, at: now}
	j := &reconcile.Janitor{Pipeline: s.pipeline, App: app, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return s.app.Repository(installation, r)
	}}
	if _, err := j.Round(t.Context(), now); !errors.Is(err, github.ErrPayload) {
		t.Errorf("the first round: %v", err)
	}
	if _, err := j.Round(t.Context(), now.Add(time.Hour)); !errors.Is(err, github.ErrPayload) {
		t.Errorf("a round that looks back to where the first was: %v", err)
	}
	if _, err := j.Round(t.Context(), now.Add(2*time.Hour)); err != nil {
		t.Errorf("a later one: %v", err)
	}
	if got := now.Add(2 * time.Hour).Sub(app.since[2]); got > time.Hour+20*time.Minute {
		t.Errorf("it looks back for %s", got)
	}
}
