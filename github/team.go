package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// InTeam reports whether a user is a member of an organization's team now, or of a team below it. An invitation
// that is not accepted does not count. The error is a *[FinalError] if the team does not exist, or if the App
// may not see it.
// Source: https://docs.github.com/en/rest/teams/members#get-team-membership-for-a-user
func (c *Client) InTeam(ctx context.Context, org, team, login string) (bool, error) {
	what := fmt.Sprintf("ask whether %s is in the team %s/%s", login, org, team)
	if !loginPattern().MatchString(login) || !namePattern().MatchString(org) || !namePattern().MatchString(team) {
		return false, &FinalError{What: what, Why: "this is not the name of a user and of a team"}
	}
	m, _, err := c.client.Teams.GetTeamMembershipBySlug(ctx, org, team, login)
	if err == nil {
		return m.GetState() == "active", nil
	}
	if err = failed(what, err); !errors.Is(err, ErrNotFound) {
		return false, err
	}
	// GitHub gives the same answer if the user is no member and if the team does not exist.
	if _, _, err := c.client.Teams.GetTeamBySlug(ctx, org, team); err != nil {
		if err = failed(what, err); errors.Is(err, ErrNotFound) {
			return false, &FinalError{
				What: what, Why: "GitHub shows no such team",
				Remedy: "An operator of Lockstep has to check that the team exists, and that the GitHub App has the organization permission \"Members: read\".",
			}
		}
		return false, err
	}
	return false, nil
}

// UnknownOwners returns the owners in a commit's CODEOWNERS file that GitHub ignores. If there is no such file,
// the list is empty.
func (c *Client) UnknownOwners(ctx context.Context, sha string) ([]string, error) {
	what := fmt.Sprintf("ask for errors in the CODEOWNERS of %s at %.7s", c.repo, sha)
	if err := checkSHA(sha); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	out, err := unknownOwners(ctx, c.client.Repositories, c.repo.Owner, c.repo.Name, sha)
	if err = failed(what, err); errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return out, err
}

// unknownOwners returns the owners in a commit's CODEOWNERS file that GitHub ignores, as written but without
// "@", sorted. GitHub ignores users and teams that do not exist, that it does not show, or that have no write
// access.
// Source: https://docs.github.com/en/rest/repos/repos#list-codeowners-errors
func unknownOwners(ctx context.Context, s *gh.RepositoriesService, owner, name, sha string) ([]string, error) {
	all, _, err := s.GetCodeownersErrors(ctx, owner, name, &gh.GetCodeownersErrorsOptions{Ref: sha})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all.Errors {
		if e.Kind != "Unknown owner" || e.Column < 1 || e.Column > len(e.Source) {
			continue
		}
		if words := strings.Fields(e.Source[e.Column-1:]); len(words) > 0 {
			out = append(out, strings.TrimPrefix(words[0], "@"))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
