package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// names is a configuration of objects that must be created one after another. The first one depends on the
// network.
var names = githubtest.Files{"network/names.tf": `resource "terraform_data" "zone" {
  input = { name = "acme.example", network = terraform_data.vpc.id }
}

resource "terraform_data" "host" {
  input = { name = "host.acme.example", zone = terraform_data.zone.id }
}

resource "terraform_data" "alias" {
  input = { name = "www.acme.example", host = terraform_data.host.id }
}
`}

var killedApply = Story{
	Name:  "killed-apply",
	Shows: "An apply is killed halfway. Nothing is lost, and Lockstep names the one object that it cannot be sure of.",
	scenes: []scene{
		opened("alice opens a pull request: a zone, a host in it, and an alias of the host", "alice", "names", "A name", names, "4 to add"),
		{title: "she applies it, and the process is killed while it creates the host", do: func(ctx context.Context, w *World) error {
			w.repo.Comment("alice", 1, "lockstep apply")
			if _, err := w.hub.Deliver(ctx); err != nil {
				return err
			}
			return w.killWorker(ctx, intent, `terraform_data.host`)
		}, want: []string{"**Failed to apply** `network`: 2 added, 0 changed, 0 destroyed", "Not known to be created"}, never: []string{"locked since"}},
		commented("she asks what is in doubt: one object, and the answer says what to do", "alice", 1, "lockstep recover",
			"`network`: **1 object needs your decision**", "`terraform_data.host` **may exist without being in the state**", "lockstep recover -forget 'terraform_data.host'"),
		commented("a new plan leaves that object alone", "alice", 1, "lockstep plan",
			"unknown whether `terraform_data.host` exists, see `lockstep recover`", "check lockstep: action_required, 1 project partly planned"),
		commented("she finds the host, so she imports it", "alice", 1, "lockstep import terraform_data.host the-id -p network",
			"1 to import, 1 to add", "terraform_data.alias will be created"),
		commented("she applies the import, and the alias that depends on it", "alice", 1, "lockstep apply", "**Applied** `network`: 1 imported, 1 added"),
		commented("nothing is left to do", "alice", 1, "lockstep plan", "**Planned** `network`: no changes"),
	},
}

var resume = Story{
	Name:  "resume",
	Shows: "An apply that outlives its process continues in the next one.",
	scenes: []scene{
		opened("alice opens a pull request with a name", "alice", "names", "A name", names, "4 to add"),
		{title: "she applies it, and the time of the process is over when the zone is made", do: inTurns,
			want: []string{"2 of 4", "**Applied** `network`: 4 added, 0 changed, 0 destroyed", "check lockstep/network: success, Applied – 4 added"}},
		merged("and merges", "alice", 1),
	},
}

var progress = Story{
	Name:  "progress",
	Shows: "While a plan or an apply runs, comments and checks say how far it is, and what is under way.",
	scenes: []scene{
		{title: "alice opens a pull request with a name, and its plan takes time", do: slowPlan,
			want: []string{"`network`: planning (1 of about 4)", "`network` is being planned. The plan began at", "1 of about 4 objects are planned", "4 to add"}},
		{title: "she applies it, and the host takes its time", do: slowly,
			want: []string{"is being applied. The apply began at", "2 of 4 changes are done. Under way: `terraform_data.host` (creating for", "**Applied** `network`: 4 added"}},
	},
}

var stop = Story{
	Name:  "stop",
	Shows: "`lockstep stop` ends an apply after the change in progress. The rest can be applied later.",
	scenes: []scene{
		opened("alice opens a pull request with a name", "alice", "names", "A name", names, "4 to add"),
		{title: "she applies it, and bob stops it when the zone is made", do: func(ctx context.Context, w *World) error {
			return stopped(ctx, w, says("alice", 1, "lockstep apply"), says("bob", 1, "lockstep stop"))
		},
			want: []string{"**Cancelling** the apply of `network`, as `bob` requested", "**Cancelled** the apply of `network`, as `bob` requested: 2 of 4 changes done. The state contains these changes."}, never: []string{"failed"}},
		commented("alice goes on with the rest", "alice", 1, "lockstep apply", "**Applied** `network`: 4 added"),
	},
}

var applyQueue = Story{
	Name:  "apply-queue",
	Shows: "Applies to one state wait for each other. Everybody sees the place in the queue.",
	scenes: []scene{
		opened("carol opens a pull request for the application", "carol", "release", "Release 2026.11", newRelease, "1 to add"),
		merged("and merges, which applies it", "carol", 1, "**Applied** `app`: 1 added"),
		opened("alice opens a pull request", "alice", "alarm", "An alarm", githubtest.Files{"app/alarm.tf": oneObject("alarm")}, "1 to add"),
		opened("and bob another one", "bob", "backup", "A backup", githubtest.Files{"app/backup.tf": oneObject("backup")}, "1 to add"),
		{title: "alice merges hers, and bob his while it is being applied", do: inLine,
			want: []string{"queued (2nd, behind #2), requested by `bob`", "check lockstep/app: success, Applied – 1 added"}},
	},
}

// slowly applies a plan. The resource "host" is created only when a comment shows that its creation is under way.
func slowly(ctx context.Context, w *World) error {
	w.repo.Comment("alice", 1, "lockstep apply")
	failed := make(chan error, 1)
	w.moment.at(func() {
		failed <- until(ctx, func() bool {
			return slices.ContainsFunc(w.repo.Comments(1), func(c githubtest.Comment) bool { return strings.Contains(c.Body, "Under way: `terraform_data.host`") })
		})
	}, intent, `terraform_data.host`)
	if err := w.drain(ctx, 2, w.machine.Pipeline.Handle); err != nil { // another worker writes the comment
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return fmt.Errorf("the host was not made")
	}
}

// slowPlan opens a pull request. Its plan waits after the first object, until Lockstep's comment shows
// how far the plan is.
func slowPlan(ctx context.Context, w *World) error {
	w.repo.Push("alice", "names", "A name", names)
	n := w.repo.OpenPull("alice", "A name", "names")
	failed := make(chan error, 1)
	objects := 0
	w.moment.whilePlanning(func() {
		if objects++; objects == 1 {
			failed <- until(ctx, func() bool {
				return slices.ContainsFunc(w.repo.Comments(n), func(c githubtest.Comment) bool { return strings.Contains(c.Body, "1 of about ") })
			})
		}
	})
	defer w.moment.whilePlanning(nil)
	if _, err := w.hub.Deliver(ctx); err != nil {
		return err
	}
	if err := w.drain(ctx, 2, w.machine.Pipeline.Handle); err != nil { // another worker writes the comment
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return fmt.Errorf("nothing was planned")
	}
}

// until waits until a condition is true.
func until(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func oneObject(name string) string {
	return "resource \"terraform_data\" \"" + name + "\" {\n  input = \"" + name + "\"\n}\n"
}

// inLine merges two pull requests. The second is merged while the first is being applied. The apply of the
// first continues once a comment shows that the second waits for it.
func inLine(ctx context.Context, w *World) error {
	w.repo.Merge("alice", 2)
	failed := make(chan error, 1)
	w.moment.at(func() {
		w.repo.Merge("bob", 3)
		_, err := w.hub.Deliver(ctx)
		if err == nil { // another worker handles the merge
			err = until(ctx, func() bool { return strings.Contains(w.repo.Comments(3)[0].Body, "behind #2") })
		}
		failed <- err
	}, intent, `terraform_data.alarm`)
	if err := w.drain(ctx, 2, w.machine.Pipeline.Handle); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return fmt.Errorf("the alarm was not made")
	}
}

// inTurns applies a plan in several processes that each have a time limit. The first process creates only the
// resource "zone".
func inTurns(ctx context.Context, w *World) error {
	w.repo.Comment("alice", 1, "lockstep apply")
	var over time.Time // the time after which the present process begins no more changes
	w.moment.at(func() {
		w.narrate("the zone is made, and then the time of the process is over")
		select {
		case <-time.After(time.Until(over.Add(w.machine.Pipeline.StopBefore / 2))): // certainly
		case <-ctx.Done():
		}
	}, `"kind":"outcome"`, `terraform_data.zone`)
	turns, limit := 0, time.Second
	handle := func(ctx context.Context, m pipeline.Message) error {
		if m.Kind != pipeline.ToApply {
			return w.machine.Pipeline.Handle(ctx, m)
		}
		turns++
		limit *= 2 // on a slow machine, the first processes have no time for any change
		over = time.Now().Add(limit)
		ctx, cancel := context.WithDeadline(ctx, over.Add(w.machine.Pipeline.StopBefore))
		defer cancel()
		w.narrate("process %d takes the apply up", turns)
		return w.machine.Pipeline.Handle(ctx, m)
	}
	w.machine.Pipeline.StopBefore = time.Second
	if err := w.drain(ctx, 1, handle); err != nil {
		return err
	}
	if turns < 2 {
		return fmt.Errorf("it was done in %d process", turns)
	}
	return nil
}

// stopped starts an apply by calling begin, and calls stop when the apply has created the resource "zone".
func stopped(ctx context.Context, w *World, begin, stop func(*World) error) error {
	if err := begin(w); err != nil {
		return err
	}
	p := w.machine.Pipeline
	under := &underWay{Engine: p.Engine}
	p.Engine, p.Poll = under, 10*time.Millisecond
	defer func() { p.Engine, p.Poll = under.Engine, 0 }()
	failed := make(chan error, 1)
	w.moment.at(func() {
		err := stop(w)
		if err == nil {
			_, err = w.hub.Deliver(ctx)
		}
		if failed <- err; err != nil {
			return
		}
		select { // wait until another worker has handled the comment and the apply was told to stop
		case <-*under.end.Load():
		case <-ctx.Done():
		}
	}, `"kind":"outcome"`, `terraform_data.zone`)
	if err := w.drain(ctx, 2, p.Handle); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return fmt.Errorf("the zone was not made")
	}
}

// An underWay is an engine that records when the context of its last apply ends.
type underWay struct {
	jobs.Engine
	end atomic.Pointer[<-chan struct{}]
}

// Apply implements jobs.Engine.
func (u *underWay) Apply(ctx context.Context, j jobs.Job, plan []byte, permit func(jobs.BeforeApply) jobs.Permit) (jobs.Outcome, error) {
	end := ctx.Done()
	u.end.Store(&end)
	return u.Engine.Apply(ctx, j, plan, permit)
}

// drain delivers webhooks and handles messages until there are none left, atATime messages at the same time.
func (w *World) drain(ctx context.Context, atATime int, handle func(context.Context, pipeline.Message) error) error {
	if _, err := w.hub.Deliver(ctx); err != nil {
		return err
	}
	_, err := w.machine.Data.Queue.Drain(ctx, localstore.Worker{Handle: handle, Abandon: w.machine.Pipeline.Abandon, Limit: atATime})
	return err
}
