package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
)

// silent reports whether all projects of the base branch are in shadow mode. Nobody then gets an answer, because another
// tool reads the comments. If the comment may have a plan of that tool, the plans are compared soon. But the button
// "Re-run" of the check does plan once more.
func (co *commands) silent(ctx context.Context) (bool, error) {
	s, err := gatefacts.SettingsNow(ctx, co.Facts)
	if absent, err := gatefacts.Absent(ctx, co.Facts, err); err != nil || absent {
		_, err = gatefacts.FinalRefusal(err)
		return false, err
	}
	m := co.Facts.Message
	if !s.OnlyShadows() {
		return false, co.speakAgain(ctx, s.ShadowsSome())
	}
	if m.Head != "" && co.Facts.Writes() {
		return true, co.Plans.Push(ctx)
	}
	return true, co.compareSoon(ctx)
}

// speakAgain removes the record that the pull request was in shadow mode, once the base branch has ended that mode. The
// next plan finds out which of the pull request's projects are still in shadow mode. some is set if any project is.
func (co *commands) speakAgain(ctx context.Context, some bool) error {
	l, err := co.Ledger.LastLook(ctx, co.Facts.Message.Pull)
	if err != nil || !l.Silent && (len(l.Shadow) == 0 || some) {
		return err
	}
	return co.Ledger.ChangeLook(ctx, co.Facts.Message.Pull, func(l *ledger.Look) { l.Silent, l.Shadow = false, nil })
}

// compareSoon sends a message to compare plans in shadow mode, if the pull request has any.
func (co *commands) compareSoon(ctx context.Context) error {
	m := co.Facts.Message
	l, err := co.Ledger.LastLook(ctx, m.Pull)
	if err != nil || len(l.Shadow) == 0 {
		return err
	}
	return pipeline.Send(ctx, co.Queue, m.Pull, pipeline.Message{Kind: pipeline.Told, At: time.Now().UTC()}, m.ID)
}

// inShadow returns the refusal of a command that names projects in shadow mode; nil if it names none.
func inShadow(l ledger.Look, c comment.Command) []comment.Reply {
	if c.Everything() {
		return nil
	}
	var no reasons.List
	for _, p := range l.Shadow {
		if c.Selects(p.Project, p.Dir, p.Workspace) && len(no) < 5 {
			no = append(no, reasons.InShadow{Project: p.Project})
		}
	}
	if len(no) == 0 {
		return nil
	}
	no = slices.Compact(no)
	return []comment.Reply{gatefacts.Refused(c, "", admission.Decision{Reasons: no})}
}
