package github

import (
	"context"
	"fmt"

	"github.com/lockstep-iac/lockstep/github/internal/reporting"
)

// A Report is a check run or a commit status of a commit.
type Report = reporting.Report

// A RequiredReport is one that the rules of a branch want before a merge.
type RequiredReport = reporting.RequiredReport

// Reports returns the check runs and commit statuses of a commit, the latest of each App and name.
// Commit statuses need the permission "Commit statuses: read".
func (c *Client) Reports(ctx context.Context, sha string) ([]Report, error) {
	what := fmt.Sprintf("list the checks of %s at %.7s", c.repo, sha)
	if err := checkSHA(sha); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	out, err := reports(c).Reports(ctx, sha)
	return out, failed(what, err)
}

// Rules are those of a branch that want something before a merge.
type Rules = reporting.Rules

// RequiredReports returns the reports, and the rest, that the protection and the rulesets of a branch want.
func (c *Client) RequiredReports(ctx context.Context, branch string) (Rules, error) {
	out, err := reports(c).Rules(ctx, branch)
	return out, failed(fmt.Sprintf("read the rules of the branch %s of %s", branch, c.repo), err)
}

func reports(c *Client) reporting.Reader {
	return reporting.Reader{Client: c.client, Owner: c.repo.Owner, Name: c.repo.Name, App: c.app.config.ID}
}
