package factfinding

import (
	"context"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gates"
	"github.com/lockstep-iac/lockstep/github"
)

// lifts finds the overrides for a plan. An override is the comment itself, and no record of it: whoever
// may write records lifts nothing. It is of a plan that its author has seen, so it is newer than the
// plan; GitHub's clock has seconds, and within one the order is unknown. An edited comment is none,
// because others may edit it; nor is that of an App.
func (p *pass) lifts(n gates.Needs, s Subject) {
	if !n.Lifts || s.Shown.IsZero() {
		return
	}
	all := fact(p, "comments "+s.Shown.String(), func(ctx context.Context) ([]github.Comment, error) {
		return p.Hub.CommentsSince(ctx, s.Shown)
	})
	for _, c := range all.Value {
		if c.Number != p.Pull.Number || c.Edited || c.Bot || c.Author == "" || !c.At.After(s.Shown) {
			continue
		}
		for _, line := range grammar.Parse(c.Body) {
			o := line.Command
			if line.Problem.IsZero() && o.Verb == grammar.Override && o.Selects(s.Project, s.Dir, s.Workspace) {
				p.out.Lifts = append(p.out.Lifts, gates.Lift{By: c.Author, Because: o.Reason, Planned: p.out.Planned})
			}
		}
	}
}
