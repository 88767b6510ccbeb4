package demo

import (
	"context"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

var supersede = Story{
	Name:  "supersede",
	Shows: "A push replaces the plan in progress. Only the newest commit is planned.",
	scenes: []scene{
		{title: "alice opens a pull request, and pushes again while it is being planned", do: pushedMeanwhile,
			want:  []string{"check lockstep/network: cancelled", "check lockstep/network: success, Ready to apply – 3 to add", `"10.20.1.0/24"`},
			never: []string{"10.66."}},
		commented("alice applies: the newest commit", "alice", 1, "lockstep apply", "**Applied** `network`: 3 added"),
	},
}

// pushedMeanwhile lets a worker start a plan, and pushes a commit before the plan is finished.
func pushedMeanwhile(ctx context.Context, w *World) error {
	w.repo.Push("alice", "subnets", "Two subnets, with a mistake", githubtest.Files{"network/subnets.tf": strings.ReplaceAll(subnetsFile, "local.range", `"10.66.0.0/16"`)})
	w.repo.OpenPull("alice", "Two subnets", "subnets")
	if _, err := w.hub.Deliver(ctx); err != nil {
		return err
	}
	var once sync.Once
	seen := make(chan struct{})
	handle := func(ctx context.Context, m pipeline.Message) error {
		if m.Kind == pipeline.ToPlan && m.Attempt == 1 {
			w.narrate("a worker begins to plan the first push")
			w.repo.Push("alice", "subnets", "Two subnets", subnets)
			if _, err := w.hub.Deliver(ctx); err != nil {
				return err
			}
			select { // another worker handles the push
			case <-seen:
			case <-ctx.Done():
			}
		}
		err := w.machine.Pipeline.Handle(ctx, m)
		if m.Kind == pipeline.Pushed && m.Action == "synchronize" {
			once.Do(func() { close(seen) })
		}
		return err
	}
	_, err := w.machine.Data.Queue.Drain(ctx, localstore.Worker{Handle: handle, Abandon: w.machine.Pipeline.Abandon, Limit: 2})
	return err
}
