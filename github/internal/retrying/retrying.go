// Package retrying decides when a request to GitHub is tried again.
//
// It refuses to know which requests may be repeated: that is package github. Start at [RateLimit].
package retrying

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
	// SecondaryWait is the pause that GitHub asks for after a secondary limit, if the answer contains no other.
	// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
	SecondaryWait = time.Minute
	// SecondaryWords are GitHub's words for such a limit.
	SecondaryWords = "secondary rate limit"
)

// RateLimit returns the duration of a limit, if a limit was the reason for the answer.
func RateLimit(res *http.Response, now time.Time) (time.Duration, bool) {
	if wait, ok := After(res.Header); ok {
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
	limited := err == nil && strings.Contains(string(start), SecondaryWords)
	return SecondaryWait, limited || res.StatusCode == http.StatusTooManyRequests
}

// After reads the header of that name, in which GitHub sends seconds.
func After(h http.Header) (time.Duration, bool) {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0, false
	}
	return max(time.Duration(s)*time.Second, time.Second), true
}

// Pause returns the time to wait after a failed attempt: half a second, doubled each time, plus a
// random part of up to half of it.
func Pause(attempt int) time.Duration {
	d := 500 * time.Millisecond << (attempt - 1)
	return d + rand.N(d/2)
}

// Fits reports whether ctx lasts longer than d.
func Fits(ctx context.Context, d time.Duration) bool {
	end, ok := ctx.Deadline()
	return !ok || time.Until(end) > d
}

// Sleep waits for d, or for the end of ctx, which is an error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
