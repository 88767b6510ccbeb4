package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	gh "github.com/google/go-github/v60/github"
)

// An Environment has the protection rules of a GitHub environment. GitHub itself checks them only for jobs of
// GitHub Actions.
type Environment struct {
	// Reviewers are the people and teams that can approve a deployment. One approval is enough. nil means that
	// no approval is needed.
	Reviewers []Reviewer
	// OwnReview is set if the user who deploys may also approve.
	OwnReview bool
	// Wait is how long a deployment must wait after it was requested.
	Wait time.Duration
	// Closed is set if the branch may not be deployed to this environment.
	Closed bool
	// Others are the rules that only GitHub Actions can check: slugs of Apps, and kinds of rules that Lockstep
	// does not know.
	Others []string
}

// A Reviewer is a person (Login), or a team of the organization that owns the repository (Org and Team, its
// slug).
type Reviewer struct{ Org, Team, Login string }

// errNoEnvironment reports that the repository has no environment with the requested name.
var errNoEnvironment = errors.New("there is none of this name")

// environmentProtection is GitHub's answer about an environment. go-github's own type lacks some members, and
// its method does not escape the environment's name.
// Source: https://docs.github.com/en/rest/deployments/environments#get-an-environment
type environmentProtection struct {
	Rules []struct {
		Type      string `json:"type"`
		Wait      int    `json:"wait_timer"` // minutes
		NotSelf   bool   `json:"prevent_self_review"`
		Reviewers []struct {
			Type string `json:"type"`
			Who  struct {
				Login string `json:"login"`
				Slug  string `json:"slug"`
			} `json:"reviewer"`
		} `json:"reviewers"`
	} `json:"protection_rules"`
	Branches *struct {
		Protected bool `json:"protected_branches"`
		Custom    bool `json:"custom_branch_policies"`
	} `json:"deployment_branch_policy"`
}

// environment returns the same as [Client.Environment], but with GitHub's errors unchanged. If there is no such
// environment, the error is errNoEnvironment.
func (c *Client) environment(ctx context.Context, name, branch string) (Environment, error) {
	var got environmentProtection
	at := "environments/" + url.PathEscape(name)
	if err := c.get(ctx, at, &got); err != nil {
		var re *gh.ErrorResponse
		if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusNotFound {
			return Environment{}, errNoEnvironment
		}
		return Environment{}, err
	}
	out := c.protection(&got)
	var err error
	switch b := got.Branches; {
	case b != nil && b.Custom:
		out.Closed, err = c.branchNotNamed(ctx, at, branch)
	case b != nil && b.Protected:
		out.Closed, err = c.branchUnprotected(ctx, branch)
	}
	if err != nil {
		return Environment{}, err
	}
	apps, err := c.environmentApps(ctx, at)
	out.Others = append(out.Others, apps...)
	return out, err
}

// protection converts the rules of an environment, except its branch policy.
func (c *Client) protection(got *environmentProtection) Environment {
	var out Environment
	for _, x := range got.Rules {
		switch x.Type {
		case "wait_timer":
			out.Wait = time.Duration(x.Wait) * time.Minute
		case "required_reviewers":
			out.OwnReview, out.Reviewers = !x.NotSelf, []Reviewer{}
			for _, w := range x.Reviewers {
				one := Reviewer{Login: w.Who.Login}
				if w.Type == "Team" {
					one = Reviewer{Org: c.repo.Owner, Team: w.Who.Slug}
				}
				out.Reviewers = append(out.Reviewers, one)
			}
		case "branch_policy":
		default:
			out.Others = append(out.Others, x.Type)
		}
	}
	return out
}

// branchNotNamed reports whether no branch policy of an environment matches a branch. environment is the
// address of the environment. GitHub's patterns have the rules of Ruby's File.fnmatch with FNM_PATHNAME: a *
// matches no slash.
// Source: https://docs.github.com/en/rest/deployments/branch-policies
func (c *Client) branchNotNamed(ctx context.Context, environment, branch string) (bool, error) {
	const size = 100
	for page := 1; ; page++ {
		var got struct {
			Policies []struct {
				Name string `json:"name"`
				Type string `json:"type"` // "branch" or "tag"; older servers omit it, and have only branches
			} `json:"branch_policies"`
		}
		if err := c.get(ctx, fmt.Sprintf("%s/deployment-branch-policies?per_page=%d&page=%d", environment, size, page), &got); err != nil {
			return true, err
		}
		for _, x := range got.Policies {
			if x.Type != "tag" && doublestar.MatchUnvalidated(x.Name, branch) {
				return false, nil
			}
		}
		if len(got.Policies) < size {
			return true, nil
		}
	}
}

// branchUnprotected reports whether a branch has no branch protection.
// Source: https://docs.github.com/en/rest/branches/branches#get-a-branch
func (c *Client) branchUnprotected(ctx context.Context, branch string) (bool, error) {
	var got struct {
		Protected bool `json:"protected"`
	}
	err := c.get(ctx, "branches/"+url.PathEscape(branch), &got)
	return !got.Protected, err
}

// environmentApps returns the slugs of the Apps that have custom protection rules for an environment, whose
// address is given.
// Source: https://docs.github.com/en/rest/deployments/protection-rules
func (c *Client) environmentApps(ctx context.Context, environment string) (out []string, err error) {
	var got struct {
		Rules []struct {
			Enabled bool `json:"enabled"`
			App     struct {
				Slug string `json:"slug"`
			} `json:"app"`
		} `json:"custom_deployment_protection_rules"`
	}
	err = c.get(ctx, environment+"/deployment_protection_rules", &got)
	for _, x := range got.Rules {
		if x.Enabled {
			out = append(out, x.App.Slug)
		}
	}
	return out, err
}

// get requests a path below the repository's address, and decodes the answer into the variable into.
func (c *Client) get(ctx context.Context, path string, into any) error {
	req, err := c.client.NewRequest("GET", fmt.Sprintf("repos/%s/%s/%s", c.repo.Owner, c.repo.Name, path), nil)
	if err != nil {
		return err
	}
	_, err = c.client.Do(ctx, req, into)
	return err
}
