package dispatch

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
)

// refuseNotServed logs a message of a repository for which Lockstep does not work. For a push it also writes
// one check run on the head commit. It only logs its own errors.
func (p *Pipeline) refuseNotServed(ctx context.Context, m pipeline.Message, s intake.Service) {
	p.log(intake.NotServed(m.Pull.Repo, s))
	if m.Kind != pipeline.Pushed {
		return
	}
	if err := p.checkNotServed(ctx, m, s); err != nil {
		p.log(fmt.Errorf("say that %s is not served: %w", m.Pull.Repo, err))
	}
}

func (p *Pipeline) checkNotServed(ctx context.Context, m pipeline.Message, s intake.Service) error {
	hub, err := p.Connect(m.Pull)
	if err != nil {
		return err
	}
	pull, err := hub.PullRequest(ctx, m.Pull.Number)
	if err != nil {
		return err
	}
	page := s.Refused
	_, err = hub.PutCheck(ctx, 0, github.Check{
		Name: pipeline.HeadCheckOf(p.Deployment), SHA: pull.Head.SHA, ExternalID: pipeline.HeadID,
		Status: github.CheckCompleted, Conclusion: github.ConcludedNeutral, Title: page.Title(), Summary: page.Summary(),
	})
	return err
}

func (p *Pipeline) log(err error) {
	if p.Log != nil {
		p.Log(err)
	}
}
