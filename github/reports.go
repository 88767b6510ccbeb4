package github

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"

	gh "github.com/google/go-github/v60/github"
)

// Reports returns the check runs and commit statuses of a commit, the latest of each App and name. It needs the
// permission "Commit statuses: read".
func (c *Client) Reports(ctx context.Context, sha string) ([]Report, error) {
	what := fmt.Sprintf("list the checks of %s at %.7s", c.repo, sha)
	if err := checkSHA(sha); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	out, err := c.reports(ctx, sha)
	return out, failed(what, err)
}

// RequiredReports returns what the protection and the rulesets of a branch require before a merge.
func (c *Client) RequiredReports(ctx context.Context, branch string) (Rules, error) {
	out, err := c.rules(ctx, branch)
	return out, failed(fmt.Sprintf("read the rules of the branch %s of %s", branch, c.repo), err)
}

// A Report is the result of a check of a commit: a check run or a commit status.
type Report struct {
	Name string
	// App is the slug of the App that made the check run, and AppID is the ID of the App. For a commit status,
	// they are "" and 0.
	App   string
	AppID int64
	// Ours is set for a check run of Lockstep's App.
	Ours   bool
	Passed bool // neutral and skipped check runs have passed, too
	Done   bool
	// Succeeded is set for a check run that has passed, and is neither neutral nor skipped.
	Succeeded bool
}

// reports returns the same as [Client.Reports], but with GitHub's errors unchanged.
// Sources: https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference,
// https://docs.github.com/en/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
func (c *Client) reports(ctx context.Context, sha string) ([]Report, error) {
	var out []Report
	latest := "latest"
	for page := 1; page != 0; {
		list, res, err := c.client.Checks.ListCheckRunsForRef(ctx, c.repo.Owner, c.repo.Name, sha,
			&gh.ListCheckRunsOptions{Filter: &latest, ListOptions: gh.ListOptions{Page: page, PerPage: 100}})
		if err != nil {
			return nil, err
		}
		for _, x := range list.CheckRuns {
			out = append(out, c.report(x))
		}
		page = res.NextPage
	}
	for page := 1; page != 0; {
		all, res, err := c.client.Repositories.GetCombinedStatus(ctx, c.repo.Owner, c.repo.Name, sha, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, err
		}
		for _, x := range all.Statuses {
			out = append(out, Report{Name: x.GetContext(), Passed: x.GetState() == "success", Done: x.GetState() != "pending"})
		}
		page = res.NextPage
	}
	return out, nil
}

// ownCheckRuns returns the check runs of Lockstep's App with a name and an external ID, newest first. GitHub
// shows the newest. There may be several if two calls ran at the same time.
func (c *Client) ownCheckRuns(ctx context.Context, sha, name, externalID string) ([]*gh.CheckRun, error) {
	var found []*gh.CheckRun
	all := "all"
	for page := 1; page != 0; {
		list, res, err := c.client.Checks.ListCheckRunsForRef(ctx, c.repo.Owner, c.repo.Name, sha, &gh.ListCheckRunsOptions{
			CheckName: &name, AppID: &c.app.config.ID, Filter: &all, ListOptions: gh.ListOptions{Page: page, PerPage: 100},
		})
		if err != nil {
			return nil, err
		}
		for _, x := range list.CheckRuns {
			// Other Apps may use the same external IDs.
			if x.GetApp().GetID() == c.app.config.ID && x.GetName() == name && x.GetExternalID() == externalID {
				found = append(found, x)
			}
		}
		page = res.NextPage
	}
	slices.SortFunc(found, func(a, b *gh.CheckRun) int { return cmp.Compare(b.GetID(), a.GetID()) })
	return found, nil
}

func (c *Client) report(x *gh.CheckRun) Report {
	out := Report{Name: x.GetName(), App: x.GetApp().GetSlug(), AppID: x.GetApp().GetID(), Done: x.GetStatus() == "completed"}
	out.Ours = out.AppID == c.app.config.ID
	out.Succeeded = out.Done && x.GetConclusion() == "success"
	switch x.GetConclusion() {
	case "success", "neutral", "skipped":
		out.Passed = out.Done
	}
	return out
}

// A RequiredReport is a check that a branch requires before a merge. AppID is the App that must report the
// check. If AppID is 0, any App may report it, or only Lockstep's App if Own is set.
type RequiredReport struct {
	Name  string
	AppID int64
	// Own is set if Lockstep's App must report the check.
	Own bool
}

// Rules are the conditions for a merge into a branch, from its protection and its rulesets.
type Rules struct {
	Reports []RequiredReport
	// Resolved is set if all review conversations must be resolved before a merge.
	Resolved bool
	// Others are the kinds of merge rules, in GitHub's words, that none of the other fields describes. Reviews
	// and merge queues are left out. Lockstep does not check whether a pull request meets the rules in Others.
	// They come from rulesets. Branch protection shows Lockstep only the required checks.
	Others []string
}

// rulesElsewhere are the kinds of rules that are not in [Rules.Others]: other functions check them, or they are
// not about merges of pull requests.
var rulesElsewhere = []string{"required_status_checks", "pull_request", "merge_queue", "creation", "deletion", "non_fast_forward"}

// rules returns the same as RequiredReports, but with GitHub's errors unchanged.
// Sources: https://docs.github.com/en/rest/branches/branches#get-a-branch,
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (c *Client) rules(ctx context.Context, branch string) (out Rules, err error) {
	if out.Reports, err = c.protected(ctx, branch); err != nil {
		return Rules{}, err
	}
	for page := 1; page != 0; {
		// go-github refuses kinds of rules that it does not know.
		req, err := c.client.NewRequest("GET", fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=100&page=%d", c.repo.Owner, c.repo.Name, url.PathEscape(branch), page), nil)
		if err != nil {
			return Rules{}, err
		}
		var rules []rulesetRule
		res, err := c.client.Do(ctx, req, &rules)
		if err != nil {
			return Rules{}, err
		}
		for _, one := range rules {
			for _, x := range one.Parameters.Checks {
				out.Reports = append(out.Reports, RequiredReport{Name: x.Context, AppID: x.App})
			}
			out.Resolved = out.Resolved || one.Parameters.Resolved
			if !slices.Contains(rulesElsewhere, one.Type) && !slices.Contains(out.Others, one.Type) {
				out.Others = append(out.Others, one.Type)
			}
		}
		page = res.NextPage
	}
	for i, x := range out.Reports {
		if x.AppID == c.app.config.ID {
			out.Reports[i].Own, out.Reports[i].AppID = true, 0
		}
	}
	return out, nil
}

// A rulesetRule has those parts of a rule in a ruleset that are about checks and conversations.
type rulesetRule struct {
	Type       string `json:"type"`
	Parameters struct {
		Resolved bool `json:"required_review_thread_resolution"`
		Checks   []struct {
			Context string `json:"context"`
			App     int64  `json:"integration_id"`
		} `json:"required_status_checks"`
	} `json:"parameters"`
}

// A branchProtection is the part of a branch's protection that everybody with read access may see.
type branchProtection struct {
	Protection struct {
		Checks struct {
			Contexts []string `json:"contexts"`
			Checks   []struct {
				Context string `json:"context"`
				App     *int64 `json:"app_id"`
			} `json:"checks"`
		} `json:"required_status_checks"`
	} `json:"protection"`
}

// protected returns the checks that the protection of a branch requires.
func (c *Client) protected(ctx context.Context, branch string) (out []RequiredReport, err error) {
	req, err := c.client.NewRequest("GET", fmt.Sprintf("repos/%s/%s/branches/%s", c.repo.Owner, c.repo.Name, url.PathEscape(branch)), nil)
	if err != nil {
		return nil, err
	}
	var b branchProtection
	if _, err := c.client.Do(ctx, req, &b); err != nil {
		return nil, err
	}
	want := b.Protection.Checks
	for _, x := range want.Checks {
		one := RequiredReport{Name: x.Context}
		if x.App != nil {
			one.AppID = max(*x.App, 0) // -1 means any App
		}
		out = append(out, one)
	}
	for _, name := range want.Contexts { // the same as Checks; older servers have only this list
		if !slices.ContainsFunc(out, func(x RequiredReport) bool { return x.Name == name }) {
			out = append(out, RequiredReport{Name: name})
		}
	}
	return out, nil
}
