package github

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A PullRequest is the state of a pull request when it was read.
type PullRequest struct {
	Number    int
	Title     string
	Author    string // login
	Open      bool
	Draft     bool
	Merged    bool
	AutoMerge bool // GitHub merges it automatically once it may
	// MergedBy is the login of the user who merged the pull request; "" if it is not merged.
	MergedBy string
	Head     Branch
	// Base is the branch to merge into. Its SHA is old, from about the time of the last push to the head. For
	// the present SHA, use [Client.MergeResult].
	Base Branch
	// DefaultBranch is the default branch of the base repository, where Lockstep reads its settings.
	DefaultBranch string
	// Private is set if only people with a permission can read the base repository. It is also set for internal
	// repositories.
	Private bool
	// MergeSHA is the commit that merged a merged pull request. For an open one it is GitHub's trial merge, if
	// there is one.
	MergeSHA string
	URL      string // for people
	Labels   []string
	// MergeState is GitHub's opinion about merging an open pull request: "clean", "blocked", "behind", "dirty",
	// "unstable", "has_hooks", "draft" or "unknown". It is "" if the pull request comes from a list.
	MergeState string
	// Updated is the time of the last change, in seconds of GitHub's clock: pushes and comments are
	// changes.
	Updated time.Time
	// Created is the time when the pull request was opened, in seconds of GitHub's clock.
	Created time.Time
	// MergedAt is the time of the merge, in seconds of GitHub's clock; zero if the pull request is not merged.
	MergedAt time.Time
	// Issue is set if this is an issue in the form of a merged pull request: see [Client.IssueAsPull]. It is "" for a pull
	// request.
	Issue IssueState
}

// A Branch is the head or the base of a pull request.
type Branch struct {
	Repo Repo // without ID if it was deleted
	Ref  string
	SHA  string
}

// Fork reports whether the head comes from another repository.
func (p PullRequest) Fork() bool { return p.Head.Repo.ID != p.Base.Repo.ID }

var loginPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}(\[bot\])?$`) })

// PullRequest returns the present state of a pull request. The error wraps ErrNotFound if there is none.
func (c *Client) PullRequest(ctx context.Context, number int) (PullRequest, error) {
	what := fmt.Sprintf("read pull request %s#%d", c.repo, number)
	p, _, err := c.client.PullRequests.Get(ctx, c.repo.Owner, c.repo.Name, number)
	if err != nil {
		return PullRequest{}, failed(what, err)
	}
	out, err := c.pullRequest(p)
	if err != nil {
		return PullRequest{}, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// Confirm returns an error that wraps ErrNotFound unless the repository has, or had, the name by which the
// client knows it. To find out, it requests the pull request with the given number by that name: all other
// requests use the repository's ID.
func (c *Client) Confirm(ctx context.Context, number int) error {
	_, err := c.byName().PullRequest(ctx, number)
	return err
}

// ConfirmIssue is like [Client.Confirm], and reads an issue.
func (c *Client) ConfirmIssue(ctx context.Context, number int) error {
	_, err := c.byName().IssueAsPull(ctx, number)
	return err
}

// byName returns a client that finds the repository by its name, and not by its ID.
func (c *Client) byName() *Client {
	t := c.app.transport(tokenScope{Installation: c.scope.Installation, Repo: c.scope.Repo}, false)
	t.repo = 0
	return &Client{app: c.app, repo: c.repo, client: c.app.newClient(t)}
}

// OpenPulls returns the open pull requests, newest first. Their MergeSHA may be old.
func (c *Client) OpenPulls(ctx context.Context) ([]PullRequest, error) {
	what := fmt.Sprintf("list the open pull requests of %s", c.repo)
	var out []PullRequest
	for page := 1; page != 0; {
		list, res, err := c.client.PullRequests.List(ctx, c.repo.Owner, c.repo.Name,
			&gh.PullRequestListOptions{State: "open", ListOptions: gh.ListOptions{Page: page, PerPage: 100}})
		if err != nil {
			return nil, failed(what, err)
		}
		for _, x := range list {
			p, err := c.pullRequest(x)
			if err != nil {
				return nil, fmt.Errorf("%s: #%d: %w", what, x.GetNumber(), err)
			}
			out = append(out, p)
		}
		page = res.NextPage
	}
	return out, nil
}

// pullRequest converts a pull request from go-github's type. A pull request of another repository is an error.
func (c *Client) pullRequest(p *gh.PullRequest) (PullRequest, error) {
	out := PullRequest{
		Number: p.GetNumber(), Title: p.GetTitle(), Author: p.GetUser().GetLogin(),
		Open: p.GetState() == "open", Draft: p.GetDraft(), Merged: p.MergedAt != nil, MergedBy: p.GetMergedBy().GetLogin(),
		Head: branch(p.Head), Base: branch(p.Base), DefaultBranch: p.GetBase().GetRepo().GetDefaultBranch(), Private: p.GetBase().GetRepo().GetPrivate(),
		MergeSHA: p.GetMergeCommitSHA(), URL: p.GetHTMLURL(), Updated: p.GetUpdatedAt().Time, Created: p.GetCreatedAt().Time, MergedAt: p.GetMergedAt().Time, MergeState: p.GetMergeableState(), AutoMerge: p.AutoMerge != nil,
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	if out.Base.Repo.ID != c.repo.ID {
		return PullRequest{}, fmt.Errorf("it belongs to the repository %d, not %d: %w", out.Base.Repo.ID, c.repo.ID, ErrNotFound)
	}
	if out.Base.Repo.check() == nil {
		c.now.Store(&out.Base.Repo)
	}
	for _, sha := range []string{out.Head.SHA, out.Base.SHA} {
		if err := checkSHA(sha); err != nil {
			return PullRequest{}, err
		}
	}
	return out, nil
}

func branch(b *gh.PullRequestBranch) Branch {
	return Branch{Repo: repoOf(b.GetRepo()), Ref: b.GetRef(), SHA: b.GetSHA()}
}

// MaxChangedFiles is the maximum number of changed files that GitHub lists for a pull request.
// Source: https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
const MaxChangedFiles = 3000

// A FileChange is the change of one file by a pull request: of its head, compared with the commit at which its
// branch began.
type FileChange struct {
	Path string
	// Was is the former path of a renamed file; otherwise "".
	Was string
	// Patch has the changed lines in the format of a unified diff, without the lines that name the files. It is
	// "" for a file that is not text, that has too many changes, or that is renamed without a change.
	Patch string
}

// ChangedFiles returns the files that a pull request changes. all is false if the list may be incomplete; see
// MaxChangedFiles.
func (c *Client) ChangedFiles(ctx context.Context, number int) (files []FileChange, all bool, err error) {
	what := fmt.Sprintf("list the files of pull request %s#%d", c.repo, number)
	for page := 1; page != 0; {
		list, res, err := c.client.PullRequests.ListFiles(ctx, c.repo.Owner, c.repo.Name, number, &gh.ListOptions{Page: page, PerPage: 100})
		if err != nil {
			return nil, false, failed(what, err)
		}
		for _, f := range list {
			files = append(files, FileChange{Path: f.GetFilename(), Was: f.GetPreviousFilename(), Patch: f.GetPatch()})
		}
		page = res.NextPage
	}
	return files, len(files) < MaxChangedFiles, nil
}

// PathsOf returns the paths of changed files, including the old names of renamed files.
func PathsOf(files []FileChange) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.Was != "" {
			paths = append(paths, f.Was)
		}
	}
	return paths
}
