package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	gh "github.com/google/go-github/v60/github"
)

// A Report is a check run or a commit status of a commit.
type Report struct {
	Name string
	// App is the slug of the App that has reported it, and AppID its ID; "" and 0 for a commit status.
	App   string
	AppID int64
	// Ours is set for a check run of our App.
	Ours   bool
	Passed bool // neutral and skipped check runs have passed, too
	Done   bool
}

// Reports returns the check runs and commit statuses of a commit, the latest of each App and name.
// Commit statuses need the permission "Commit statuses: read".
// Sources: https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference,
// https://docs.github.com/en/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
func (c *Client) Reports(ctx context.Context, sha string) ([]Report, error) {
	what := fmt.Sprintf("list the checks of %s at %.7s", c.repo, sha)
	if err := checkSHA(sha); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	var out []Report
	latest := "latest"
	for page := 1; page != 0; {
		list, res, err := c.client.Checks.ListCheckRunsForRef(ctx, c.repo.Owner, c.repo.Name, sha,
			&gh.ListCheckRunsOptions{Filter: &latest, ListOptions: gh.ListOptions{Page: page, PerPage: 100}})
		if err != nil {
			return nil, failed(what, err)
		}
		for _, x := range list.CheckRuns {
			out = append(out, c.report(x))
		}
		page = res.NextPage
	}
	for page := 1; page != 0; {
		all, res, err := c.client.Repositories.GetCombinedStatus(ctx, c.repo.Owner, c.repo.Name, sha, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, failed(what, err)
		}
		for _, x := range all.Statuses {
			out = append(out, Report{Name: x.GetContext(), Passed: x.GetState() == "success", Done: x.GetState() != "pending"})
		}
		page = res.NextPage
	}
	return out, nil
}

func (c *Client) report(x *gh.CheckRun) Report {
	r := Report{Name: x.GetName(), App: x.GetApp().GetSlug(), AppID: x.GetApp().GetID(), Done: x.GetStatus() == string(CheckCompleted)}
	r.Ours = r.AppID == c.app.config.ID
	switch Conclusion(x.GetConclusion()) {
	case ConcludedSuccess, ConcludedNeutral, ConcludedSkipped:
		r.Passed = r.Done
	}
	return r
}

// A RequiredReport is one that the rules of a branch want before a merge. AppID is 0 where any App may
// report it.
type RequiredReport struct {
	Name  string
	AppID int64
	// Own is set if nobody but our App has to report it.
	Own bool
}

// RequiredReports returns those that the protection and the rulesets of a branch want.
// Sources: https://docs.github.com/en/rest/branches/branches#get-a-branch,
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (c *Client) RequiredReports(ctx context.Context, branch string) ([]RequiredReport, error) {
	what := fmt.Sprintf("read the rules of the branch %s of %s", branch, c.repo)
	out, err := c.protected(ctx, branch)
	if err != nil {
		return nil, failed(what, err)
	}
	for page := 1; page != 0; {
		// The library refuses kinds of rules that it does not know.
		req, err := c.client.NewRequest("GET", fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=100&page=%d", c.repo.Owner, c.repo.Name, url.PathEscape(branch), page), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		var rules []rule
		res, err := c.client.Do(ctx, req, &rules)
		if err != nil {
			return nil, failed(what, err)
		}
		for _, r := range rules {
			for _, x := range r.Parameters.Checks {
				out = append(out, RequiredReport{Name: x.Context, AppID: x.App})
			}
		}
		page = res.NextPage
	}
	for i := range out {
		if out[i].Own = out[i].AppID == c.app.config.ID; out[i].Own {
			out[i].AppID = 0
		}
	}
	return out, nil
}

// A rule of a ruleset, as far as it is about checks.
type rule struct {
	Parameters struct {
		Checks []struct {
			Context string `json:"context"`
			App     int64  `json:"integration_id"`
		} `json:"required_status_checks"`
	} `json:"parameters"`
}

// A protection of a branch, as far as everybody may see it who may read the repository.
type protection struct {
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

// protected returns the checks that the protection of a branch wants.
func (c *Client) protected(ctx context.Context, branch string) (out []RequiredReport, err error) {
	req, err := c.client.NewRequest("GET", fmt.Sprintf("repos/%s/%s/branches/%s", c.repo.Owner, c.repo.Name, url.PathEscape(branch)), nil)
	if err != nil {
		return nil, err
	}
	var b protection
	if _, err := c.client.Do(ctx, req, &b); err != nil {
		return nil, err
	}
	want := b.Protection.Checks
	for _, x := range want.Checks {
		r := RequiredReport{Name: x.Context}
		if x.App != nil {
			r.AppID = max(*x.App, 0) // -1 is any App
		}
		out = append(out, r)
	}
	for _, name := range want.Contexts { // the same, on older servers the only list
		if !slices.ContainsFunc(out, func(r RequiredReport) bool { return r.Name == name }) {
			out = append(out, RequiredReport{Name: name})
		}
	}
	return out, nil
}
