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

// A Ref names what is to be fetched of a repository other than the one that somebody is
// asked about.
type Ref struct {
	Owner, Name string
	// Ref is a branch, a tag or a commit's ID; "HEAD" is the default branch.
	Ref string
}

// String is for people.
func (r Ref) String() string { return r.Owner + "/" + r.Name + " at " + r.Ref }

// check says why r names nothing: names and refs become parts of paths.
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

// maxRef is how long a ref may be, in bytes: as long as a file's name.
const maxRef = 255

// path is the ref as a part of an address.
func (r Ref) path() string {
	parts := strings.Split(r.Ref, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// Fetch unpacks a repository that an installation has, as it is at a ref, into the
// directory dir, which must exist and be empty; see [Unpack] for what may be in it. Links
// that lead out of it are left out. The token for it opens the files of that
// one repository and nothing else. Whether whoever asks may see them is the caller's to
// know: the installation has more than a pull request's author need have.
//
// The error wraps ErrNotFound if the installation has no such repository, or that has no
// such ref; it is a *[FinalError] if r cannot name anything.
func (a *App) Fetch(ctx context.Context, installation int64, r Ref, dir string) error {
	what := "fetch " + r.String()
	if err := r.check(); err != nil {
		return &FinalError{What: what, Why: err.Error()}
	}
	key := tokenKey{installation: installation, name: strings.ToLower(r.Name)}
	c := &Client{app: a, repo: Repo{Owner: r.Owner, Name: r.Name}, client: a.as(key)}
	return c.unpack(ctx, what, r, dir, func(ctx context.Context) (*http.Response, error) { return c.archive(ctx, r.path()) })
}

// FetchPublic is like Fetch for a repository on github.com that everybody may read, and
// shows no token: what it finds, anybody finds.
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

// OfGitHubCom reports whether the App is one of github.com, or of what stands for it on the
// own machine, and not of somebody's GitHub Enterprise, where the same names are those of
// other repositories.
func (a *App) OfGitHubCom() bool { return a.api.Host == "api.github.com" || a.standsIn() }

// standsIn reports whether the API is on the own machine.
func (a *App) standsIn() bool { return a.api.Scheme == "http" }

// publicArchive is where GitHub has the archives of public repositories, which counts no
// requests, other than its API for nobody in particular: 60 an hour. It follows a
// repository to its new name. nil, if the API is what stands for GitHub's.
// Source: https://docs.github.com/en/repositories/working-with-files/using-files/downloading-source-code-archives#source-code-archive-urls
func (a *App) publicArchive(r Ref) *url.URL {
	if a.standsIn() {
		return nil
	}
	at, err := url.Parse(fmt.Sprintf("https://github.com/%s/%s/archive/%s.tar.gz", r.Owner, r.Name, r.path()))
	if err != nil {
		return nil // not after check
	}
	return at
}

// unpack unpacks what open opens.
func (c *Client) unpack(ctx context.Context, what string, r Ref, dir string, open func(context.Context) (*http.Response, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, archiveTimeout, fmt.Errorf("not done within %s", archiveTimeout))
	defer cancel()
	res, err := open(ctx)
	if err != nil {
		return failed(what, err)
	}
	defer res.Body.Close()
	sha := ""
	if CheckSHA(r.Ref) == nil {
		sha = r.Ref
	}
	if _, err = Unpack(res.Body, dir, sha, DefaultLimits); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return failed(what, err)
}

// noAccessWords are how GitHub says that an installation does not have a repository that a
// token was to be for. Other answers with that status are something else: that it is asked
// too often, say, or that a permission was not accepted.
// Source: https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
const noAccessWords = "does not exist or is not accessible"

// noSuchRepository is ErrNotFound, if an error says that an installation does not have
// the repository that a token was to be for.
func noSuchRepository(err error) error {
	var re *gh.ErrorResponse
	if errors.As(err, &re) && re.Response != nil && re.Response.StatusCode == http.StatusUnprocessableEntity && strings.Contains(re.Message, noAccessWords) {
		return ErrNotFound
	}
	return err
}
