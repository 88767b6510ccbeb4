package github

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"

	gh "github.com/google/go-github/v60/github"
)

// MaxFile is the size, in bytes, of the largest file that [Client.File] reads.
// Source: https://docs.github.com/en/rest/repos/contents#get-repository-content
const MaxFile = 1 << 20

// File returns the content of a file at a commit. The error wraps ErrNotFound if there is none, and is a
// *[FinalError] if it is not a file, or larger than MaxFile. The path is slash-separated and relative to the
// repository's root.
func (c *Client) File(ctx context.Context, sha, path string) ([]byte, error) {
	what := fmt.Sprintf("read %s of %s at %.7s", path, c.repo, sha)
	if err := checkSHA(sha); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if !fs.ValidPath(path) || path == "." {
		return nil, fmt.Errorf("%s: this is not the path of a file", what)
	}
	file, _, _, err := c.client.Repositories.GetContents(ctx, c.repo.Owner, c.repo.Name, path, &gh.RepositoryContentGetOptions{Ref: sha})
	if err != nil {
		return nil, failed(what, err)
	}
	// If the path is a directory, GitHub's answer is a list.
	if kind := cmp.Or(file.GetType(), "directory"); kind != "file" {
		return nil, &FinalError{What: what, Why: fmt.Sprintf("it is a %s, and not a file", kind), Remedy: "Put a file in its place."}
	}
	// GitHub's answer contains no content if the file is larger.
	if file.GetSize() > MaxFile {
		return nil, &FinalError{What: what, Why: fmt.Sprintf("it is %d bytes long, and %d are allowed", file.GetSize(), MaxFile), Remedy: "Make the file shorter."}
	}
	text, err := file.GetContent()
	if err != nil {
		return nil, fmt.Errorf("%s: the answer is not readable", what)
	}
	return []byte(text), nil
}
