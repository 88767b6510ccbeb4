package gatefacts

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/requirementfacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// An Overriding is the effect of an override, which is a comment with the command `lockstep override`.
type Overriding struct {
	// Later is set if all requirements that the override could lift are met now. The override counts as soon as
	// one of them is not met any more.
	Later bool
	// Required is the decision about the requirements for the apply, with the override.
	Required *rulings.Ruling
}

// Override decides whether the message's comment, an override, lifts a requirement for the apply of a run.
// The result no is the reason if the override lifts none. An override is valid only once Lockstep's answer to
// the comment names what it lifts: see package requirementfacts.
func Override(ctx context.Context, e *Reader, r runs.Run, login string) (no reasons.Reason, l Overriding, err error) {
	question, err := foreseenQuestion(ctx, e, r, requirementfacts.Subject{Unasked: true, Answering: e.Message.Comment})
	switch {
	case errors.As(err, new(*github.FinalError)):
		return reasons.NotLifted{Login: login}, l, nil
	case err != nil:
		return nil, l, err
	case question == nil || !requirementrules.Needed(question.Requirements).Lifts:
		return reasons.NotLifted{Login: login, Nobody: true}, l, nil
	}
	if !slices.ContainsFunc(question.Facts.Lifts, func(x requirementrules.Lift) bool { return x.Answering }) {
		shown, err := e.Ledger.ShownAt(ctx, r)
		return reasons.VoidOverride{Edited: runs.CouldHaveSeen(shown, e.Message.At)}, l, err
	}
	some, missing := requirementrules.MayOverride(*question, login)
	if !some {
		return reasons.NotLifted{Login: login}, l, nil
	}
	required := requirementrules.Decide(*question)
	return nil, Overriding{Later: !missing, Required: &required}, nil
}

// ReadRequirementsAgain makes the reader read the comments and all other facts for requirements again.
func ReadRequirementsAgain(e *Reader) { e.required = nil }
