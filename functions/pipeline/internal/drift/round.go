package drift

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/integrations"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/steps"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// Hub has the requests to GitHub about a repository and its issues.
type Hub interface {
	// DefaultBranch returns the name of the default branch, and its present commit.
	DefaultBranch(ctx context.Context) (name, tip string, err error)
	// PutIssue writes an issue and returns its number; 0 if the repository has issues disabled.
	PutIssue(ctx context.Context, number int, x github.Issue) (int, error)
	// IssueAsPull returns an issue in the form of a pull request.
	IssueAsPull(ctx context.Context, number int) (github.PullRequest, error)
	// Propose opens a pull request, and returns its number. own is false if it returns another open pull request of the
	// proposal's group. A proposal that is repeated has no further effect.
	Propose(ctx context.Context, p github.Proposal) (number int, own bool, err error)
}

// A Finder looks for drift. It handles one message.
type Finder struct {
	Facts  *gatefacts.Reader
	Hub    Hub
	Report *report.Reporter
	Ledger ledger.Ledger
	Queue  pipeline.Queue
	Engine jobs.Engine
	Steps  steps.Runner
	Teller integrations.Teller
}

// base reads the tip of the default branch and its settings. It makes the tip the subject of the gate's facts.
func (f *Finder) base(ctx context.Context) (*project.Settings, error) {
	name, tip, err := f.Hub.DefaultBranch(ctx)
	if err != nil {
		return nil, err
	}
	at := github.Branch{Repo: f.Facts.Message.Pull.Repo, Ref: name, SHA: tip}
	f.Facts.Pull = github.PullRequest{Open: true, Head: at, Base: at, DefaultBranch: name, MergeSHA: tip}
	s, _, err := f.Facts.Settings(ctx, tip)
	return s, err
}

// Find sends a message for each project whose turn has come since the last round. It also sends one for each project
// with an open issue in which nobody looks for drift any more.
//
// If an apply has sent the message, Find sends one for each project that depends on the applied one: see
// [Finder.trigger].
func (f *Finder) Find(ctx context.Context) error {
	if f.Facts.Message.After != 0 {
		return f.trigger(ctx)
	}
	now, pull := time.Now().UTC(), f.Facts.Message.Pull
	last, err := f.Ledger.DriftRound(ctx, pull)
	if err != nil || !last.Due(now) {
		return err
	}
	s, err := f.base(ctx)
	if err != nil {
		return fmt.Errorf("look for drift: %w", err)
	}
	from := last.Last
	if from.IsZero() || from.After(now) { // the clock was ahead
		from = now.Add(-longest)
	}
	watched, every, err := f.watched(ctx, s)
	if err != nil {
		return err
	}
	for target, d := range watched {
		at := turn(fmt.Sprintf("%d/%s", pull.Repo.ID, target), d, now)
		if !at.After(from) {
			continue
		}
		if err := f.send(ctx, pipeline.Message{Target: target, At: at}); err != nil {
			return err
		}
	}
	open, err := f.Ledger.OpenDrifts(ctx, pull)
	if err != nil {
		return err
	}
	triggered, err := f.Ledger.OpenRunTriggers(ctx, pull)
	if err != nil {
		return err
	}
	for _, target := range slices.Concat(open, triggered) {
		if _, is := watched[target]; !is {
			if err := f.send(ctx, pipeline.Message{Target: target, At: now}); err != nil {
				return err
			}
		}
	}
	return f.Ledger.SaveDriftRound(ctx, pull, ledger.DriftRound{Last: now, Next: now.Add(pause(every))})
}

// send sends the message to look at the project Target of m.
func (f *Finder) send(ctx context.Context, m pipeline.Message) error {
	p := f.Facts.Message.Pull
	name := sha256.Sum256([]byte(m.Target)) // IDs of messages allow few characters
	m.Kind = pipeline.ToDrift
	return pipeline.Send(ctx, f.Queue, p, m, p.Repo.ID, hex.EncodeToString(name[:8]), m.At.Unix(), m.After)
}

// watched returns the targets in which drift is looked for, each with the time between two looks. every is the
// shortest of these times; 0 if there is none.
func (f *Finder) watched(ctx context.Context, s *project.Settings) (out map[string]time.Duration, every time.Duration, err error) {
	if s == nil || s.Drift == nil {
		return nil, 0, nil
	}
	tip := f.Facts.Pull.Head.SHA
	all, err := gatefacts.ProjectsAt(ctx, f.Facts, tip)
	if err != nil {
		return nil, 0, err
	}
	out = map[string]time.Duration{}
	for _, p := range all {
		d := s.LooksForDrift(p, all)
		if d == 0 {
			continue
		}
		by, err := gatefacts.ServedBy(ctx, f.Facts, tip, p)
		if err != nil {
			return nil, 0, err
		}
		if by == f.Facts.Deployment {
			out[runs.ID{Project: p.Name, Workspace: p.Workspace}.Target()], every = d, d
		}
	}
	return out, every, nil
}
