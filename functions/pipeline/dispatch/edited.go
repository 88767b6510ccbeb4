package dispatch

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/admission"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/github"
)

// verifyWritten reads a comment or review from GitHub, before the decisive commands in it are carried out. A
// person who knows the webhook secret can sign a text that nobody has written, with any time. verifyWritten
// reports whether the text exists on this pull request, unedited, with the same author and the same commands.
// It sets the message's time to that on GitHub. It does not check a button, because GitHub reports buttons only
// by webhooks.
func (co *commands) verifyWritten(ctx context.Context) (bool, error) {
	m := &co.Facts.Message
	if !slices.ContainsFunc(m.Lines, func(l grammar.Line) bool { return l.Command.Verb.Decisive() }) || m.Source().IsZero() && m.At.IsZero() {
		return true, nil
	}
	if m.Source().IsZero() { // the message is about a review, and an earlier version of Lockstep has sent it
		return false, nil
	}
	now, err := co.Facts.Hub.Written(ctx, m.Pull.Number, m.Source())
	if errors.Is(err, github.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	same := bytes.Equal(pipeline.Encode(intake.CommandsIn(now.Body, pipeline.IsBot(now.Author))), pipeline.Encode(m.Lines))
	m.At = now.At
	return same && now.Author == m.Actor && !now.Edited, nil
}

// answerNotAsWritten answers commands whose text on GitHub differs from that in the webhook. unread is the
// error of reading the text from GitHub: if it is not nil, answerNotAsWritten answers nothing.
func (co *commands) answerNotAsWritten(ctx context.Context, name string, unread error) error {
	if unread != nil {
		return nil
	}
	at := slices.IndexFunc(co.Facts.Message.Lines, func(l grammar.Line) bool { return l.Command.Verb.Decisive() })
	told, err := co.answerOnce(ctx, gatefacts.Refused(co.Facts.Message.Lines[at].Command, "", admission.Refusal(reasons.NotAsWritten{})))
	if err != nil || len(told) == 0 {
		return err
	}
	if err := co.Report.Reply(ctx, name, report.NewReply("as written", told[0])); err != nil {
		return err
	}
	return co.Report.Sync(ctx)
}
