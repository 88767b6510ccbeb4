package deploying

import "encoding/json"

// appPermissions are the permissions of the App, by GitHub's names: it needs all of them.
func appPermissions() map[string]string {
	return map[string]string{
		"metadata": "read", "contents": "read", "statuses": "read", "members": "read", "merge_queues": "read",
		"pull_requests": "write", "issues": "write", "checks": "write",
	}
}

// appEvents are the events of GitHub that reach the webhook of the App.
func appEvents() []string {
	return []string{"check_run", "check_suite", "issue_comment", "merge_group", "pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "status"}
}

// nowhereAddress is the address of webhooks until there is one. It belongs to nobody.
// Source: https://www.rfc-editor.org/rfc/rfc2606#section-3
const nowhereAddress = "https://example.com/lockstep-is-not-deployed-yet"

// appManifest describes an App to GitHub. It is private: anybody could install a public one.
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
