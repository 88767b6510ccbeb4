package apps

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Need is a permission that a request demands, as "checks:write", or several with " or "
// between them, each of which suffices. "" demands none.
type Need string

// permissions returns all that the App asks for. Each has a level: "write" includes "read".
func permissions() map[string]string {
	return map[string]string{
		"metadata": "read", "contents": "read", "statuses": "read", "members": "read", "merge_queues": "read",
		"pull_requests": "write", "issues": "write", "checks": "write",
	}
}

// met reports whether permissions suffice.
func (n Need) met(granted map[string]string) bool {
	if n == "" {
		return true
	}
	for one := range strings.SplitSeq(string(n), " or ") {
		name, level, _ := strings.Cut(one, ":")
		if covers(granted[name], level) {
			return true
		}
	}
	return false
}

// covers reports whether a level includes another one.
func covers(have, want string) bool {
	levels := []string{"read", "write"}
	at := slices.Index(levels, want)
	return at >= 0 && slices.Index(levels, have) >= at
}

// Permissions are those that the account of the App's installation has accepted.
func (a *App) Permissions() rest.Object {
	out := rest.Object{}
	for name, level := range a.accepted {
		out[name] = level
	}
	return out
}

// Withdraw takes permissions from the App, as an account that does not accept them. Tokens that were
// given out before lose them, too.
func (a *App) Withdraw(names ...string) {
	for _, name := range names {
		delete(a.accepted, name)
		for _, t := range a.tokens {
			delete(t.permissions, name)
		}
	}
}

// Grant gives the App a permission at a level, "write" say, as an account that accepts it.
func (a *App) Grant(name, level string) {
	a.accepted[name] = level
	for _, t := range a.tokens {
		t.permissions[name] = level
	}
}

// narrowed returns the permissions of a token for a request, and whether all that it asks for were accepted. Metadata is
// always among them.
func (a *App) narrowed(asked map[string]string) (map[string]string, bool) {
	if len(asked) == 0 {
		return maps.Clone(a.accepted), true
	}
	out := map[string]string{"metadata": "read"}
	for name, level := range asked {
		if !covers(a.accepted[name], level) {
			return nil, false
		}
		out[name] = level
	}
	return out, true
}

// Forbidden is GitHub's answer to a request for which the permissions of a token do not suffice.
var Forbidden = &rest.Problem{Status: http.StatusForbidden, Message: "Resource not accessible by integration"}
