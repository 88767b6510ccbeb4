package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/github"
)

// An Inventory lists the repositories that the App sees; *github.App is one.
type Inventory interface {
	Installations(ctx context.Context) ([]github.Installation, error)
	Repositories(ctx context.Context, installation int64) ([]github.Repo, error)
}

// errBack is the end of an attempt for which a repository was away that is in its place now: another attempt finds it.
var errBack = errors.New("it is where it was, and was not there before")

// elsewhere returns the message of a task that came to nobody, or under a name that is another repository's by now, for the
// installation that has its repository now, and with its present name: one that was transferred to another account. The webhook
// of one installation could be about the repository of another: an event that only a webhook tells of is not looked for,
// unless the pull request is known here, and the janitor finds the others.
func (p *Pipeline) elsewhere(ctx context.Context, m pipeline.Message) (pipeline.Message, bool, error) {
	if p.Inventory == nil {
		return m, false, nil
	}
	if m.Unverified() {
		if known, err := p.knows(ctx, m); err != nil || !known {
			return m, false, err
		}
	}
	all, err := p.Inventory.Installations(ctx)
	if err != nil {
		return m, false, fmt.Errorf("look for %s: %w", m.Pull.Repo, err)
	}
	for _, i := range all {
		if i.Suspended || !p.Serves.Owner(i.Account) {
			continue
		}
		list, err := p.Inventory.Repositories(ctx, i.ID)
		if err != nil {
			return m, false, fmt.Errorf("look for %s: %w", m.Pull.Repo, err)
		}
		for _, r := range list {
			if r.ID != m.Pull.Repo.ID {
				continue
			}
			served, err := p.serves(ctx, r)
			moved := m.Pull.Installation != i.ID || m.Pull.Repo != r
			m.Pull.Installation, m.Pull.Repo = i.ID, r
			if err == nil && served && !moved {
				err = fmt.Errorf("look for %s: %w", r, errBack)
			}
			return m, served && moved, err
		}
	}
	return m, false, nil
}

// knows reports whether the pull request of a message was looked at before, or has a check that tells so, with the repository of
// its ID: an event says nothing else that is believed. A comment does, and was there if an earlier attempt at it has begun the answer.
func (p *Pipeline) knows(ctx context.Context, m pipeline.Message) (bool, error) {
	if m.Kind != pipeline.Commanded {
		l, err := p.Ledger().LastLook(ctx, m.Pull)
		return l.Head != "" || len(l.Heads) > 0, err
	}
	rec, err := p.Records.Get(ctx, ledger.AnswerDir(m.Pull)+"/"+report.AnswerTo(m))
	if err != nil || rec.Version == "" {
		return false, err
	}
	var a ledger.Answer
	err = json.Unmarshal(rec.Value, &a)
	return a.Message == m.ID, err
}

// serves reports whether a repository is served, and logs that it is not.
func (p *Pipeline) serves(ctx context.Context, r github.Repo) (bool, error) {
	s, err := p.Intake().Served(ctx, r)
	if err == nil && !s.Allowed() {
		p.log(intake.NotServed(r, s))
	}
	return err == nil && s.Allowed(), err
}
