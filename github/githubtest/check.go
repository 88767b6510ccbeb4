package githubtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// checks has the check runs of a repository.
type checks struct {
	*pulls
	list []*checkRun // oldest first
}

// A Check is a check run as GitHub's pages show it.
type Check struct {
	ID int64
	github.Check
	App string // slug
}

// An app is a GitHub App that makes check runs: the Hub's own App, or another one.
type app struct {
	id   int64
	slug string
}

type checkRun struct {
	id          int64
	app         app
	suite       int64
	shown       github.Check
	text        *string // nil for null
	started, at time.Time
}

// Checks returns the check runs of a commit, oldest first.
func (l *checks) Checks(sha string) []Check {
	defer l.repo.world.lock()()
	var out []Check
	for _, c := range l.list {
		if c.shown.SHA == sha {
			out = append(out, Check{c.id, c.shown, c.app.slug})
		}
	}
	return out
}

// AddCheck makes a check run of another App, and returns its ID.
func (l *checks) AddCheck(slug string, c github.Check) int64 {
	defer l.repo.world.lock()()
	id := int64(1)
	if slug == "github-actions" {
		id = 15368
	}
	run := l.newCheck(app{id, slug}, c)
	l.noteCheck(run)
	if c.Status == github.CheckCompleted {
		l.repo.send("check_run", rest.Object{"check_run": l.eventJSON(run)}, l.repo.world.person(slug+"[bot]"), "completed")
	}
	return run.id
}

// ForgetChecks deletes all check runs, as GitHub does with old ones.
func (l *checks) ForgetChecks() {
	defer l.repo.world.lock()()
	l.list = nil
}

// Rerequest presses the button "Re-run" of a check run.
func (l *checks) Rerequest(who string, id int64) {
	w := l.repo.world
	defer w.lock()()
	c := l.findCheck(id)
	if c == nil {
		panic(fmt.Sprintf("githubtest: %s has no check run %d", l.repo, id))
	}
	w.log.Tick()
	l.repo.send("check_run", rest.Object{"check_run": l.eventJSON(c)}, w.person(who), "rerequested")
}

// Press presses a button of a check run. The check run may have changed since the page was opened.
func (l *checks) Press(who string, id int64, identifier string) {
	w := l.repo.world
	defer w.lock()()
	c := l.findCheck(id)
	if c == nil {
		panic(fmt.Sprintf("githubtest: %s has no check run %d", l.repo, id))
	}
	w.log.Tick()
	payload := rest.Object{"check_run": l.eventJSON(c), "requested_action": rest.Object{"identifier": identifier}}
	l.repo.send("check_run", payload, w.person(who), "requested_action")
}

// RerequestAll presses the button "Re-run all checks" of the App for a commit.
func (l *checks) RerequestAll(who, sha string) {
	w := l.repo.world
	defer w.lock()()
	w.log.Tick()
	l.repo.send("check_suite", rest.Object{"check_suite": l.suiteJSON(l.ownApp(), sha)}, w.person(who), "rerequested")
}

// ownApp returns the Hub's App.
func (l *checks) ownApp() app { return app{l.repo.world.app.ID, l.repo.world.app.Slug} }

func (l *checks) findCheck(id int64) *checkRun {
	return rest.First(l.list, func(c *checkRun) bool { return c.id == id })
}

func (l *checks) newCheck(by app, c github.Check) *checkRun {
	at := l.repo.world.log.Tick()
	run := &checkRun{id: l.repo.world.log.nextID(), app: by, suite: l.suite(by, c.SHA), shown: c, started: at, at: at}
	if c.Text != "" {
		run.text = &run.shown.Text
	}
	l.list = append(l.list, run)
	return run
}

// suite returns the ID of the check suite that an App has at a commit.
func (l *checks) suite(by app, sha string) int64 {
	for _, c := range l.list {
		if c.app == by && c.shown.SHA == sha {
			return c.suite
		}
	}
	return l.repo.world.log.nextID()
}

// heads returns the open pull requests with a commit as their head. It leaves out pull requests from forks, as
// GitHub does in check runs.
func (l *checks) heads(sha string) []*pull {
	return slices.DeleteFunc(slices.Clone(l.pulls.list), func(p *pull) bool { return !p.open || p.from != l.repo || p.headSHA != sha })
}

func (l *checks) noteCheck(c *checkRun) {
	e := Edit{Kind: "check", Who: c.app.slug + "[bot]", Check: c.shown.Name, SHA: c.shown.SHA, Text: string(c.shown.Status)}
	if c.shown.Conclusion != "" {
		e.Text = string(c.shown.Conclusion)
	}
	if c.shown.Title != "" {
		e.Text += ", " + c.shown.Title
	}
	if on := l.heads(c.shown.SHA); len(on) > 0 {
		e.Number = on[0].number
	}
	l.repo.note(e)
}
