package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ratelimits"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/report"
	"github.com/lockstep-iac/lockstep/github"
)

// admit decides whether the commands of a message are carried out. A person may write only a limited number of comments
// with commands on a pull request. The first comment above the limit gets an answer; later ones get only a reaction. In a
// public repository, a person without write access gets only a limited number of answers, and no reaction.
func (co *commands) admit(ctx context.Context) (bool, error) {
	asked := ratelimits.Asked{ID: co.Facts.Message.ID, At: co.Facts.Message.At}
	if asked.At.IsZero() { // a command from a button
		asked.At = co.Facts.Pull.Updated
	}
	m := co.Facts.Message
	if !co.Facts.Writes() && !co.Facts.Reads() {
		if err := co.rememberStranger(ctx, asked); err != nil {
			return false, err
		}
		for _, x := range co.strangersMay() {
			if _, what, err := co.pace(ctx, x.number, strangers, asked, x.most); err != nil || what != ratelimits.Admitted {
				return false, err
			}
		}
	}
	most := cmp.Or(co.MaxCommands, ratelimits.MaxCommands)
	p, what, err := co.pace(ctx, m.Pull.Number, m.Actor, asked, most)
	switch {
	case err != nil:
		return false, err
	case what == ratelimits.Admitted:
		return true, nil
	case what == ratelimits.Ignored:
		return false, co.Report.React(ctx, co.Facts.Message.Comment, github.Confused)
	}
	told, err := co.answerOnce(ctx, comment.TooMany{By: co.Facts.Message.Actor, Most: most, Free: p.Free()})
	if err != nil {
		return false, err
	}
	if len(told) == 0 {
		return false, co.Report.React(ctx, co.Facts.Message.Comment, github.Confused)
	}
	if err := co.Report.Reply(ctx, report.AnswerTo(co.Facts.Message), report.NewReply("too many", told[0])); err != nil {
		return false, err
	}
	return false, co.Report.Sync(ctx)
}

// strangers is used instead of a login, to count all people without write access together. No login contains
// "=".
const strangers = "="

// strangersPace limits the answers to comments by people without write access: at most most answers in an hour.
// number is the pull request; 0 means the whole repository.
type strangersPace struct{ number, most int }

func (co *commands) strangersMay() []strangersPace {
	return []strangersPace{
		{co.Facts.Message.Pull.Number, cmp.Or(co.MaxStrangers, ratelimits.MaxStrangers)},
		{0, max(co.MaxStrangers, ratelimits.MaxStrangersHere)},
	}
}

// paceKey returns the key of the record that counts the comments of a login. number is the pull request; 0
// means the whole repository.
func (co *commands) paceKey(number int, login string) string {
	return fmt.Sprintf("pace/%d/%d/%s", co.Facts.Message.Pull.Repo.ID, number, url.PathEscape(login))
}

// pace counts a comment of a user, and decides whether its commands are carried out, refused with an answer, or
// ignored. limit is the number of comments that are allowed in an hour.
func (co *commands) pace(ctx context.Context, number int, login string, asked ratelimits.Asked, limit int) (p ratelimits.Pace, what ratelimits.Admission, err error) {
	err = ledger.Edit(ctx, co.Ledger, co.paceKey(number, login), func(had *ratelimits.Pace) *ratelimits.Pace {
		p, what = cmp.Or(had, &ratelimits.Pace{}).Next(asked, limit)
		return &p
	})
	return p, what, err
}

// rememberStranger records that the author of the comment has no write access, with the time of the comment.
func (co *commands) rememberStranger(ctx context.Context, asked ratelimits.Asked) error {
	_, err := co.Ledger.Change(ctx, co.paceKey(0, co.Facts.Message.Actor), func([]byte) ([]byte, error) { return pipeline.Encode(asked.At), nil })
	return err
}

// isIgnoredStranger reports whether to ignore a comment. That is so if Lockstep has found a short time ago
// that the author has no write access, and has answered enough comments of such people for now. The decision
// needs no request to GitHub.
func (co *commands) isIgnoredStranger(ctx context.Context) (bool, error) {
	asked := ratelimits.Asked{ID: co.Facts.Message.ID, At: co.Facts.Message.At}
	found, err := ledger.Get[time.Time](ctx, co.Ledger, co.paceKey(0, co.Facts.Message.Actor))
	if err != nil || asked.At.IsZero() || asked.At.Sub(found) >= ratelimits.StrangerFor {
		return false, err
	}
	for _, x := range co.strangersMay() {
		p, err := ledger.Get[ratelimits.Pace](ctx, co.Ledger, co.paceKey(x.number, strangers))
		if err != nil {
			return false, err
		}
		if _, what := p.Next(asked, x.most); what != ratelimits.Admitted {
			return true, nil
		}
	}
	return false, nil
}

// forgotten reports whether a comment is too old to be handled. That is so if the pull request was changed more
// than [pipeline.Memory] after the comment was written, both by GitHub's clock. A comment without a time is
// never too old.
func forgotten(written, changed time.Time) bool {
	return !written.IsZero() && changed.Sub(written) > pipeline.Memory
}
