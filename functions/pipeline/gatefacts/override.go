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

// An Overriding is the effect of a comment with the command `lockstep override`.
type Overriding struct {
	// Later is set if all requirements that the user may override are met now. The override has an effect as
	// soon as one of them is no longer met.
	Later bool
	// Required is the decision about the requirements of the apply. It takes the override into account.
	Required *rulings.Ruling
}

// Override decides whether the message's comment overrides a requirement for the apply of a run. If it
// overrides none, no is the reason. The override becomes valid only when Lockstep's answer to the comment names
// the requirement: see package requirementfacts.
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

// MayOverride returns the reason why a user may override no requirement for the apply of a run; nil if the user may
// override one.
func MayOverride(ctx context.Context, e *Reader, r runs.Run, login string) (no reasons.Reason, err error) {
	question, err := foreseenQuestion(ctx, e, r, requirementfacts.Subject{Unasked: true, Overrider: login})
	switch {
	case errors.As(err, new(*github.FinalError)):
		return reasons.NotLifted{Login: login}, nil
	case err != nil:
		return nil, err
	case question == nil || !requirementrules.Needed(question.Requirements).Lifts:
		return reasons.NotLifted{Login: login, Nobody: true}, nil
	}
	if some, _ := requirementrules.MayOverride(*question, login); !some {
		return reasons.NotLifted{Login: login}, nil
	}
	return nil, nil
}

// ReadRequirementsAgain drops the facts for requirements that the reader has read, such as comments. It will
// read them once more.
func ReadRequirementsAgain(e *Reader) { e.required = nil }
