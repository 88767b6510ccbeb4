package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment"
)

// HashOf is the hash that a saved plan is known by, and the report of one: of its bytes, in
// hexadecimal. It is the one place that says so.
func HashOf(saved []byte) string {
	sum := sha256.Sum256(saved)
	return hex.EncodeToString(sum[:])
}

// seen holds that whoever asks for an apply has seen this plan: the comment names it, or was
// written after the plan was shown. GitHub's clock has seconds, and within one nobody knows
// what was first.
func (g *gate) seen() {
	again := fmt.Sprintf("Look at the plan, and comment %s again, or name the plan: %s.", comment.Code("lockstep apply"), g.byName())
	switch {
	case g.Entry != ByComment || g.Decided:
	case g.Named != "" && !strings.HasPrefix(g.Run.PlanHash, g.Named):
		g.no(OtherPlan, fmt.Sprintf("Look at the plan that is there now. To apply it, comment %s.", g.byName()),
			"%s is not the plan of %s, which is %s.", comment.Code(g.Named), comment.Code(g.Run.Project), comment.PlanName(g.Run.PlanHash))
	case g.Named != "":
	case g.Shown.IsZero():
		g.no(PlanIsNewer, again, "The plan was not shown yet: whoever wrote this comment has not seen it.")
	case !g.At.After(g.Shown):
		g.no(PlanIsNewer, again, "The plan was shown after this comment was written, or in the same second: whoever wrote it has not seen the plan.")
	}
}

// byName is the command that applies this plan and no other.
func (g *gate) byName() string {
	return comment.Code(comment.Command{Verb: comment.Apply, Plan: comment.Short(g.Run.PlanHash), Project: g.Run.Project}.String())
}

// same holds that the plan which is there is the one that was made, and shown: whoever may
// write where plans are kept, or records, has rights, but not that of everybody's apply.
func (g *gate) same() {
	made := g.Run.PlanHash
	if g.Saved != "" && g.Saved != made {
		g.no(PlanExchanged, g.again(), "The saved plan is not the one that was made: it is %s, and %s was made. Somebody has exchanged it.", comment.PlanName(g.Saved), comment.PlanName(made))
	}
	switch on := g.OnGitHub; {
	case on == nil || *on == made && made != "":
	case *on == "":
		g.no(PlanExchanged, g.again(), "Nobody can tell whether the plan is the one that was shown: the check %s names none.", comment.Code(g.Run.Check()))
	default:
		g.no(PlanExchanged, g.again(), "The plan is not the one that was shown: the check %s shows %s, and %s is to be applied. Somebody has exchanged it.",
			comment.Code(g.Run.Check()), comment.PlanName(*on), comment.PlanName(made))
	}
	if g.Kept != "" {
		g.no(PlanExchanged, g.again(), "What the plan was made from is not what is kept of it: %s.", comment.Code(g.Kept))
	}
}
