package github

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// secondaryWait is the pause after a secondary rate limit if GitHub's answer contains none.
	// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
	secondaryWait = time.Minute
	// secondaryWords are in GitHub's message about a secondary rate limit.
	secondaryWords = "secondary rate limit"
)

// rateLimitOf returns how long a rate limit lasts; ok is false if the answer has another reason.
func rateLimitOf(res *http.Response, now time.Time) (time.Duration, bool) {
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

// retryAfter returns the value of the header Retry-After, in which GitHub sends seconds; false if it is missing
// or invalid.
func retryAfter(h http.Header) (time.Duration, bool) {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0, false
	}
	return max(time.Duration(s)*time.Second, time.Second), true
}

// retryPause returns the time to wait after a failed attempt: half a second, doubled each time. A random part
// is added, of up to half of this time.
func retryPause(attempt int) time.Duration {
	d := 500 * time.Millisecond << (attempt - 1)
	return d + rand.N(d/2)
}

// fits reports whether ctx will not end before d has passed.
func fits(ctx context.Context, d time.Duration) bool {
	end, ok := ctx.Deadline()
	return !ok || time.Until(end) > d
}

// sleep waits for d. If ctx ends first, it returns the error of ctx.
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
