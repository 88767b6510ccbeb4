package integrations

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

// A Teller sends the notifications of one pull request.
type Teller struct {
	Facts  *gatefacts.Reader
	Ledger ledger.Ledger
	// Notify delivers one notification. If it is nil, none are sent.
	Notify jobs.NotifyFunc
	// Log is called with an error for each notification that was not delivered. It may be nil.
	Log func(error)
}

// A news is the result of a run, with the notifications that must report it.
type news struct {
	jobs.Happened
	key, name string
	of        []jobs.Notice
}

// Tell sends the notifications about results that were not reported before.
func (t Teller) Tell(ctx context.Context) error {
	if t.Notify == nil {
		return nil
	}
	all, err := t.news(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	pull := t.Facts.Message.Pull
	outcomes := reported[string]{t.Ledger, fmt.Sprintf("told/%d/%d", pull.Repo.ID, pull.Number)}
	told, err := outcomes.last(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(n news) bool { return told[n.key] == n.name })
	if len(all) == 0 {
		return nil
	}
	t.deliver(ctx, all)
	if ctx.Err() != nil {
		return context.Cause(ctx) // perhaps nobody was informed
	}
	now := map[string]string{}
	for _, n := range all {
		now[n.key] = n.name
	}
	return outcomes.keep(ctx, now)
}

// TellOf sends the notifications about one result that belongs to no pull request. url is for people. The caller records
// that it was reported.
func (t Teller) TellOf(ctx context.Context, h jobs.Happened, url string) error {
	if t.Notify == nil {
		return nil
	}
	of, err := gatefacts.Notifications(ctx, t.Facts, h)
	if err != nil {
		return fmt.Errorf("read the notifications of %s: %w", h.Run.Project, err)
	}
	n := news{Happened: h}
	for _, x := range of {
		n.of = append(n.of, jobs.Notice{Notification: x, URL: url})
	}
	t.deliver(ctx, []news{n})
	return context.Cause(ctx)
}

// news returns those results of the pull request's runs that must be reported now.
func (t Teller) news(ctx context.Context) (out []news, err error) {
	all, err := t.Ledger.Runs(ctx, t.Facts.Message.Pull)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		r.Pull = t.Facts.Message.Pull // the record has the repository's name at the time of the plan
		h, name := jobs.OutcomeOf(r.Run)
		if name == "" {
			continue
		}
		of, err := gatefacts.Notifications(ctx, t.Facts, h)
		if err != nil {
			return nil, fmt.Errorf("read the notifications of %s: %w", r.Project, err)
		}
		n := news{Happened: h, key: r.Key(), name: name}
		for _, x := range of {
			n.of = append(n.of, jobs.Notice{Notification: x, URL: t.Facts.Pull.URL})
		}
		if len(n.of) > 0 {
			out = append(out, n)
		}
	}
	return out, nil
}

// deliver delivers notifications, all at the same time. All results for the same notification are sent as one
// message.
func (t Teller) deliver(ctx context.Context, all []news) {
	var notices []jobs.Notice
	for _, n := range all {
		for _, x := range n.of {
			i := slices.IndexFunc(notices, func(y jobs.Notice) bool {
				return y.Notification.Name == x.Notification.Name && y.Notification.Endpoint == x.Notification.Endpoint
			})
			if i < 0 {
				i, notices = len(notices), append(notices, x)
			}
			notices[i].Happened = append(notices[i].Happened, n.Happened)
		}
	}
	var calls sync.WaitGroup
	for _, n := range notices {
		calls.Go(func() {
			if err := t.Notify(ctx, n); err != nil && t.Log != nil {
				t.Log(fmt.Errorf("%s#%d: %w", t.Facts.Message.Pull.Repo, t.Facts.Message.Pull.Number, err))
			}
		})
	}
	calls.Wait()
}
