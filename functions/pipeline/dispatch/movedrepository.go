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

// An Inventory lists the repositories that the App can access. *github.App implements it.
type Inventory interface {
	Installations(ctx context.Context) ([]github.Installation, error)
	Repositories(ctx context.Context, installation int64) ([]github.Repo, error)
}

// errBack is the error of an attempt whose repository was missing, although the repository is accessible
// now. The next attempt will find the repository.
var errBack = errors.New("it is where it was, and was not there before")

// findMoved searches for the repository of a message, after the repository was transferred to another account.
// The repository then no longer has its old name, or the name belongs to another repository. findMoved returns
// the message with the present installation and name.
//
// A webhook of one installation could name a repository of another. So findMoved does not search if only a
// webhook tells of the event, unless Lockstep already knows the pull request. The janitor finds events for
// which findMoved does not search.
func (p *Pipeline) findMoved(ctx context.Context, m pipeline.Message) (pipeline.Message, bool, error) {
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
		if i.Suspended || !p.Serves.NamesOwner(i.Account) {
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

// knows reports whether Lockstep's records contain the pull request of the message. A comment is known if an
// earlier attempt has begun its answer. Any other message is known if Lockstep has read its pull request
// before.
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

// serves reports whether Lockstep works for a repository. If not, it logs the reason.
func (p *Pipeline) serves(ctx context.Context, r github.Repo) (bool, error) {
	s, err := p.Intake().Served(ctx, r)
	if err == nil && !s.Allowed() {
		p.log(intake.NotServed(r, s))
	}
	return err == nil && s.Allowed(), err
}
