package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/openplans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
)

// head sends a message to examine the head of an open pull request in these cases:
//
//   - The head was never examined.
//   - The last look found a conflict, and the base branch has moved since.
//   - The last look found errors, and the base branch has other settings now.
//   - The settings name the base branch now, or no longer name it.
//
// Until the look is finished, each round sends the same message ID.
func (j *Janitor) head(ctx context.Context, pull pipeline.Pull, p github.PullRequest, s standing, tips *tips, f *Found) error {
	id, err := idOf(ctx, pull, p, s, tips)
	if err != nil || id == "" {
		return err
	}
	if err := j.Pipeline.Queue.Send(ctx, pipeline.Message{ID: id, Kind: pipeline.Pushed, Pull: pull, Action: "synchronize", Found: true}); err != nil {
		return err
	}
	f.Heads++
	return nil
}

// idOf returns the ID of the message to examine a head; "" if no look is needed.
func idOf(ctx context.Context, pull pipeline.Pull, p github.PullRequest, s standing, tips *tips) (string, error) {
	seen := s.seen
	id := fmt.Sprintf("head-%d-%d-%.12s-%.12s", pull.Repo.ID, p.Number, seen.Head, p.Head.SHA)
	if !unseen(p, seen) {
		tip, err := tips.baseTip(ctx, p, seen)
		if err != nil {
			return "", err
		}
		named, by, err := tips.named(ctx, p)
		if err != nil {
			return "", err
		}
		base, mended, err := tips.mended(ctx, p, seen)
		if err != nil {
			return "", err
		}
		switch {
		case untangled(seen, tip):
			id += fmt.Sprintf("-%.12s", tip)
		case misnamed(seen, named, s.open || s.applied && seen.Refused == ""):
			id += fmt.Sprintf("-named-%.12s", by)
		case mended:
			id += fmt.Sprintf("-settings-%.12s", base)
		default:
			return "", nil
		}
	} else if seen.Head == p.Head.SHA { // reopened or retargeted, which may happen again
		id += fmt.Sprintf("-%d", p.Updated.Unix())
	}
	return id, nil
}

// back sends messages to check the runs in gone. The base branch has moved, so it may have the projects of
// these runs again.
func (j *Janitor) back(ctx context.Context, pull github.PullRequest, gone []runs.Run, tips *tips, f *Found) error {
	for _, r := range gone {
		tip, err := tips.read(ctx, pull)
		if err != nil {
			return err
		}
		if r.End.GoneAt == tip {
			continue
		}
		if err := (openplans.Finder{Ledger: j.Pipeline.Ledger(), Queue: j.Pipeline.Queue}).CheckGone(ctx, r, tip); err != nil {
			return err
		}
		f.States++
	}
	return nil
}

// tips reads the present commits of base branches and the settings of these commits. It reads each only once.
type tips struct {
	hub      Repository
	known    map[string]string
	settings map[string]settings // by commit
}

// settings are the settings of a commit and the hash of their text.
type settings struct {
	*project.Settings
	text string
}

// baseTip returns the present commit of the base branch of a pull request whose head conflicts with it. For
// other pull requests it returns the base commit of the last look, which costs no request. GitHub's list of
// pull requests cannot be used: it has the base commit of the last push.
func (t *tips) baseTip(ctx context.Context, p github.PullRequest, seen ledger.Look) (string, error) {
	if !seen.Conflict || p.Base.Ref == "" {
		return seen.Base, nil
	}
	return t.read(ctx, p)
}

// read returns the present commit of a pull request's base branch, from GitHub.
func (t *tips) read(ctx context.Context, p github.PullRequest) (string, error) {
	return t.branch(ctx, p.Base.Ref)
}

func (t *tips) branch(ctx context.Context, name string) (string, error) {
	if tip, ok := t.known[name]; ok {
		return tip, nil
	}
	tip, err := t.hub.Tip(ctx, name)
	if err != nil {
		return "", err
	}
	if t.known == nil {
		t.known = map[string]string{}
	}
	t.known[name] = tip
	return tip, nil
}

// at returns the settings of a branch, and the commit that has them.
func (t *tips) at(ctx context.Context, branch string) (s settings, tip string, err error) {
	if tip, err = t.branch(ctx, branch); err != nil {
		return s, "", err
	}
	if s, ok := t.settings[tip]; ok {
		return s, tip, nil
	}
	if s.Settings, s.text, err = gatefacts.SettingsIn(ctx, t.hub, tip); err != nil {
		return s, "", err
	}
	if t.settings == nil {
		t.settings = map[string]settings{}
	}
	t.settings[tip] = s
	return s, tip, nil
}

// named reports whether the settings of the default branch name the base branch of a pull request. The result
// by is the commit with the settings; "" if the base is the default branch.
func (t *tips) named(ctx context.Context, p github.PullRequest) (named bool, by string, err error) {
	if p.DefaultBranch == "" || p.Base.Ref == p.DefaultBranch {
		return true, "", nil
	}
	s, tip, err := t.at(ctx, p.DefaultBranch)
	return s.Names(p.Base.Ref), tip, err
}

// mended reports whether the errors that a look has found are perhaps fixed, because the base branch has
// other settings now. base is the commit with those settings. A look without errors costs no request.
func (t *tips) mended(ctx context.Context, p github.PullRequest, seen ledger.Look) (base string, mended bool, err error) {
	if !faulty(seen) {
		return "", false, nil
	}
	s, tip, err := t.at(ctx, p.Base.Ref)
	return tip, s.text != seen.Settings, err
}

// maxDecisions is the maximum number of pull requests of a repository for which one round causes new decisions.
// Each decision costs some requests to GitHub.
const maxDecisions = 10

// watched appends the watch of an open pull request to the list over, if the decision about its requirements
// may have changed. GitHub sends no webhook when a freeze ends, when settings have changed, or when somebody
// has lost a right. A pull request without requirements has no watch. Only other settings can change the
// decision about it.
func (j *Janitor) watched(ctx context.Context, p pipeline.Pull, pull github.PullRequest, s standing, tips *tips, now time.Time, over []pipeline.Watch) ([]pipeline.Watch, error) {
	rec, err := j.Pipeline.Records.Get(ctx, pipeline.Watch{Pull: p, Head: pull.Head.SHA}.Key())
	if err != nil {
		return over, err
	}
	if rec.Version == "" {
		return resettled(ctx, p, pull, s, tips, over)
	}
	w, err := pipeline.DecodeWatch(rec)
	if err != nil {
		return over, err
	}
	tip, err := tips.read(ctx, pull)
	if err != nil {
		return over, err
	}
	if w.Due(now, tip) {
		w.Pull, w.Base = p, tip
		over = append(over, w)
	}
	return over, nil
}

// late sends messages about waiting plans of merged pull requests, if the decision about a plan may have
// changed. The handler of the message decides again.
func (j *Janitor) late(ctx context.Context, installation int64, repo github.Repo, now time.Time, f *Found) error {
	all, err := j.Pipeline.Records.List(ctx, pipeline.LateDir(repo.ID))
	if err != nil {
		return err
	}
	var over []pipeline.Watch
	for _, rec := range all {
		w, err := pipeline.DecodeWatch(rec)
		if err != nil {
			return err
		}
		if w.Due(now, w.Base) {
			w.Pull = pipeline.Pull{Installation: installation, Repo: repo, Number: w.Pull.Number}
			over = append(over, w)
		}
	}
	return j.decideAgain(ctx, over, now, f)
}

// resettled appends a new watch to the list over, for an open pull request that has no watch. It does so if the
// pull request's plans were shown with settings that the base branch no longer has.
func resettled(ctx context.Context, p pipeline.Pull, pull github.PullRequest, s standing, tips *tips, over []pipeline.Watch) ([]pipeline.Watch, error) {
	l := s.seen
	if !s.waits || l.Head != pull.Head.SHA || l.Into != pull.Base.Ref || l.Refused != "" || l.Asked || l.Closed {
		return over, nil // Either the head will be examined anyway, or nothing of it is planned.
	}
	now, tip, err := tips.at(ctx, pull.Base.Ref)
	if err == nil && now.text != s.seen.Settings {
		over = append(over, pipeline.Watch{Pull: p, Head: s.seen.Head, Base: tip})
	}
	return over, err
}

// decideAgain sends messages to update the comments and checks of the watched pull requests. Each round sends
// messages for some of these pull requests, in turn.
func (j *Janitor) decideAgain(ctx context.Context, over []pipeline.Watch, now time.Time, f *Found) error {
	for _, w := range inTurn(over, maxDecisions, now) {
		if err := j.Pipeline.Queue.Send(ctx, pipeline.Decide(w, now)); err != nil {
			return err
		}
		f.Decisions++
	}
	return nil
}
