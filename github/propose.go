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

// A Proposal is a pull request that adds or changes files of the repository, each in a commit of its own.
type Proposal struct {
	Base   string // the branch to merge into
	Branch string // the new branch with the files
	From   string // the commit at which the new branch begins; "" is the present one of the base branch
	// Group is the beginning of the names of all branches for the same purpose. While a pull request from such a
	// branch is open, no other one is opened.
	Group string
	Files []ProposedFile
	// Message is the message of each commit. It must name the user who asks for the pull request: see [CoAuthor]. Otherwise the
	// user could approve the pull request, which the App opens.
	Message string
	Title   string
	Body    string // Markdown
}

// A ProposedFile is a file of a proposal.
type ProposedFile struct {
	Path    string // slash-separated and relative to the repository's root
	Content []byte
	// Replaces is the content that the file has at the commit From; nil for a new file.
	Replaces []byte
}

// MaxTitle is the maximum length of a pull request's title, in characters.
const MaxTitle = 256

// Propose opens a pull request, and returns its number. If the repository already has a pull request from the
// proposal's branch, Propose returns that one, whatever its state. So a proposal that is repeated opens one pull
// request, and a person who closes it has the last word. If another pull request of the group is open, Propose
// returns its number, and own is false. Bytes of the title and the body that are not UTF-8 are replaced.
//
// The error is a *FinalError if GitHub refuses, if the base branch already has a new file, or if a file to replace has another
// content.
// Sources: https://docs.github.com/en/rest/git/refs#create-a-reference,
// https://docs.github.com/en/rest/repos/contents#create-or-update-file-contents,
// https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func (c *Client) Propose(ctx context.Context, p Proposal) (number int, own bool, err error) {
	what := fmt.Sprintf("open a pull request from the branch %s of %s", p.Branch, c.repo)
	for _, f := range p.Files {
		if !fs.ValidPath(f.Path) || f.Path == "." {
			return 0, false, fmt.Errorf("%s: %q is not the path of a file", what, f.Path)
		}
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
	tip := p.From
	if tip == "" {
		if tip, err = c.ref(ctx, "heads/"+p.Base); err != nil {
			return 0, false, failed(what, err)
		}
	}
	_, _, err = c.client.Git.CreateRef(ctx, c.repo.Owner, c.repo.Name, &gh.Reference{Ref: gh.String("refs/heads/" + p.Branch), Object: &gh.GitObject{SHA: &tip}})
	// If the branch exists, an earlier attempt has created it, but was interrupted before it opened the
	// pull request.
	if err != nil && !answered(err, http.StatusUnprocessableEntity, "Reference already exists") {
		return 0, false, contentsFailed(what, err)
	}
	for _, f := range p.Files {
		put := addFile
		if f.Replaces != nil {
			put = replaceFile
		}
		if err := put(ctx, c, p, f, tip); err != nil {
			return 0, false, contentsFailed(what, err)
		}
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

// addFile adds a new file to the proposal's branch. tip is the commit at which the branch began. If an earlier attempt has added the
// file with another content, addFile replaces the content.
func addFile(ctx context.Context, c *Client, p Proposal, f ProposedFile, tip string) error {
	path := (&url.URL{Path: f.Path}).EscapedPath() // go-github does not escape it
	put := &gh.RepositoryContentFileOptions{Message: &p.Message, Content: f.Content, Branch: &p.Branch}
	_, _, err := c.client.Repositories.CreateFile(ctx, c.repo.Owner, c.repo.Name, path, put)
	if !answered(err, http.StatusUnprocessableEntity, "sha") {
		return err
	}
	// The branch has such a file already.
	var there *gh.ErrorResponse
	switch _, _, _, err := c.client.Repositories.GetContents(ctx, c.repo.Owner, c.repo.Name, f.Path, &gh.RepositoryContentGetOptions{Ref: tip}); {
	case err == nil:
		return &FinalError{Why: fmt.Sprintf("the branch %s already has %s", p.Base, f.Path), Remedy: "Rename or remove that file."}
	case !errors.As(err, &there) || there.Response == nil || there.Response.StatusCode != http.StatusNotFound:
		return err
	}
	text, sha, err := proposedContent(ctx, c, p, f)
	if err != nil || text == string(f.Content) {
		return err
	}
	put.SHA = &sha
	_, _, err = c.client.Repositories.UpdateFile(ctx, c.repo.Owner, c.repo.Name, path, put)
	return err
}

// replaceFile replaces the content of a file on the proposal's branch, unless an earlier attempt has done so.
func replaceFile(ctx context.Context, c *Client, p Proposal, f ProposedFile, _ string) error {
	text, sha, err := proposedContent(ctx, c, p, f)
	switch {
	case err != nil || text == string(f.Content):
		return err
	case text != string(f.Replaces):
		return &FinalError{Why: fmt.Sprintf("%s has another content on the branch %s", f.Path, p.Branch), Remedy: "Delete this branch."}
	}
	path := (&url.URL{Path: f.Path}).EscapedPath()
	_, _, err = c.client.Repositories.UpdateFile(ctx, c.repo.Owner, c.repo.Name, path, &gh.RepositoryContentFileOptions{Message: &p.Message, Content: f.Content, Branch: &p.Branch, SHA: &sha})
	return err
}

// proposedContent returns the content that a file has on the proposal's branch, and the name that GitHub has for it.
func proposedContent(ctx context.Context, c *Client, p Proposal, f ProposedFile) (text, sha string, err error) {
	file, _, _, err := c.client.Repositories.GetContents(ctx, c.repo.Owner, c.repo.Name, f.Path, &gh.RepositoryContentGetOptions{Ref: p.Branch})
	if err != nil {
		return "", "", err
	}
	if file == nil {
		return "", "", &FinalError{Why: f.Path + " is a directory"}
	}
	text, err = file.GetContent()
	return text, file.GetSHA(), err
}
