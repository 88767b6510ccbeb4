package hosts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

// These are the largest accepted answers of servers. The largest known documents are lists of versions of
// about 2 MiB, the largest known packages about 200 MiB.
const (
	maxDocument = 64 << 20
	maxArchive  = 4 << 30
)

// These are the longest waits for an answer. Terraform also waits 10 seconds for a document.
const (
	defaultTimeout = 10 * time.Second
	stallTimeout   = 60 * time.Second // without a byte of a download
	firstBackoff   = 500 * time.Millisecond
	maxRedirects   = 10
)

// Tokens returns the token for requests to a host. The second result is false if there is none. host has the
// form of svchost.Hostname.
type Tokens func(host string) (Token, bool)

// A Client makes requests to registries and mirrors. It sends requests only where its policy allows, and
// follows only a few redirects. It tries again after broken connections and errors of the server (status 429
// and 5xx).
type Client struct {
	// Policy decides which URLs may be requested. The zero value allows https to all addresses except
	// link-local, multicast and metadata addresses.
	Policy Policy
	// Transport makes the connections. nil means the policy's transport; tests set a transport to their own
	// server.
	Transport http.RoundTripper
	// Token returns the token for requests to a registry's host; it may be nil. Downloads of packages use no
	// token, since packages are often on other hosts.
	Token Tokens
	// Remedy returns the last part of the error about a host that demands a token: which setting to change.
	// variable is the name of the environment variable for the token, such as TF_TOKEN_example_com. nil means
	// the remedy for the command line.
	Remedy func(variable string) string
	// UserAgent is the name that requests give for this client.
	UserAgent string
	// Retries is how often a failed request is tried again (TF_REGISTRY_DISCOVERY_RETRY).
	Retries int
	// Timeout is the time for one attempt to get a document (TF_REGISTRY_CLIENT_TIMEOUT); 0 means 10 s.
	Timeout time.Duration
	// Backoff is the wait before the first retry. It doubles with each further retry. 0 means half a second.
	Backoff time.Duration
}

// A statusError reports an answer with a status other than 200 and 204.
type statusError struct {
	code int
	url  string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered %s with %d %s", e.url, e.code, http.StatusText(e.code))
}

// IsStatus reports whether err is an answer with one of these status codes.
func IsStatus(err error, codes ...int) bool {
	var status *statusError
	if !errors.As(err, &status) {
		return false
	}
	for _, code := range codes {
		if status.code == code {
			return true
		}
	}
	return false
}

// A Document is the answer of a server.
type Document struct {
	Body   []byte
	Header http.Header
	// URL is the address after redirects. The document's own URLs are relative to it.
	URL *url.URL
}

// Document gets the document at u, with the token for host. If host is "", it sends no token.
func (c *Client) Document(ctx context.Context, u *url.URL, host string) (doc Document, err error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	err = c.retrying(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		resp, err := c.get(ctx, u, host)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		doc.URL, doc.Header = resp.Request.URL, resp.Header
		doc.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", Show(u), Plain(err))
		case len(doc.Body) > maxDocument:
			return &refusedError{fmt.Sprintf("the document at %s is larger than %d bytes", Show(u), maxDocument)}
		}
		return nil
	})
	return doc, err
}

// JSON gets a JSON document as [Client.Document] does, and decodes it into the last argument. It returns the
// address after redirects.
func (c *Client) JSON(ctx context.Context, u *url.URL, host string, into any) (final *url.URL, err error) {
	doc, err := c.Document(ctx, u, host)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(doc.Body, into); err != nil {
		return nil, fmt.Errorf("the document at %s is not the expected JSON: %w", Show(u), err)
	}
	return doc.URL, nil
}

// Download writes the content at u to a file, and replaces the file's content.
func (c *Client) Download(ctx context.Context, u *url.URL, to *os.File) error {
	return c.retrying(ctx, func() error {
		// An earlier attempt may have written a part of the content: start again at the beginning.
		_, err := to.Seek(0, io.SeekStart)
		if err := errors.Join(err, to.Truncate(0)); err != nil {
			return &refusedError{err.Error()}
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		stalled := time.AfterFunc(stallTimeout, func() {
			cancel(fmt.Errorf("nothing came from %s for %s", Show(u), stallTimeout))
		})
		defer stalled.Stop()
		err = c.downloadOnce(ctx, u, to, stalled)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return cause
		}
		return err
	})
}

func (c *Client) downloadOnce(ctx context.Context, u *url.URL, to io.Writer, stalled *time.Timer) error {
	resp, err := c.get(ctx, u, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	n, err := io.Copy(&progress{to, stalled}, io.LimitReader(resp.Body, maxArchive+1))
	switch {
	case err != nil:
		return fmt.Errorf("download %s: %w", Show(u), Plain(err))
	case n > maxArchive:
		return &refusedError{fmt.Sprintf("the archive at %s is larger than %d bytes", Show(u), int64(maxArchive))}
	}
	return nil
}

// progress is a writer for the content of an answer. Each piece that arrives restarts the timeout.
type progress struct {
	to      io.Writer
	stalled *time.Timer
}

func (p *progress) Write(b []byte) (int, error) {
	p.stalled.Reset(stallTimeout)
	return p.to.Write(b)
}

// get makes one request. The caller closes the body.
func (c *Client) get(ctx context.Context, u *url.URL, host string) (*http.Response, error) {
	if err := c.Policy.CheckURL(u); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, Plain(err)
	}
	req.Header.Set("User-Agent", c.userAgent())
	if host != "" && c.Token != nil {
		if token, ok := c.Token(host); ok {
			req.Header.Set("Authorization", "Bearer "+token.Reveal())
		}
	}
	resp, err := c.HTTP().Do(req)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", u.Host, Plain(err))
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent {
		resp.Body.Close()
		return nil, &statusError{resp.StatusCode, Show(resp.Request.URL)}
	}
	return resp, nil
}

func (c *Client) userAgent() string {
	if c.UserAgent == "" {
		return "lockstep"
	}
	return c.UserAgent
}

// HTTP returns a client for libraries that need one. It obeys the policy, and sends no tokens.
func (c *Client) HTTP() *http.Client {
	transport := c.Transport
	if transport == nil {
		transport = c.Policy.Transport()
		c.Transport = transport // keeps its connections for the next request
	}
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return &refusedError{"too many redirects"}
		}
		// net/http removes the token when a redirect leads to another domain.
		return c.Policy.CheckURL(req.URL)
	}}
}

// retrying calls the function try, and calls it again after errors that may go away.
func (c *Client) retrying(ctx context.Context, try func() error) error {
	wait := c.Backoff
	if wait == 0 {
		wait = firstBackoff
	}
	for left := c.Retries; ; left-- {
		err := try()
		if err == nil || left <= 0 || !mayPass(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
			wait *= 2
		}
	}
}
