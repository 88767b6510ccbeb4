package run

import (
	"net/url"
	"strings"
	"time"
)

// Retention says for how long a record is kept after it was written last; 0 is for
// ever. It is for tidying up: no decision trusts that a record is gone.
func Retention(key string) time.Duration {
	const day = 24 * time.Hour
	collection, _, _ := strings.Cut(key, "/")
	switch collection {
	case "delivery", "message", "lease":
		// GitHub delivers again for 3 days, and a queue keeps a message for 14 at most.
		return 15 * day
	case "ask", "sha":
		return 90 * day // check runs expire then, too
	case "run", "effect", "pull":
		return 365 * day
	}
	return 0
}

// segment makes any name one part of a key.
func segment(s string) string {
	switch s = url.PathEscape(s); s {
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	return s
}
