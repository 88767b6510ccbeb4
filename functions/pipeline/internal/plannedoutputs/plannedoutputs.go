// Package plannedoutputs lets projects be planned with the outputs that other projects of the same pull request
// will have.
//
//	a plan's turn comes   the plans of the projects that it depends on are made first: it waits in the record of its
//	                      run ([Foreseer.Waits]), and the last of the others wakes it ([Foreseer.GoOn])
//	it is made            with the outputs of those plans ([Foreseer.Complete]); its record names them
//	one of them changes   it is applied, made again, or fails: the plan is checked ([Foreseer.Due]). If it is the
//	                      same, it stays, with its approvals
//	it is applied         the gate demands that it is made again with the state locked (admission.Decide)
//
// A dependency grants nothing. A person who adds a depends_on gets only outputs that the project's own
// credentials can read in the state; the engine tries that first (package remotestates).
//
// If a process dies, nothing is lost. A wait is recorded before the message of the waiting plan ends, and the
// other plans are checked once more after that. So one of two things happens: the waiting plan finds that the
// others are made, or the last of the others finds the waiting plan. The ID of a message names the plans for
// which it is, so it can be sent twice. If the message of a plan is lost for good, this plan fails, and that
// wakes the others.
//
// The package does not know states and configurations. Start reading at [Foreseer.Complete].
package plannedoutputs

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/order"
	"github.com/lockstep-iac/lockstep/github"
)

// A Foreseer finds the plans of other projects in the pull request whose outputs a plan uses.
type Foreseer struct {
	Facts     *gatefacts.Reader
	Ledger    ledger.Ledger
	Artifacts pipeline.Artifacts
	Queue     pipeline.Queue
}

// runs reads the runs of the pull request.
func (f Foreseer) runs(ctx context.Context) ([]runs.Run, error) {
	list, err := f.Ledger.Runs(ctx, f.Facts.Message.Pull)
	var all []runs.Run
	for _, s := range list {
		all = append(all, s.Run)
	}
	return all, err
}

// edges returns the dependencies that matter for the plan of a run; nil if there are none.
func (f Foreseer) edges(ctx context.Context, r runs.Run) (order.Edges, error) {
	o, err := f.Facts.Ordered(ctx, r)
	if err != nil || o == nil {
		return nil, err
	}
	return o.Edges(), nil
}

// Waits returns the projects that must be planned before a run, sorted; nil if the run can be planned now.
func (f Foreseer) Waits(ctx context.Context, r runs.Run) (on []string, err error) {
	edges, err := f.edges(ctx, r)
	if err != nil || edges == nil {
		return nil, err
	}
	all, err := f.runs(ctx)
	for _, s := range before(edges, all, r) {
		if underWay(s) {
			on = append(on, s.Project)
		}
	}
	return on, err
}

// Complete adds to a job the planned outputs of other projects. It returns which plans they come from, as the
// record for the case that the job fails: see [runs.Failure].
func (f Foreseer) Complete(ctx context.Context, r runs.Run, j *jobs.Job) (runs.Failure, error) {
	edges, err := f.edges(ctx, r)
	if err != nil || edges == nil {
		return runs.Failure{}, err
	}
	j.Foresee = wanted(edges, r.Project)
	all, err := f.runs(ctx)
	if err != nil {
		return runs.Failure{}, err
	}
	first := before(edges, all, r)
	for _, s := range first {
		if s.Address.Place == "" {
			continue
		}
		x := jobs.PlannedOutputs{Project: s.Project, Target: s.Target(), Place: s.Address.Place, Failed: s.Phase == runs.PlanFailed && !runs.KeepsOutcome(s)}
		if hash := planned(s); hash != "" {
			data, err := f.Artifacts.Get(ctx, runs.OutputsArtifact(s))
			if err != nil && !errors.Is(err, pipeline.ErrNoArtifact) {
				return runs.Failure{}, fmt.Errorf("read the planned outputs of %s: %w", s.Project, err)
			}
			if err == nil && runs.HashOf(data) == s.Plan.Parts.Outputs { // otherwise somebody has exchanged them
				x.Plan, x.Outputs = hash, data
			}
		}
		j.Foreseen = append(j.Foreseen, x)
	}
	return runs.Failure{On: on(first)}, nil
}

// Due reports whether to check a plan, because plans whose outputs it has used, or with which it has failed,
// have changed. now has the hashes of these plans, by target.
func (f Foreseer) Due(ctx context.Context, r runs.Run) (now map[string]string, changed bool, err error) {
	if made, _ := with(r); len(made) == 0 {
		return nil, false, nil
	}
	all, err := f.runs(ctx)
	if err != nil {
		return nil, false, err
	}
	now, changed = due(r, all)
	return now, changed, nil
}

// GoOn continues plans that no longer need to wait for other plans. It also sends messages to check plans that
// have used outputs of plans which have changed. It can be repeated.
func (f Foreseer) GoOn(ctx context.Context) error {
	all, err := f.runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Phase == runs.Queued && len(r.Asked.After) > 0 {
			err = f.wake(ctx, r, all)
		} else if now, is := due(r, all); is {
			m := pipeline.Message{Kind: pipeline.ToCheck, Target: r.Target(), Attempt: r.Asked.Attempt}
			err = pipeline.Send(ctx, f.Queue, r.Pull, m, r.MessageName(), r.Asked.Attempt, r.NextBegun(), "on", digest(withTargets(all, now)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// withTargets returns those runs in all whose targets are keys of targets.
func withTargets(all []runs.Run, targets map[string]string) (out []runs.Run) {
	for _, r := range all {
		if _, ok := targets[r.Target()]; ok {
			out = append(out, r)
		}
	}
	return out
}

// wake sends the message for a plan that no longer waits. If the dependencies cannot be read any more, the
// handler of that message reports why.
func (f Foreseer) wake(ctx context.Context, r runs.Run, all []runs.Run) error {
	if f.Facts.Pull.Head.SHA == "" {
		if err := f.Facts.Look(ctx); err != nil {
			return err
		}
	}
	edges, err := f.edges(ctx, r)
	if err != nil && !errors.Is(err, github.ErrNotFound) {
		if _, err := gatefacts.FinalRefusal(err); err != nil {
			return err
		}
	}
	first := before(edges, all, r)
	for _, s := range first {
		if underWay(s) {
			return nil
		}
	}
	m := pipeline.Message{Kind: pipeline.ToPlan, Head: r.Spec.Head, Target: r.Target(), Attempt: r.Asked.Attempt, Actor: r.Asked.By, Answer: r.Asked.Answer}
	return pipeline.Send(ctx, f.Queue, r.Pull, m, r.MessageName(), r.Asked.Attempt, "after", digest(first))
}
