package githubtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/github"
)

// A Check is a check run as people see it.
type Check struct {
	ID int64
	github.Check
	App string // slug of whose it is
}

type checkRun struct {
	id          int64
	app         app
	suite       int64
	says        github.Check
	text        *string // null where there is none
	started, at time.Time
}

// Checks returns the check runs of a commit, oldest first.
func (r *Repository) Checks(sha string) []Check {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	var out []Check
	for _, c := range r.checks {
		if c.says.SHA == sha {
			out = append(out, Check{c.id, c.says, c.app.slug})
		}
	}
	return out
}

// AddCheck makes a check run of somebody else's App, and returns its ID.
func (r *Repository) AddCheck(slug string, c github.Check) int64 {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	run := r.newCheck(app{1, slug}, c)
	r.noteCheck(run)
	return run.id
}

// ForgetChecks deletes all check runs, as GitHub does with old ones.
func (r *Repository) ForgetChecks() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.checks = nil
}

// Rerequest asks for a check run to be made again, by its button of that name.
func (r *Repository) Rerequest(who string, id int64) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	c := r.findCheck(id)
	if c == nil {
		panic(fmt.Sprintf("githubtest: %s has no check run %d", r, id))
	}
	h.tick()
	r.send("check_run", object{"check_run": h.checkEventJSON(r, c)}, h.person(who), "rerequested")
}

// RerequestAll asks for all check runs of the App at a commit to be made again.
func (r *Repository) RerequestAll(who, sha string) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tick()
	r.send("check_suite", object{"check_suite": h.suiteJSON(r, h.ownApp(), sha)}, h.person(who), "rerequested")
}

func (r *Repository) findCheck(id int64) *checkRun {
	for _, c := range r.checks {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (r *Repository) newCheck(by app, c github.Check) *checkRun {
	at := r.hub.tick()
	run := &checkRun{id: r.hub.nextID(), app: by, suite: r.suite(by, c.SHA), says: c, started: at, at: at}
	if c.Text != "" {
		run.text = &run.says.Text
	}
	r.checks = append(r.checks, run)
	return run
}

// suite returns the ID of the check suite that an App has at a commit.
func (r *Repository) suite(by app, sha string) int64 {
	for _, c := range r.checks {
		if c.app == by && c.says.SHA == sha {
			return c.suite
		}
	}
	return r.hub.nextID()
}

// heads returns the open pull requests that have a commit as their head, but those from
// forks, of which GitHub says nothing.
func (r *Repository) heads(sha string) []*pull {
	return slices.DeleteFunc(slices.Clone(r.pulls), func(p *pull) bool { return !p.open || p.from != r || p.headSHA != sha })
}

func (r *Repository) noteCheck(c *checkRun) {
	e := Edit{Kind: "check", Repo: r.String(), Who: c.app.slug + "[bot]", Check: c.says.Name, SHA: c.says.SHA, Text: string(c.says.Status)}
	if c.says.Conclusion != "" {
		e.Text = string(c.says.Conclusion)
	}
	if c.says.Title != "" {
		e.Text += ", " + c.says.Title
	}
	if on := r.heads(c.says.SHA); len(on) > 0 {
		e.Number = on[0].number
	}
	r.hub.note(e)
}
