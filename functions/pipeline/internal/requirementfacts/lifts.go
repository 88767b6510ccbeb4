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

// lifts finds the overrides of a plan. An override is a comment, and not a record: a person who can write
// records cannot override anything. Some comments do not count:
//   - a comment that is older than the plan, because its author has not seen the plan (within the same second,
//     the order is not known)
//   - an edited comment, because others may have edited it
//   - a comment of an App
//   - a comment that Lockstep's own answer does not call an override
//
// Because of the last condition, a refused override never takes effect later, for example when its author gets
// more rights.
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

// granted reports whether Lockstep's answer to the comment with this ID says that the comment overrides
// something for the subject's plan.
func (p *pass) granted(all []github.Comment, id int64, s Subject) bool {
	return slices.ContainsFunc(all, func(c github.Comment) bool {
		return c.Ours && c.Number == p.Pull.Number && slices.Contains(liftedBy(c.Body, id), s.Target)
	})
}

// lifting is the beginning of the hidden line in an answer that lists the targets whose plans have an override.
// The line follows the answer's marker, where nobody else can write.
const lifting = "<!-- lockstep:overridden "

// Line returns the hidden line of an answer that lists overrides, with a line break before it. It returns "" if
// the answer grants no override.
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

// liftedBy returns the targets for which the comment id overrides something, according to a comment of Lockstep
// (ours).
func liftedBy(ours string, id int64) []string {
	rest, is := strings.CutPrefix(ours, comment.AnswerMarker(strconv.FormatInt(id, 10))+"\n"+lifting)
	line, _, ends := strings.Cut(rest, " -->\n")
	if !is || !ends {
		return nil
	}
	return strings.Fields(line)
}
