package github

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A Repo names a repository. The ID is what counts: names can change hands.
type Repo struct {
	ID          int64  `json:"id"`
	Owner, Name string `json:",omitempty"`
	// OwnerID is the ID of the owner's account; 0 where GitHub does not say it.
	OwnerID int64 `json:",omitempty"`
}

// String returns "owner/name".
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Names become parts of paths, so nothing else may be in them than GitHub allows.
var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`) })

// check says why r cannot be a repository's name.
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

// Object names are SHA-1, or SHA-256 in the repositories to come.
var shaPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// CheckSHA says why s is not the full name of a commit, or returns nil.
func CheckSHA(s string) error {
	if !shaPattern().MatchString(s) {
		return fmt.Errorf("%q is not the full name of a commit", s)
	}
	return nil
}
