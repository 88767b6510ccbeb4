package github

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A Repo identifies a repository. The ID decides: names can change hands.
type Repo struct {
	ID          int64  `json:"id"`
	Owner, Name string `json:",omitempty"`
	// OwnerID is the ID of the owner's account; 0 if GitHub does not send it.
	OwnerID int64 `json:",omitempty"`
}

// String returns "owner/name".
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// namePattern matches a valid owner or name. Names become parts of paths, so nothing else is allowed.
var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

// check returns an error if r's owner or name is not valid.
func (r Repo) check() error {
	for _, s := range []string{r.Owner, r.Name} {
		if !namePattern().MatchString(s) || strings.Trim(s, ".") == "" {
			return fmt.Errorf("%q is not the name of a repository", r.String())
		}
	}
	if r.ID <= 0 {
		return fmt.Errorf("the repository %s has no ID", r)
	}
	return nil
}

// shaPattern matches a git object name: SHA-1, or SHA-256 in future repositories.
var shaPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// checkSHA returns an error if s is not the full name of a commit.
func checkSHA(s string) error {
	if !shaPattern().MatchString(s) {
		return fmt.Errorf("%q is not the full name of a commit", s)
	}
	return nil
}
