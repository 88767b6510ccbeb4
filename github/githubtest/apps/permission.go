package apps

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// A Need is the permission that a request requires, such as "checks:write". Permissions separated by " or " are
// alternatives. "" requires none.
type Need string

// permissions returns all permissions that the App asks for, each with its level. "write" includes "read".
func permissions() map[string]string {
	return map[string]string{
		"metadata": "read", "contents": "read", "statuses": "read", "members": "read", "merge_queues": "read",
		"pull_requests": "write", "issues": "write", "checks": "write",
	}
}

// met reports whether the granted permissions fulfil the need.
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

// covers reports whether the level have includes the level want.
func covers(have, want string) bool {
	levels := []string{"read", "write"}
	at := slices.Index(levels, want)
	return at >= 0 && slices.Index(levels, have) >= at
}

// Permissions returns the permissions that the account of the App's installation has accepted.
func (a *App) Permissions() rest.Object {
	out := rest.Object{}
	for name, level := range a.accepted {
		out[name] = level
	}
	return out
}

// Withdraw takes permissions from the App, as if the account had not accepted them. Existing tokens also lose
// them.
func (a *App) Withdraw(names ...string) {
	for _, name := range names {
		delete(a.accepted, name)
		for _, t := range a.tokens {
			delete(t.permissions, name)
		}
	}
}

// Grant gives the App a permission at a level such as "write", as if the account had accepted it.
func (a *App) Grant(name, level string) {
	a.accepted[name] = level
	for _, t := range a.tokens {
		t.permissions[name] = level
	}
}

// narrowed returns the permissions of a new token: those that the request names, and metadata. If the request
// names none, it returns all permissions of the App. It returns false if the account has not accepted one of
// them.
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

// Forbidden is GitHub's answer if a token lacks the permission for a request.
var Forbidden = &rest.Problem{Status: http.StatusForbidden, Message: "Resource not accessible by integration"}
