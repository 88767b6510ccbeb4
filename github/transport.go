package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// A call that has no complete answer by then is given up.
	callTimeout = 30 * time.Second
	// How often a call is made at most.
	maxAttempts = 4
	// What GitHub asks for when it says no more than that a secondary limit was hit.
	// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
	secondaryWait = time.Minute
	// How it says that.
	secondaryWords = "secondary rate limit"
)

// transport sends requests with a token, and again where that is right. It is one
// level above the connection: each attempt gets a time of its own.
type transport struct {
	base    http.RoundTripper
	api     *url.URL // whose scheme and host are the only ones to send anything to
	maxWait time.Duration
	// repeatable says that even a POST can be made twice.
	repeatable bool
	scheme     string
	// token returns the token to send; renew says that the last one was refused. nil: there
	// is none to send.
	token func(ctx context.Context, renew bool) (Secret, error)
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	// A client comes back here for each redirect that it follows, and net/http's care for
	// headers ends above the one that is set below. A repository that has another name now
	// redirects within the API.
	if req.URL.Scheme != t.api.Scheme || req.URL.Host != t.api.Host {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, fmt.Errorf("GitHub's API leads to %s://%s, which gets nothing from us", req.URL.Scheme, req.URL.Host)
	}
	renew := false
	for attempt := 1; ; attempt++ {
		res, err := t.send(req, renew)
		if attempt == maxAttempts {
			return res, err
		}
		v := judge(res, err, t.repeatable || req.Method != http.MethodPost, time.Now())
		if !v.again || v.renew && renew || req.Body != nil && req.GetBody == nil {
			return res, err
		}
		wait := v.wait
		if wait == 0 && !v.renew {
			wait = pause(attempt)
		}
		if wait > t.maxWait || !fits(req.Context(), wait) {
			return res, err
		}
		renew = v.renew
		if res != nil {
			io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
			res.Body.Close()
		}
		if err := sleep(req.Context(), wait); err != nil {
			return nil, err
		}
	}
}

// send makes one attempt.
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
	if req.GetBody != nil {
		if out.Body, err = req.GetBody(); err != nil {
			cancel()
			return nil, err
		}
	}
	if t.token != nil {
		out.Header.Set("Authorization", t.scheme+" "+token.reveal())
	}
	res, err := t.base.RoundTrip(out)
	if err != nil {
		if ctx.Err() != nil && req.Context().Err() == nil {
			err = context.Cause(ctx)
		}
		cancel()
		return nil, err
	}
	res.Request = req // its headers hold no token
	if res.StatusCode/100 == 2 && res.Header.Get("X-RateLimit-Remaining") == "0" {
		// go-github would refuse the next call by itself, without waiting a second.
		res.Header.Del("X-RateLimit-Reset")
	}
	res.Body = &cancelling{res.Body, cancel}
	return res, nil
}

// tokenError is an error on the way to a token, which had attempts of its own.
type tokenError struct{ error }

func (e tokenError) Unwrap() error { return e.error }

// cancelling ends an attempt's time when its answer was read.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c *cancelling) Close() error { defer c.cancel(); return c.ReadCloser.Close() }

// A verdict says what to do about an answer.
type verdict struct {
	again bool
	renew bool          // with another token
	wait  time.Duration // 0: as long as usual
}

// judge looks at the answer to a call. idempotent says that doing the call twice
// does no more than doing it once.
func judge(res *http.Response, err error, idempotent bool, now time.Time) verdict {
	if err != nil {
		final := errors.As(err, new(tokenError)) || errors.Is(err, context.Canceled)
		return verdict{again: idempotent && !final}
	}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		return verdict{again: true, renew: true} // refused, so not done
	case http.StatusForbidden, http.StatusTooManyRequests:
		wait, limited := rateLimit(res, now)
		return verdict{again: limited, wait: wait} // refused, so not done
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait, _ := retryAfter(res.Header)
		return verdict{again: idempotent, wait: wait}
	}
	return verdict{}
}

// rateLimit tells how long a limit lasts, if it was one that refused the call.
func rateLimit(res *http.Response, now time.Time) (time.Duration, bool) {
	if wait, ok := retryAfter(res.Header); ok {
		return wait, true
	}
	if res.Header.Get("X-RateLimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Unix(at, 0).Sub(now), time.Second), true
		}
	}
	start, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), res.Body), res.Body}
	limited := err == nil && strings.Contains(string(start), secondaryWords)
	return secondaryWait, limited || res.StatusCode == http.StatusTooManyRequests
}

// retryAfter reads the header of that name: seconds are what GitHub sends.
func retryAfter(h http.Header) (time.Duration, bool) {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0, false
	}
	return max(time.Duration(s)*time.Second, time.Second), true
}

// pause is how long to wait after an attempt that just failed: half a second,
// doubled each time, by chance up to half of it more.
func pause(attempt int) time.Duration {
	d := 500 * time.Millisecond << (attempt - 1)
	return d + rand.N(d/2)
}

// fits reports whether ctx lasts longer than d.
func fits(ctx context.Context, d time.Duration) bool {
	end, ok := ctx.Deadline()
	return !ok || time.Until(end) > d
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
