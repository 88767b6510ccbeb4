package page

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// catalogue is a memory with a repository in which every text is by somebody who wants to do harm.
type catalogue struct {
	*memory
	fault error
}

var harmed = ProjectState{
	Target: "network@default", Name: "network" + harm, Workspace: "staging" + harm, Place: "s3://states/" + harm,
	Last: &LastApply{Pull: 7, By: "alice" + harm, At: time.Unix(60, 0), Serial: 3, Lineage: harm, Applies: 2, Open: true},
	Lock: &Lock{Pull: 8, By: "bob" + harm, Reason: "**because**" + harm, At: time.Unix(60, 0)}, Queue: []Turn{{9, "carol" + harm}},
	Drift: &Drift{Since: time.Unix(60, 0), Issue: 4, URL: "javascript:alert(1)", Failures: 2},
}

func (c catalogue) Repositories(context.Context) ([]RepositoryID, error) {
	return []RepositoryID{{"acme", "infra"}, {"acme" + harm, harm}}, c.fault
}

func (c catalogue) Repository(_ context.Context, id RepositoryID, v View, at int) (Repository, error) {
	if id.Name != "infra" {
		return Repository{}, ErrNotFound
	}
	x := Repository{RepositoryID: id, View: v, At: at, Next: 31}
	switch v {
	case PullsView:
		x.Pulls = []Pull{c.pull}
	case AuditView:
		x.Records = []AuditRecord{{N: 1, At: time.Unix(60, 0), Event: "apply ended" + harm, By: harm, Pull: 7, Project: harm, Target: harm, Head: harm, Plan: harm, Serial: 3, Approved: []string{harm}, Reasons: "**no**" + harm, Outcome: harm}}
	default:
		x.Projects = []ProjectState{harmed}
	}
	return x, c.fault
}

func (c catalogue) Project(_ context.Context, id RepositoryID, target string) (ProjectHistory, error) {
	if target != "network@default" {
		return ProjectHistory{}, ErrNotFound
	}
	x := ProjectHistory{RepositoryID: id, ProjectState: harmed, More: true}
	x.Plans = []ProjectPlan{{c.pull.PullID, c.pull.Projects[0]}}
	r, err := c.Repository(context.Background(), id, AuditView, 0)
	x.Records = r.Records
	return x, err
}

func (c catalogue) Find(context.Context, []string) ([]Match, bool, error) {
	return []Match{{RepositoryID{"acme", "infra"}, harmed}}, true, c.fault
}

func (c catalogue) FindObjects(context.Context, []string) ([]ObjectMatch, bool, error) {
	return []ObjectMatch{{Match{RepositoryID{"acme", "infra"}, harmed}, `aws_vpc.a["<script>"]`}}, true, c.fault
}

// TestRepositoryPagesAreSafe holds for the pages of repositories what TestPagesAreSafe holds for those of pull requests.
func TestRepositoryPagesAreSafe(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: catalogue{memory: newMemory()}})
	const repository = "/acme/infra"
	for path, want := range map[string]string{
		"/": `href="/acme/infra"`, repository: `href="/acme/infra?at=31"`, repository + "?at=31": "Newest", repository + "/view/projects": "s3://states/", repository + "/view/locks": "Queue of applies",
		repository + "/view/drift": "The last 2 looks failed.", repository + "/view/audit": "<strong>no</strong>", repository + "/project/network@default": "Older records", "/search?q=net" + "%22%3E%3Cscript%3E": "There are more.", "/search": "Search",
		"/search?objects&q=vpc": "aws_vpc.a[",
	} {
		a := ask(t, "GET", s.URL+path, nil, nil)
		if a.status != http.StatusOK || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, %q is missing: %s", path, a.status, want, a.body)
		}
		checkSafe(t, path, a)
	}
	for _, path := range []string{"/acme/other", repository + "?at=x", repository + "?at=0", repository + "/view/other", repository + "/project/other", "/acme"} {
		if a := ask(t, "GET", s.URL+path, nil, nil); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// TestRepositoryPagesAreGuarded holds that each page of a repository needs the token, and that a site's refusal is shown.
func TestRepositoryPagesAreGuarded(t *testing.T) {
	t.Parallel()
	s := serve(t, Handler{Site: catalogue{memory: newMemory()}, Door: Access{Token: testToken}})
	refusing := serve(t, Handler{Site: catalogue{newMemory(), &Refusal{Status: http.StatusServiceUnavailable, Notice: "Try again."}}})
	for _, path := range []string{"/", "/acme/infra", "/acme/infra/view/projects", "/acme/infra/view/locks", "/acme/infra/view/drift", "/acme/infra/view/audit", "/acme/infra/project/network@default", "/search?q=net"} {
		if a := ask(t, "GET", s.URL+path, nil, nil); a.status != http.StatusUnauthorized || strings.Contains(a.body, "network") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if a := ask(t, "GET", refusing.URL+path, nil, nil); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "Try again.") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// TestDriftOfAProject holds that the page tells drift from looks that failed. The issue that is open after three failed looks is about
// these, and not about drift.
func TestDriftOfAProject(t *testing.T) {
	t.Parallel()
	for failures, want := range []string{": issue #4", ": issue #4. The last look failed.", ": issue #4. The last 2 looks failed.", "The last 3 looks for drift failed: issue #4"} {
		var b strings.Builder
		x := ProjectState{Drift: &Drift{Since: time.Unix(60, 0), Issue: 4, Failures: failures}}
		if err := pages()["project"].ExecuteTemplate(&b, "drift", map[string]any{"State": x}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.HasSuffix(got, want) || strings.Contains(got, "Differs") != (failures < 3) {
			t.Errorf("%d failures: %q, want %q", failures, got, want)
		}
	}
}
