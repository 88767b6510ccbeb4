package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// Downloading a repository may take this long, which is what a plan of a very large
// one can spare.
const archiveTimeout = 3 * time.Minute

// Checkout unpacks the repository as it is at a commit into the directory dir, which
// must exist and be empty. See [Unpack] for what may be in it; the error is a
// *[FinalError] if it is something else.
func (c *Client) Checkout(ctx context.Context, sha, dir string) (Unpacked, error) {
	what := fmt.Sprintf("check out %s at %.7s", c.repo, sha)
	if err := CheckSHA(sha); err != nil {
		return Unpacked{}, fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, archiveTimeout, fmt.Errorf("not done within %s", archiveTimeout))
	defer cancel()
	res, err := c.archive(ctx, sha)
	if err != nil {
		return Unpacked{}, failed(what, err)
	}
	defer res.Body.Close()
	u, err := Unpack(res.Body, dir, sha, DefaultLimits)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return u, failed(what, err)
	}
	return u, nil
}

// archive opens the tarball of a ref. GitHub answers with an address elsewhere that
// needs no token of ours, and has a short-lived one in it.
func (c *Client) archive(ctx context.Context, ref string) (*http.Response, error) {
	link, res, err := c.client.Repositories.GetArchiveLink(ctx, c.repo.Owner, c.repo.Name, gh.Tarball,
		&gh.RepositoryContentGetOptions{Ref: ref}, 0)
	if err != nil {
		if res == nil {
			return nil, err
		}
		return nil, noArchive(res.StatusCode, err)
	}
	return c.open(ctx, link)
}

// open opens an archive at an address, and tries again where that may help.
func (c *Client) open(ctx context.Context, link *url.URL) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		res, err := c.download(ctx, link)
		if err == nil {
			return res, nil
		}
		wait := pause(attempt)
		if attempt == maxAttempts || errors.Is(err, ErrNotFound) || errors.As(err, new(*FinalError)) || errors.Is(err, errAstray) || !fits(ctx, wait) || sleep(ctx, wait) != nil {
			return nil, err
		}
	}
}

// errAstray says that we do not go where an archive is said to be.
var errAstray = errors.New("the address of the archive is not one to follow: it is not an https URL, or leads on too often")

// download fetches what is at an address given by GitHub, without a token.
func (c *Client) download(ctx context.Context, link *url.URL) (*http.Response, error) {
	link = c.app.api.ResolveReference(link)
	plain := http.Client{
		Transport: c.app.config.Transport,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 5 || !c.app.mayFetch(req.URL) {
				return errAstray
			}
			return nil
		},
	}
	if !c.app.mayFetch(link) {
		return nil, errAstray
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.String(), nil)
	if err != nil {
		return nil, errAstray
	}
	req.Header.Set("User-Agent", "lockstep")
	res, err := plain.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // without the address
		}
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	res.Body.Close()
	return nil, noArchive(res.StatusCode, fmt.Errorf("the archive's address answers %s", res.Status))
}

// noArchive is err, said by an answer with a status. What is forbidden may be a limit:
// the words that would tell are read by nobody here.
func noArchive(status int, err error) error {
	if status == http.StatusNotFound {
		return ErrNotFound
	}
	if e := final("", status, err.Error()); e != nil && status != http.StatusForbidden {
		return e
	}
	return err
}

// mayFetch reports whether an archive may come from there: over https, or, where the
// API itself is on the own machine, from there too.
func (a *App) mayFetch(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == a.api.Scheme && u.Host == a.api.Host
}
