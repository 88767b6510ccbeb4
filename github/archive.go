package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// archiveTimeout is the time limit for downloading a repository. Even the plan of a very large repository can
// spend that much time on the download.
const archiveTimeout = 3 * time.Minute

// Tarballs stores the archives of commits for other processes, so that each commit is downloaded from GitHub
// once. A missing archive does no harm: it is downloaded again.
type Tarballs interface {
	// Get returns the stored archive of a commit; nil if there is none.
	Get(ctx context.Context, r Repo, sha string) []byte
	// Put stores an archive of at most [MaxTarball] bytes.
	Put(ctx context.Context, r Repo, sha string, data []byte)
}

// MaxTarball is the size of the largest archive that is stored for other processes, in bytes. The whole archive
// is in memory while it is stored.
const MaxTarball = 32 << 20

// Checkout unpacks the files of a commit into the directory dir, which must exist and be empty. The function
// unpack documents which entries an archive may have; an archive with others is a *[FinalError].
func (c *Client) Checkout(ctx context.Context, sha, dir string) (Unpacked, error) {
	what := fmt.Sprintf("check out %s at %.7s", c.repo, sha)
	if err := checkSHA(sha); err != nil {
		return Unpacked{}, fmt.Errorf("%s: %w", what, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, archiveTimeout, fmt.Errorf("not done within %s", archiveTimeout))
	defer cancel()
	if data := c.app.archives.Get(c.scope, sha); data != nil {
		u, err := unpack(bytes.NewReader(data), dir, sha, checkoutLimits)
		return u, failed(what, err)
	}
	others := c.app.config.Tarballs
	if others != nil {
		if u, data, err := tryUnpack(others.Get(ctx, c.repo, sha), dir, sha, checkoutLimits); data != nil || err != nil {
			c.app.archives.Put(c.scope, sha, data)
			return u, failed(what, err)
		}
	}
	res, err := c.archive(ctx, sha)
	if err != nil {
		return Unpacked{}, failed(what, err)
	}
	defer res.Body.Close()
	body := &keepingReader{Reader: res.Body, Max: maxKeptArchive}
	if others != nil {
		body.Max = MaxTarball
	}
	u, err := unpack(body, dir, sha, checkoutLimits)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return u, failed(what, err)
	}
	if data := body.All(); data != nil {
		c.app.archives.Put(c.scope, sha, data)
		if others != nil {
			others.Put(ctx, c.repo, sha, data)
		}
	}
	return u, nil
}

// archive requests the tarball of a ref. GitHub redirects the request to another host, with a short-lived token
// in the address. Lockstep's own token is not sent to that host.
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

// open requests the archive at an address, and tries again if another attempt may help.
func (c *Client) open(ctx context.Context, link *url.URL) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		res, err := c.download(ctx, link)
		if err == nil {
			return res, nil
		}
		wait := retryPause(attempt)
		if attempt == maxAttempts || errors.Is(err, ErrNotFound) || errors.As(err, new(*FinalError)) || errors.Is(err, errAstray) || !fits(ctx, wait) || sleep(ctx, wait) != nil {
			return nil, err
		}
	}
}

// errAstray reports that GitHub redirected to an address that Lockstep does not trust; see mayFetch.
var errAstray = errors.New("the archive's address is not followed: it is not an https URL, or redirects too often")

// download fetches an archive from an address that GitHub gave, without a token.
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
			err = ue.Err // the reason, without the address
		}
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	res.Body.Close()
	return nil, noArchive(res.StatusCode, fmt.Errorf("the archive's address answers %s", res.Status))
}

// noArchive returns the error for the HTTP status of an answer. 403 is not final: it may be a rate limit, and
// the message that would say so is not read here.
func noArchive(status int, err error) error {
	if status == http.StatusNotFound {
		return ErrNotFound
	}
	if e := final("", status, err.Error()); e != nil && status != http.StatusForbidden {
		return e
	}
	return err
}

// mayFetch reports whether an archive may be downloaded from an address: only over https, or from this machine
// if the API itself is on this machine.
func (a *App) mayFetch(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == a.api.Scheme && u.Host == a.api.Host
}
