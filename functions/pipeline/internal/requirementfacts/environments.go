package requirementfacts

import (
	"context"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// environments reads the protection rules of those GitHub environments that n names. It adds to n the facts on
// which these rules depend.
func (p *pass) environments(n *requirementrules.Needs, shown time.Time) {
	for _, name := range n.Environments {
		e := fact(p, "environment "+name, func(ctx context.Context) (requirementrules.Environment, error) {
			got, err := p.Hub.Environment(ctx, name, p.Pull.Base.Ref)
			return environment(got), err
		})
		if p.out.Environments == nil {
			p.out.Environments = map[string]requirementrules.Fact[requirementrules.Environment]{}
		}
		p.out.Environments[name] = e
		if e.Value.Wait > 0 {
			p.out.Shown = shown
		}
		n.Reviews = n.Reviews || e.Value.Reviewers != nil
		n.Approvers = append(n.Approvers, e.Value.Reviewers...)
		if e.Value.OwnReview {
			n.Actor = append(n.Actor, e.Value.Reviewers...)
		}
	}
}

func environment(e github.Environment) requirementrules.Environment {
	out := requirementrules.Environment{OwnReview: e.OwnReview, Wait: e.Wait, Closed: e.Closed, Others: e.Others}
	if e.Reviewers != nil {
		out.Reviewers = []requirements.Party{}
	}
	for _, r := range e.Reviewers {
		out.Reviewers = append(out.Reviewers, requirements.Party{Org: strings.ToLower(r.Org), Team: strings.ToLower(r.Team), Login: strings.ToLower(r.Login)})
	}
	return out
}
