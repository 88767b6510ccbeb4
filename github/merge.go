package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A Merge is GitHub's trial merge of a pull request's head into its base branch. For a merged pull request it
// is the tip of the base branch, which contains the changes.
type Merge struct {
	Base    string // SHA of the base branch's tip
	BaseRef string // the branch, which can change at any time
	Head    string // SHA
	// SHA is the commit whose parents are exactly Base and Head; "" if there is a Conflict. For a merged pull
	// request it equals Base.
	SHA      string
	Conflict bool
	Merged   bool // the pull request is merged
	// Updated is the time of the pull request's last change; see [PullRequest].
	Updated time.Time
}

// ErrNotYet reports that GitHub has not made the trial merge yet; trying later helps.
var ErrNotYet = errors.New("GitHub has not made the trial merge yet")

// mergePause is the pause before the second request for a trial merge. Each further pause is twice
// as long.
const mergePause = 500 * time.Millisecond

// MergeResult returns the trial merge of an open pull request's present head with the present tip of its base
// branch. For a merged pull request it returns that tip. For a pull request closed without a merge it is an
// error.
//
// GitHub starts a trial merge when somebody reads the pull request, and needs some time. Until then it reports
// the previous trial merge, or none. So a trial merge counts only if its parents are exactly those two commits.
// MergeResult repeats the request for up to [AppConfig.MaxMergeWait]; then the error is ErrNotYet. Source:
// https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-your-git-database#checking-mergeability-of-pull-requests
func (c *Client) MergeResult(ctx context.Context, number int) (Merge, error) {
	what := fmt.Sprintf("find the trial merge of pull request %s#%d", c.repo, number)
	end := time.Now().Add(c.app.config.MaxMergeWait)
	for wait := mergePause; ; wait *= 2 {
		m, err := c.trialMerge(ctx, number)
		if !errors.Is(err, ErrNotYet) {
			return m, failed(what, err)
		}
		if time.Now().Add(wait).After(end) || !fits(ctx, wait) {
			return Merge{}, fmt.Errorf("%s: %w", what, err)
		}
		if err := sleep(ctx, wait); err != nil {
			return Merge{}, fmt.Errorf("%s: %w", what, err)
		}
	}
}

// trialMerge makes one attempt of MergeResult. The error is ErrNotYet if GitHub has not made the trial merge
// yet.
func (c *Client) trialMerge(ctx context.Context, number int) (Merge, error) {
	p, _, err := c.client.PullRequests.Get(ctx, c.repo.Owner, c.repo.Name, number)
	if err != nil {
		return Merge{}, err
	}
	if p.GetState() != "open" && !p.GetMerged() {
		return Merge{}, errors.New("it is not open")
	}
	// The base SHA in the pull request itself can be out of date.
	branch := p.GetBase().GetRef()
	base, err := c.ref(ctx, "heads/"+branch)
	if err != nil {
		return Merge{}, err
	}
	m := Merge{Base: base, BaseRef: branch, Head: p.GetHead().GetSHA(), Updated: p.GetUpdatedAt().Time}
	if p.GetMerged() {
		m.SHA, m.Merged = base, true
		return m, nil
	}
	if p.Mergeable == nil {
		return Merge{}, ErrNotYet
	}
	if !p.GetMergeable() {
		m.Conflict = true
		return m, nil
	}
	sha, err := c.ref(ctx, fmt.Sprintf("pull/%d/merge", number))
	if err != nil {
		if errors.Is(failed("", err), ErrNotFound) {
			err = ErrNotYet
		}
		return Merge{}, err
	}
	commit, _, err := c.client.Git.GetCommit(ctx, c.repo.Owner, c.repo.Name, sha)
	if err != nil {
		return Merge{}, err
	}
	if !m.isOf(commit) {
		return Merge{}, ErrNotYet
	}
	m.SHA = sha
	return m, nil
}

// isOf reports whether a commit's parents are exactly base and head, in this order.
func (m Merge) isOf(c *gh.Commit) bool {
	return len(c.Parents) == 2 && c.Parents[0].GetSHA() == m.Base && c.Parents[1].GetSHA() == m.Head
}

// Tip returns the present commit of a branch. The error wraps ErrNotFound if there is no such branch.
func (c *Client) Tip(ctx context.Context, branch string) (string, error) {
	sha, err := c.ref(ctx, "heads/"+branch)
	return sha, failed(fmt.Sprintf("find the branch %s of %s", branch, c.repo), err)
}

// ref returns the commit that a git reference points to.
func (c *Client) ref(ctx context.Context, name string) (string, error) {
	r, _, err := c.client.Git.GetRef(ctx, c.repo.Owner, c.repo.Name, name)
	if err != nil {
		return "", err
	}
	sha := r.GetObject().GetSHA()
	return sha, checkSHA(sha)
}

// maxRebased is the maximum number of commits that MergedOnto goes back for a rebased pull request. Each commit
// costs a request.
const maxRebased = 100

// MergedOnto returns two commits of a merged pull request: onto, the tip of the base branch before the merge,
// and merge, the commit that contains the changes. It recognizes GitHub's three ways to merge: a commit with
// two parents; one commit on top of the base branch; a copy of each commit of the pull request, with the same
// message. The error wraps ErrNotFound if the commits cannot be found any more.
func (c *Client) MergedOnto(ctx context.Context, number int) (onto, merge string, err error) {
	what := fmt.Sprintf("find what pull request %s#%d was merged onto", c.repo, number)
	p, _, err := c.client.PullRequests.Get(ctx, c.repo.Owner, c.repo.Name, number)
	if err != nil {
		return "", "", failed(what, err)
	}
	if !p.GetMerged() {
		return "", "", fmt.Errorf("%s: it is not merged: %w", what, ErrNotFound)
	}
	merge = p.GetMergeCommitSHA()
	commit, err := c.commit(ctx, merge)
	if err != nil {
		return "", "", failed(what, err)
	}
	n := 1
	if len(commit.Parents) == 1 && p.GetCommits() > 1 {
		head, err := c.commit(ctx, p.GetHead().GetSHA())
		if err != nil {
			return "", "", failed(what, err)
		}
		if head.GetMessage() == commit.GetMessage() {
			n = p.GetCommits()
		}
	}
	for ; n > 1 && len(commit.Parents) == 1; n-- {
		if n > maxRebased {
			return "", "", fmt.Errorf("%s: it has more than %d commits: %w", what, maxRebased, ErrNotFound)
		}
		if commit, err = c.commit(ctx, commit.Parents[0].GetSHA()); err != nil {
			return "", "", failed(what, err)
		}
	}
	if len(commit.Parents) == 0 {
		return "", "", fmt.Errorf("%s: %.7s is the first commit: %w", what, merge, ErrNotFound)
	}
	onto = commit.Parents[0].GetSHA()
	return onto, merge, checkSHA(onto)
}

// Onto returns the first parent of a commit. If the commit is that of a merge group, this is the commit on top
// of which GitHub made the group.
func (c *Client) Onto(ctx context.Context, sha string) (string, error) {
	what := fmt.Sprintf("find what %.7s of %s is on top of", sha, c.repo)
	commit, err := c.commit(ctx, sha)
	if err != nil {
		return "", failed(what, err)
	}
	if len(commit.Parents) == 0 {
		return "", fmt.Errorf("%s: it is the first commit: %w", what, ErrNotFound)
	}
	return commit.Parents[0].GetSHA(), checkSHA(commit.Parents[0].GetSHA())
}

// commit returns the commit with a SHA.
func (c *Client) commit(ctx context.Context, sha string) (*gh.Commit, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	commit, _, err := c.client.Git.GetCommit(ctx, c.repo.Owner, c.repo.Name, sha)
	return commit, err
}
