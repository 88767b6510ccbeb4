package deploying

import "encoding/json"

// A grant is a permission or an event of the App, by GitHub's name, with the reason why the App needs it.
type grant struct{ name, level, reason string }

// neededPermissions are the permissions that every App of Lockstep needs. An App needs
// usefulPermissions only for certain settings in lockstep.hcl.
var (
	neededPermissions = []grant{
		{"checks", "write", "The check runs of commits, with their buttons."},
		{"contents", "read", "The files of the commits that are planned, and the settings of the base branch."},
		{"issues", "write", "Comments on pull requests, and issues about drift and about applies that failed after a merge."},
		{"members", "read", "The members of teams that `by`, `approved_by`, `override` and CODEOWNERS name."},
		{"merge_queues", "read", "The entries of merge queues, whose commits Lockstep plans too."},
		{"metadata", "read", "The repository's name, its default branch, and the permissions of people. GitHub requires it of each App."},
		{"pull_requests", "write", "The pull requests, their files and reviews, and answers in conversations about a line."},
		{"statuses", "read", "The commit statuses of other tools, for `checks` and `mergeable` in a `require` block."},
	}
	usefulPermissions = []grant{
		{"contents", "write", "Merges by [`automerge`](settings.md#automerge), and the branches of pull requests that [`lockstep query -pull-request`](comments.md#query) opens."},
		{"actions", "read", "The protection rules of `github` in an [`environment`](settings.md#environment) block."},
		{"deployments", "write", "The deployments that GitHub records for `github` in an [`environment`](settings.md#environment) block."},
	}
)

// neededEvents are the events that GitHub sends to the App's webhook.
var neededEvents = []grant{
	{"check_run", "", "Buttons of checks, and checks of other tools for `checks` and `mergeable`."},
	{"check_suite", "", "The button that runs all checks again."},
	{"issue_comment", "", "Commands in comments, also on issues about drift."},
	{"merge_group", "", "Commits of merge queues."},
	{"pull_request", "", "Pull requests that somebody opens, pushes to, labels, merges or closes."},
	{"pull_request_review", "", "Approvals, and commands in the text of a review."},
	{"pull_request_review_comment", "", "Commands in comments on a line."},
	{"pull_request_review_thread", "", "Resolved conversations, for `resolved`."},
	{"status", "", "Commit statuses of other tools, for `checks` and `mergeable`."},
}

// appPermissions returns the levels of the App's permissions by name.
func appPermissions() map[string]string {
	out := map[string]string{}
	for _, g := range neededPermissions {
		out[g.name] = g.level
	}
	return out
}

// appEvents returns the names of the events that GitHub sends to the App's webhook.
func appEvents() (names []string) {
	for _, g := range neededEvents {
		names = append(names, g.name)
	}
	return names
}

// nowhereAddress is the App's webhook address until the stack has its own. It belongs to nobody.
// Source: https://www.rfc-editor.org/rfc/rfc2606#section-3
const nowhereAddress = "https://example.com/lockstep-is-not-deployed-yet"

// appManifest returns the description of the App for GitHub. The App is private: a public App could be
// installed by anybody.
// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#github-app-manifest-parameters
func appManifest(name, redirect string) string {
	text, err := json.Marshal(map[string]any{
		"name": name, "url": "https://github.com/lockstep-iac/lockstep", "public": false, "redirect_url": redirect,
		"description":         "Plans and applies Terraform-language configurations of pull requests.",
		"hook_attributes":     map[string]any{"url": nowhereAddress, "active": true},
		"default_permissions": appPermissions(), "default_events": appEvents(),
	})
	if err != nil {
		panic("registering: a manifest of texts cannot be written: " + err.Error())
	}
	return string(text)
}
