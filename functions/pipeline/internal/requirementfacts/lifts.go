package requirementfacts

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/github"
)

// lifts finds the overrides for a plan. An override is the comment itself, and no record of it: whoever
// may write records lifts nothing. It is of a plan that its author has seen, so it is newer than the
// plan; GitHub's clock has seconds, and within one the order is unknown. An edited comment is none,
// because others may edit it; nor is that of an App. And it is one that our own answer calls so: what people were
// told was refused takes no effect later, for instance once its author may more.
func (p *pass) lifts(n requirementrules.Needs, s Subject) {
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
				if now := c.ID == s.Answering; now || p.granted(all.Value, c.ID, s) {
					p.out.Lifts = append(p.out.Lifts, requirementrules.Lift{By: c.Author, Because: o.Reason, Planned: p.out.Planned, Answering: now})
				}
			}
		}
	}
}

// granted reports whether our answer to a comment says that it lifts something for the subject's plan.
func (p *pass) granted(all []github.Comment, id int64, s Subject) bool {
	return slices.ContainsFunc(all, func(c github.Comment) bool {
		return c.Ours && c.Number == p.Pull.Number && slices.Contains(liftedBy(c.Body, id), s.Target)
	})
}

// lifting begins the hidden line of an answer with the targets for whose plans it says that something is lifted. It is below the
// answer's marker, where nobody else has a say.
const lifting = "<!-- lockstep:overridden "

// Line returns that line of an answer, with a line's end before it; "" for one that lifts nothing.
func Line(replies []comment.Reply) string {
	var targets []string
	for _, r := range replies {
		if o, is := r.(comment.Overridden); is && o.Target != "" {
			targets = append(targets, o.Target)
		}
	}
	if len(targets) == 0 {
		return ""
	}
	return "\n" + lifting + strings.Join(targets, " ") + " -->"
}

// liftedBy returns the targets for whose plans a comment of ours says that the comment with an ID has lifted something.
func liftedBy(ours string, id int64) []string {
	rest, is := strings.CutPrefix(ours, comment.AnswerMarker(strconv.FormatInt(id, 10))+"\n"+lifting)
	line, _, ends := strings.Cut(rest, " -->\n")
	if !is || !ends {
		return nil
	}
	return strings.Fields(line)
}
