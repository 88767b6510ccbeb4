// Package reconcile finds work that was forgotten, and makes the pipeline do it. It finds lost webhooks, heads
// that were never examined, comments without an answer, merges that were not handled, runs whose process died,
// and messages whose repository could not be reached.
//
// All of this is rare: GitHub makes one attempt to deliver a webhook and keeps it for three days, and a queue
// delivers a message again that was not handled. The janitor may act while another process is about to do the
// same. That does no harm, because both use messages and methods of the pipeline that can be repeated.
//
// All decisions are pure ([missed], [dead], [unseen], [ended], [misnamed], [faulty], [untangled], [unanswered],
// [idle]). This package does not know the effects of a message. Start reading at [Janitor.Round].
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/github"
)

// App is the part of the GitHub App that the janitor needs. *github.App implements it.
type App interface {
	Deliveries(ctx context.Context, since time.Time) ([]github.DeliveryInfo, error)
	Delivery(ctx context.Context, id int64) (github.Delivery, error)
	Installations(ctx context.Context) ([]github.Installation, error)
	Repositories(ctx context.Context, installation int64) ([]github.Repo, error)
	// LastChange returns the time of the last change of a repository's pull requests; zero if the repository
	// has no pull requests.
	LastChange(ctx context.Context, installation int64, repo github.Repo) (time.Time, error)
}

// Repository is the part of one repository that the janitor needs. *github.Client implements it.
type Repository interface {
	OpenPulls(ctx context.Context) ([]github.PullRequest, error)
	CommentsSince(ctx context.Context, since time.Time) ([]github.Comment, error)
	// Tip returns the present commit of a branch.
	Tip(ctx context.Context, branch string) (string, error)
	// File returns a file at a commit. The error wraps github.ErrNotFound if the commit does not have it.
	File(ctx context.Context, sha, path string) ([]byte, error)
}

// A Janitor makes rounds. Any number of janitors may make rounds at the same time.
type Janitor struct {
	Pipeline *dispatch.Pipeline
	App      App
	// Connect opens a repository with the rights of an installation.
	Connect func(installation int64, repo github.Repo) (Repository, error)
	// Grace is the time from the certain end of a process until the run of the process is given up. Within that
	// time, the queue normally delivers the message to another process. 0 means 10 minutes.
	Grace time.Duration
}

// Found counts the findings of a round, by kind. The round has acted on all of them.
type Found struct {
	Deliveries int // webhooks that were received only now
	Leases     int // leases of dead processes
	Heads      int // heads that were not looked at
	Closed     int // pull requests whose end was not handled
	Comments   int // comments whose answer was not begun
	States     int // states with open plans that were not checked since the last apply, and projects that the base branch may have again
	Decisions  int // decisions about requirements that may have changed
	Strays     int // messages whose repository is accessible again
}

// Add adds the findings of another round.
func (f *Found) Add(more Found) {
	f.Deliveries += more.Deliveries
	f.Leases += more.Leases
	f.Heads += more.Heads
	f.Closed += more.Closed
	f.Comments += more.Comments
	f.States += more.States
	f.Decisions += more.Decisions
	f.Strays += more.Strays
}

// Round makes one round, at the time now. If one part of the round fails, the other parts still run, and the
// next round repeats the failed part.
func (j *Janitor) Round(ctx context.Context, now time.Time) (Found, error) {
	var f Found
	errs := []error{j.leases(ctx, now, &f), j.deliveries(ctx, now, &f)}
	return f, errors.Join(append(errs, j.repositories(ctx, now, &f)...)...)
}

// A place is a repository with the installation that can access it.
type place struct {
	installation int64
	repo         github.Repo
}

// repositories handles all repositories for which there is time. The next round begins after the last
// repository that was handled.
func (j *Janitor) repositories(ctx context.Context, now time.Time, f *Found) []error {
	const key = "round/repository"
	last, err := j.Pipeline.Records.Get(ctx, key)
	if err != nil {
		return []error{err}
	}
	all, errs := j.places(ctx)
	errs = append(errs, j.strays(ctx, all, now, f))
	for _, p := range behind(all, string(last.Value), place.String) {
		if err := ctx.Err(); err != nil {
			return append(errs, err)
		}
		if err := j.repository(ctx, p.installation, p.repo, now, f); err != nil {
			errs = append(errs, fmt.Errorf("look after %s: %w", p.repo, err))
		}
		version, err := j.Pipeline.Records.Put(ctx, key, []byte(p.String()), last.Version)
		switch {
		case err == nil:
			last.Version = version
		case !errors.Is(err, pipeline.ErrConflict): // Another janitor has recorded another place. The next round may begin there as well.
			errs = append(errs, err)
		}
	}
	return errs
}

// places returns the repositories that the App can access and that Lockstep works for. Nothing is read from
// other repositories.
func (j *Janitor) places(ctx context.Context) (all []place, errs []error) {
	installed, err := j.App.Installations(ctx)
	errs = append(errs, err)
	for _, i := range installed {
		if i.Suspended || !j.Pipeline.Serves.NamesOwner(i.Account) {
			continue
		}
		repos, err := j.App.Repositories(ctx, i.ID)
		errs = append(errs, err)
		for _, r := range repos {
			service, err := j.Pipeline.Intake().Served(ctx, r)
			if errs = append(errs, err); err == nil && service.Allowed() {
				all = append(all, place{i.ID, r})
			}
		}
	}
	return all, errs
}

// String names the place by IDs, which do not change when the repository's name changes.
func (p place) String() string { return fmt.Sprintf("%d/%d", p.installation, p.repo.ID) }

// strays sends undeliverable messages again if their repository is among places.
func (j *Janitor) strays(ctx context.Context, places []place, now time.Time, f *Found) error {
	all, err := ledger.Undeliverables(ctx, j.Pipeline.Ledger())
	errs := []error{err}
	for _, m := range all {
		i := slices.IndexFunc(places, func(p place) bool { return p.repo.ID == m.Pull.Repo.ID })
		if i < 0 {
			continue
		}
		m.Pull.Installation, m.Pull.Repo = places[i].installation, places[i].repo
		err := j.Pipeline.Resend(ctx, m, now)
		if err == nil {
			f.Strays++
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// leases finds the leases of dead processes. It sends messages to continue the applies of these processes, and
// gives up the other work of these processes.
func (j *Janitor) leases(ctx context.Context, now time.Time, f *Found) error {
	grace := j.Grace
	if grace == 0 {
		grace = 10 * time.Minute
	}
	all, err := j.Pipeline.Ledger().Leases(ctx)
	errs := []error{err}
	for _, l := range dead(all, now.Add(-grace)) {
		err := j.Pipeline.Revive(ctx, l, now)
		if err == nil {
			f.Leases++
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// deliveries receives the lost webhooks. A webhook that cannot be read is reported, because another attempt
// would not help. Such a webhook does not stop the others.
func (j *Janitor) deliveries(ctx context.Context, now time.Time, f *Found) error {
	c, err := j.cursor(ctx, "round/deliveries", now)
	if err != nil {
		return err
	}
	list, err := j.App.Deliveries(ctx, c.since)
	if err != nil {
		return err
	}
	var odd, errs []error
	for _, d := range missed(list) {
		received, err := j.receive(ctx, d)
		switch {
		case errors.Is(err, github.ErrPayload):
			odd = append(odd, err)
		case err != nil:
			errs = append(errs, err)
		case received:
			f.Deliveries++
		}
	}
	if len(errs) == 0 {
		errs = append(errs, j.moveCursor(ctx, c, now.Add(-overlap)))
	}
	return errors.Join(append(odd, errs...)...)
}

// receive receives a lost webhook, unless it was received meanwhile.
func (j *Janitor) receive(ctx context.Context, d github.DeliveryInfo) (bool, error) {
	have, err := j.Pipeline.Intake().Received(ctx, d.GUID)
	if err != nil || have {
		return false, err
	}
	full, err := j.App.Delivery(ctx, d.ID)
	if err != nil {
		return false, err
	}
	said, err := j.Pipeline.Intake().Receive(ctx, full)
	return said == intake.Accepted, err
}

// repository examines the open pull requests and the new comments of a repository, unless the repository is
// idle. It always examines merged pull requests with waiting plans.
func (j *Janitor) repository(ctx context.Context, installation int64, repo github.Repo, now time.Time, f *Found) error {
	if err := j.late(ctx, installation, repo, now, f); err != nil {
		return err
	}
	if err := j.drift(ctx, pipeline.Pull{Installation: installation, Repo: repo}, now); err != nil {
		return err
	}
	q, err := j.quiet(ctx, place{installation, repo})
	if err != nil || q.still() {
		return err
	}
	open, err := j.look(ctx, installation, repo, q, now, f)
	if err != nil {
		return err
	}
	return j.keepQuiet(ctx, q, open, now)
}

// look examines a repository. It returns the number of open pull requests, including those whose end it has
// just found.
func (j *Janitor) look(ctx context.Context, installation int64, repo github.Repo, q silence, now time.Time, f *Found) (int, error) {
	hub, err := j.Connect(installation, repo)
	if err != nil {
		return 0, err
	}
	pull := func(n int) pipeline.Pull { return pipeline.Pull{Installation: installation, Repo: repo, Number: n} }
	open, err := hub.OpenPulls(ctx)
	if err != nil {
		return 0, err
	}
	states := map[string]runs.Run{}
	tips := tips{hub: hub}
	var over []pipeline.Watch
	for _, p := range open {
		s, err := j.states(ctx, pull(p.Number), p, states)
		if err != nil {
			return 0, err
		}
		if err := j.head(ctx, pull(p.Number), p, s, &tips, f); err != nil {
			return 0, err
		}
		if err := j.back(ctx, p, s.gone, &tips, f); err != nil {
			return 0, err
		}
		if over, err = j.watched(ctx, pull(p.Number), p, s, &tips, now, over); err != nil {
			return 0, err
		}
	}
	if err := j.decideAgain(ctx, over, now, f); err != nil {
		return 0, err
	}
	if err := j.recheck(ctx, states, now, f); err != nil {
		return 0, err
	}
	ended, err := j.ends(ctx, open, pull, idle(len(open), q.changed, now), now, f)
	if err != nil {
		return 0, err
	}
	return len(open) + ended, j.comments(ctx, hub, pull, now, f)
}
