package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withdrawn has the requests that GitHub refuses without some permissions.
//
// Source: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
const withdrawn = `
members
  GET /orgs/acme/teams/sre
  GET /orgs/acme/teams/sre/memberships/ann
statuses
  GET /repos/acme/infra/commits/main/status
checks
  GET /repos/acme/infra/commits/main/check-runs
  PATCH /repos/acme/infra/check-runs/1
  POST /repos/acme/infra/check-runs
contents
  GET /repos/acme/infra/branches/main
  GET /repos/acme/infra/compare/main...one
  GET /repos/acme/infra/contents/a
  GET /repos/acme/infra/git/commits/HEAD
  GET /repos/acme/infra/git/ref/heads/main
  GET /repos/acme/infra/tarball/main
metadata
  GET /installation/repositories
  GET /repos/acme/infra/collaborators/ann/permission
  GET /repos/acme/infra/rules/branches/main
issues
  POST /repos/acme/infra/issues/comments/1/reactions
pull_requests
  GET /repos/acme/infra/pulls
  GET /repos/acme/infra/pulls/1
  GET /repos/acme/infra/pulls/1/commits
  GET /repos/acme/infra/pulls/1/files
  GET /repos/acme/infra/pulls/1/reviews
  POST /graphql
issues pull_requests
  DELETE /repos/acme/infra/issues/comments/1
  GET /repos/acme/infra/issues/1/comments
  GET /repos/acme/infra/issues/1/events
  GET /repos/acme/infra/issues/comments
  PATCH /repos/acme/infra/issues/comments/1
  POST /repos/acme/infra/issues/1/comments
`

// TestPermissions holds that each request needs its permission, and no other.
func TestPermissions(t *testing.T) {
	requests := map[string][]string{} // by permissions
	var names []string
	for line := range strings.Lines(withdrawn[1:]) {
		line = strings.TrimRight(line, "\n")
		if r, ok := strings.CutPrefix(line, "  "); ok {
			last := names[len(names)-1]
			requests[last] = append(requests[last], r)
			continue
		}
		names = append(names, line)
	}
	for _, name := range names {
		h := New(Options{})
		r := h.AddRepository("acme", "infra", Files{"a": "1"})
		r.Push("ann", "one", "One", Files{"a": "2"})
		r.OpenPull("ann", "One", "one")
		h.SetTeam("acme", "sre", "ann")
		a := newAsker(t, h)
		token := a.installation(t, r, "{}")
		h.Withdraw(strings.Fields(name)...)
		var want, got []string
		for _, one := range names {
			for _, request := range requests[one] {
				method, path, _ := strings.Cut(request, " ")
				status, text := a.ask(t, method, path, token, `{"variables":{"owner":"acme","name":"infra","number":1}}`)
				if refused := strings.Contains(text, "Resource not accessible by integration"); refused {
					got = append(got, request)
				} else if status == http.StatusUnauthorized || strings.HasPrefix(path, "/orgs") && status != http.StatusOK {
					t.Errorf("%s: %d %s", request, status, text)
				}
				if subset(strings.Fields(one), strings.Fields(name)) {
					want = append(want, request)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("without %s: %s", name, diff)
		}
	}
	if len(requests) != 8 {
		t.Errorf("the table has %d paragraphs", len(requests))
	}
}

func subset(a, of []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(of, x) })
}
