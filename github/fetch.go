package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	gh "github.com/google/go-github/v60/github"
)

// A Ref identifies the files to fetch from another repository, at a branch, tag or commit.
type Ref struct {
	Owner, Name string
	// Ref is a branch, a tag or a commit's ID; "HEAD" is the default branch.
	Ref string
}

// String returns the text for people, such as "acme/modules at v1.2.0".
func (r Ref) String() string { return r.Owner + "/" + r.Name + " at " + r.Ref }

// check returns an error if r is not a valid name. Names and refs become parts of paths.
func (r Ref) check() error {
	if err := (Repo{ID: 1, Owner: r.Owner, Name: r.Name}).check(); err != nil {
		return err
	}
	odd := strings.ContainsFunc(r.Ref, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) })
	if odd || r.Ref == "" || len(r.Ref) > maxRef || strings.ContainsAny(r.Ref, `~^:?*[\`) {
		return fmt.Errorf("%q is not the name of a branch, a tag or a commit", r.Ref)
	}
	for part := range strings.SplitSeq(r.Ref, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.Contains(part, "..") {
			return fmt.Errorf("%q is not the name of a branch, a tag or a commit", r.Ref)
		}
	}
	return nil
}

// maxRef is the maximum length of a ref in bytes, the same as for a file name.
const maxRef = 255

// path returns the ref as a part of an address.
func (r Ref) path() string {
	parts := strings.Split(r.Ref, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// Fetch unpacks the files of a ref in another repository of an installation into the directory dir, which must
// exist and be empty. The function unpack documents which entries the archive may have. Links that lead out of
// it are left out. The token gives read access to the files of that one repository only.
//
// The caller must check that the files may be shown: an installation may have repositories that the author of a
// pull request may not read.
//
// The error wraps ErrNotFound if the repository or the ref does not exist. It is a *[FinalError] if r is not a
// valid name.
func (a *App) Fetch(ctx context.Context, installation int64, r Ref, dir string) error {
	what := "fetch " + r.String()
	if err := r.check(); err != nil {
		return &FinalError{What: what, Why: err.Error()}
	}
	key := tokenScope{Installation: installation, Name: strings.ToLower(r.Name)}
	c := &Client{app: a, repo: Repo{Owner: r.Owner, Name: r.Name}, client: a.as(key)}
	return c.unpack(ctx, what, r, dir, func(ctx context.Context) (*http.Response, error) { return c.archive(ctx, r.path()) })
}

// Resolve returns the commit of a ref in a repository of an installation. The ref is a branch or a commit's ID.
// It returns the same errors as [App.Fetch].
func (a *App) Resolve(ctx context.Context, installation int64, r Ref) (string, error) {
	what := "find " + r.String()
	if err := r.check(); err != nil {
		return "", &FinalError{What: what, Why: err.Error()}
	}
	if checkSHA(r.Ref) == nil {
		return r.Ref, nil
	}
	key := tokenScope{Installation: installation, Name: strings.ToLower(r.Name)}
	c := &Client{app: a, repo: Repo{Owner: r.Owner, Name: r.Name}, client: a.as(key)}
	sha, err := c.ref(ctx, "heads/"+r.Ref)
	return sha, failed(what, err)
}

// FetchPublic gets the files of a public repository on github.com, as Fetch does. It sends no token, so GitHub
// gives it only public files.
func (a *App) FetchPublic(ctx context.Context, r Ref, dir string) error {
	what := "fetch the public repository " + r.String()
	if err := r.check(); err != nil {
		return &FinalError{What: what, Why: err.Error()}
	}
	c := &Client{app: a, repo: Repo{Owner: r.Owner, Name: r.Name}, client: a.anybody}
	return c.unpack(ctx, what, r, dir, func(ctx context.Context) (*http.Response, error) {
		if at := a.publicArchive(r); at != nil {
			return c.open(ctx, at)
		}
		return c.archive(ctx, r.path())
	})
}

// OfGitHubCom reports whether the App belongs to github.com, or to a fake GitHub on this machine. On a GitHub
// Enterprise server, the same name belongs to another repository.
func (a *App) OfGitHubCom() bool { return a.api.Host == "api.github.com" || a.standsIn() }

// standsIn reports whether the API is a fake GitHub on this machine.
func (a *App) standsIn() bool { return a.api.Scheme == "http" }

// publicArchive returns the address of an archive of a public repository on github.com. Requests for that
// address have no rate limit, and are redirected if the repository was renamed. The API, on the other hand,
// allows only 60 requests an hour without a token. publicArchive returns nil if the API is a fake GitHub.
// Source: https://docs.github.com/en/repositories/working-with-files/using-files/downloading-source-code-archives#source-code-archive-urls
func (a *App) publicArchive(r Ref) *url.URL {
	if a.standsIn() {
		return nil
	}
	at, err := url.Parse(fmt.Sprintf("https://github.com/%s/%s/archive/%s.tar.gz", r.Owner, r.Name, r.path()))
	if err != nil {
		return nil // impossible after check
	}
	return at
}

// unpack unpacks the archive that the function open returns into the directory dir. If r.Ref is a commit's
// SHA, the archive must be of that commit. The parameter what is for error messages: it says what the
// caller was trying to do.
func (c *Client) unpack(ctx context.Context, what string, r Ref, dir string, open func(context.Context) (*http.Response, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, archiveTimeout, fmt.Errorf("not done within %s", archiveTimeout))
	defer cancel()
	res, err := open(ctx)
	if err != nil {
		return failed(what, err)
	}
	defer res.Body.Close()
	sha := ""
	if checkSHA(r.Ref) == nil {
		sha = r.Ref
	}
	if _, err = unpack(res.Body, dir, sha, checkoutLimits); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return failed(what, err)
}

// noAccessWords are the words of GitHub's answer to a request for a token if the installation does not have the
// repository. Answers with the same status but other words have other reasons: too many requests, or a
// permission that was not accepted. Source:
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
const noAccessWords = "does not exist or is not accessible"

// noSuchRepository turns the error of a request for a token into ErrNotFound if the installation does not have
// the repository.
func noSuchRepository(err error) error {
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusUnprocessableEntity && strings.Contains(re.Message, noAccessWords) {
		return ErrNotFound
	}
	return err
}
