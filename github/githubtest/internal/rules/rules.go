// Package rules has the answers of GitHub's API about the rules of a branch. It refuses to know who holds them. Start at
// [Required].
package rules

import (
	"time"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Required check is one that has to pass before a merge. App is the ID of the App that has to report it; 0 is any.
type Required struct {
	Name string
	App  int64
}

// Protection is the protection of a branch with required checks.
func Protection(all []Required) rest.Object {
	contexts, checks := []any{}, []any{}
	for _, x := range all {
		contexts = append(contexts, x.Name)
		checks = append(checks, rest.Object{"context": x.Name, "app_id": orNull(x.App)})
	}
	return rest.Object{
		"enabled":                len(contexts) > 0,
		"required_status_checks": rest.Object{"enforcement_level": "everyone", "contexts": contexts, "checks": checks},
	}
}

func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// Ruleset are the rules for a branch of a repository by a ruleset with required checks; none if there are none.
func Ruleset(repository string, all []Required) []any {
	if len(all) == 0 {
		return []any{}
	}
	want := []any{}
	for _, x := range all {
		o := rest.Object{"context": x.Name}
		if x.App != 0 {
			o["integration_id"] = x.App
		}
		want = append(want, o)
	}
	rule := func(kind string) rest.Object {
		return rest.Object{"type": kind, "ruleset_source_type": "Repository", "ruleset_source": repository, "ruleset_id": 42}
	}
	checks := rule("required_status_checks")
	checks["parameters"] = rest.Object{"required_status_checks": want, "strict_required_status_checks_policy": false}
	reviews := rule("pull_request")
	reviews["parameters"] = rest.Object{
		"dismiss_stale_reviews_on_push": false, "require_code_owner_review": false, "require_last_push_approval": false,
		"required_approving_review_count": 0, "required_review_thread_resolution": true,
	}
	return []any{rule("required_signatures"), reviews, checks}
}

// A Status is a commit status.
type Status struct {
	ID                  int64
	SHA, Context, State string
}

// Latest are the statuses of a commit that was made at a time, the latest of each context.
func Latest(all []Status, sha string, at time.Time) []any {
	latest := map[string]Status{}
	var order []string
	for _, s := range all {
		if s.SHA != sha {
			continue
		}
		if _, seen := latest[s.Context]; !seen {
			order = append(order, s.Context)
		}
		latest[s.Context] = s
	}
	list := []any{}
	for _, name := range order {
		s := latest[name]
		list = append(list, rest.Object{
			"id": s.ID, "node_id": rest.NodeID("StatusContext", s.ID), "url": rest.APIURL + "statuses", "state": s.State, "context": s.Context,
			"description": nil, "target_url": nil, "avatar_url": nil, "created_at": rest.Stamp(at), "updated_at": rest.Stamp(at),
		})
	}
	return list
}
