package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	// callTimeout is the time limit for the complete answer to a call.
	callTimeout = 30 * time.Second
	// maxAttempts is the maximum number of attempts at a call.
	maxAttempts = 4
)

// transport sends requests with a token, and repeats a request if that does no harm. It is one level above the
// connection: each attempt has its own timeout.
type transport struct {
	base    http.RoundTripper
	api     *url.URL // nothing is sent to another scheme or host
	repo    int64    // the ID that replaces the repository's name in addresses; 0: names are sent
	maxWait time.Duration
	pause   func(attempt int) time.Duration
	// repeatable is set if even a POST request may be repeated.
	repeatable bool
	scheme     string
	// token returns the token to send. If renew is set, it returns a new token, because GitHub has refused the
	// last one. If token is nil, requests carry no token.
	token func(ctx context.Context, renew bool) (Secret, error)
	// answers caches the answers to requests of this scope; nil caches nothing.
	answers *answerCache
	scope   tokenScope
	meter   *meter // reads the budget; may be nil
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != t.api.Scheme || req.URL.Host != t.api.Host {
		return nil, refuseRedirect(req)
	}
	renew := false
	for attempt := 1; ; attempt++ {
		res, err := t.send(req, renew)
		if attempt == maxAttempts {
			return res, err
		}
		v := judge(res, err, t.repeatable || req.Method != http.MethodPost, time.Now())
		if !v.again || v.renew && renew || !repeatableBody(req) {
			return res, err
		}
		wait := v.wait
		if wait == 0 && !v.renew {
			wait = t.pause(attempt)
		}
		if wait > t.maxWait || !fits(req.Context(), wait) {
			return res, err
		}
		renew = v.renew
		discard(res)
		if err := sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// refuseRedirect returns an error for a request to another server. The HTTP client calls RoundTrip again for
// each redirect that it follows. net/http removes sensitive headers from such a request, but this transport
// would add the token again. Redirects from a repository's former name stay within the API, and are allowed.
func refuseRedirect(req *http.Request) error {
	if req.Body != nil {
		req.Body.Close()
	}
	return fmt.Errorf("GitHub's API redirects to %s://%s, to which we send nothing", req.URL.Scheme, req.URL.Host)
}

func repeatableBody(req *http.Request) bool { return req.Body == nil || req.GetBody != nil }

// discard reads the rest of a response, so that its connection can be used again. res may be nil.
func discard(res *http.Response) {
	if res != nil {
		io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
		res.Body.Close()
	}
}

// send makes one attempt at a request. If renew is set, it first gets a new token.
func (t *transport) send(req *http.Request, renew bool) (*http.Response, error) {
	var token Secret
	var err error
	if t.token != nil {
		if token, err = t.token(req.Context(), renew); err != nil {
			return nil, tokenError{err}
		}
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), callTimeout, fmt.Errorf("no answer within %s", callTimeout))
	out := req.Clone(ctx)
	if t.repo != 0 {
		out.URL = addressByID(t.api, out.URL, t.repo)
	}
	if req.GetBody != nil {
		if out.Body, err = req.GetBody(); err != nil {
			cancel()
			return nil, err
		}
	}
	if t.token != nil {
		out.Header.Set("Authorization", t.scheme+" "+token.reveal())
	}
	res, err := t.answers.RoundTrip(t.scope, t.meter.through(t.base), out)
	if err != nil {
		if ctx.Err() != nil && req.Context().Err() == nil {
			err = context.Cause(ctx)
		}
		cancel()
		return nil, err
	}
	res.Request = req // without the header that contains the token
	if res.StatusCode/100 == 2 && res.Header.Get("X-RateLimit-Remaining") == "0" {
		// Remove the header. Otherwise go-github would refuse the next call itself, although the limit ends
		// within a second.
		res.Header.Del("X-RateLimit-Reset")
	}
	res.Body = &cancelling{res.Body, cancel}
	return res, nil
}

// A tokenError is an error while getting a token. It is not retried here, because the request for the token
// has its own retries.
type tokenError struct{ error }

func (e tokenError) Unwrap() error { return e.error }

// cancelling is the body of an answer. It releases the timer of the attempt once the body has been read.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *cancelling) Close() error { defer c.cancel(); return c.ReadCloser.Close() }

// A verdict is the decision after an attempt: whether and how to try again.
type verdict struct {
	again bool
	renew bool          // with another token
	wait  time.Duration // 0: the usual pause
}

// judge decides whether to try again after an attempt. idempotent is set if a second call has no further
// effect.
func judge(res *http.Response, err error, idempotent bool, now time.Time) verdict {
	if err != nil {
		final := errors.As(err, new(tokenError)) || errors.Is(err, context.Canceled)
		return verdict{again: idempotent && !final}
	}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		return verdict{again: true, renew: true} // GitHub refused it, so it was not done
	case http.StatusForbidden, http.StatusTooManyRequests:
		wait, limited := rateLimitOf(res, now)
		return verdict{again: limited, wait: wait} // GitHub refused it, so it was not done
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait, _ := retryAfter(res.Header)
		return verdict{again: idempotent, wait: wait}
	}
	return verdict{}
}
