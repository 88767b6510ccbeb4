package github

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// A Proposal is a pull request that adds one file to a branch of the repository.
type Proposal struct {
	Base   string // the branch to merge into
	Branch string // the new branch with the file
	// Group is the beginning of the names of all branches for the same purpose. While a pull request from such a
	// branch is open, no other one is opened.
	Group   string
	Path    string // of the file, slash-separated and relative to the repository's root
	Content []byte
	Message string // of the commit
	Title   string
	Body    string // Markdown
}

// MaxTitle is the maximum length of a pull request's title, in characters.
const MaxTitle = 256

// Propose opens a pull request, and returns its number. If the repository already has a pull request from the
// proposal's branch, Propose returns that one, whatever its state. So a proposal that is repeated opens one pull
// request, and a person who closes it has the last word. If another pull request of the group is open, Propose
// returns its number, and own is false. Bytes of the title and the body that are not UTF-8 are replaced.
//
// The error is a *FinalError if GitHub refuses, or if the base branch already has a file with this path.
// Sources: https://docs.github.com/en/rest/git/refs#create-a-reference,
// https://docs.github.com/en/rest/repos/contents#create-or-update-file-contents,
// https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func (c *Client) Propose(ctx context.Context, p Proposal) (number int, own bool, err error) {
	what := fmt.Sprintf("open a pull request from the branch %s of %s", p.Branch, c.repo)
	if !fs.ValidPath(p.Path) || p.Path == "." {
		return 0, false, fmt.Errorf("%s: %q is not the path of a file", what, p.Path)
	}
	if n, err := proposed(ctx, c, p); err != nil || n != 0 {
		return n, true, failed(what, err)
	}
	open, err := c.OpenPulls(ctx)
	if err != nil {
		return 0, false, err
	}
	for _, x := range open {
		if x.Head.Repo.ID == c.repo.ID && x.Base.Ref == p.Base && strings.HasPrefix(x.Head.Ref, p.Group) {
			return x.Number, false, nil
		}
	}
	tip, err := c.ref(ctx, "heads/"+p.Base)
	if err != nil {
		return 0, false, failed(what, err)
	}
	_, _, err = c.client.Git.CreateRef(ctx, c.repo.Owner, c.repo.Name, &gh.Reference{Ref: gh.String("refs/heads/" + p.Branch), Object: &gh.GitObject{SHA: &tip}})
	// If the branch exists, an earlier attempt has created it, but was interrupted before it opened the
	// pull request.
	if err != nil && !answered(err, http.StatusUnprocessableEntity, "Reference already exists") {
		return 0, false, contentsFailed(what, err)
	}
	if err := putFile(ctx, c, p, tip); err != nil {
		return 0, false, contentsFailed(what, err)
	}
	made, _, err := c.client.PullRequests.Create(ctx, c.repo.Owner, c.repo.Name, &gh.NewPullRequest{
		Title: gh.String(utf8Only(p.Title)), Body: gh.String(utf8Only(p.Body)), Head: &p.Branch, Base: &p.Base,
	})
	if err == nil {
		return made.GetNumber(), true, nil
	}
	// Another attempt may have opened the pull request in the meantime. GitHub reports that only in its
	// remarks about fields, so search for the pull request.
	if n, listed := proposed(ctx, c, p); listed == nil && n != 0 {
		return n, true, nil
	}
	return 0, false, failed(what, err)
}

// proposed returns the number of the newest pull request from the proposal's branch; 0 if there is none.
func proposed(ctx context.Context, c *Client, p Proposal) (int, error) {
	list, _, err := c.client.PullRequests.List(ctx, c.repo.Owner, c.repo.Name, &gh.PullRequestListOptions{
		State: "all", Head: present(c).Owner + ":" + p.Branch, ListOptions: gh.ListOptions{PerPage: 1},
	})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[0].GetNumber(), nil
}

// putFile adds the proposal's file to its branch. tip is the commit of the base branch. If an earlier attempt has
// added the file with another content, putFile replaces the content.
func putFile(ctx context.Context, c *Client, p Proposal, tip string) error {
	path := (&url.URL{Path: p.Path}).EscapedPath() // go-github does not escape it
	put := &gh.RepositoryContentFileOptions{Message: &p.Message, Content: p.Content, Branch: &p.Branch}
	_, _, err := c.client.Repositories.CreateFile(ctx, c.repo.Owner, c.repo.Name, path, put)
	if !answered(err, http.StatusUnprocessableEntity, "sha") {
		return err
	}
	// The branch has such a file already.
	var there *gh.ErrorResponse
	switch _, _, _, err := c.client.Repositories.GetContents(ctx, c.repo.Owner, c.repo.Name, p.Path, &gh.RepositoryContentGetOptions{Ref: tip}); {
	case err == nil:
		return &FinalError{Why: fmt.Sprintf("the branch %s already has %s", p.Base, p.Path), Remedy: "Rename or remove that file."}
	case !errors.As(err, &there) || there.Response == nil || there.Response.StatusCode != http.StatusNotFound:
		return err
	}
	file, _, _, err := c.client.Repositories.GetContents(ctx, c.repo.Owner, c.repo.Name, p.Path, &gh.RepositoryContentGetOptions{Ref: p.Branch})
	if err != nil {
		return err
	}
	if text, err := file.GetContent(); err == nil && text == string(p.Content) {
		return nil
	}
	put.SHA = file.SHA
	_, _, err = c.client.Repositories.UpdateFile(ctx, c.repo.Owner, c.repo.Name, path, put)
	return err
}
