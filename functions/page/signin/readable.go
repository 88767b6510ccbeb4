package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/github"
)

const (
	// answerLife is how long GitHub's answer counts that a person may read a repository, or may not.
	answerLife = time.Minute
	// maxAnswers is the maximum number of GitHub's answers that a process keeps. Then it forgets all of them.
	maxAnswers = 10_000
)

// An answer is GitHub's answer to the question which repositories a person may read.
type answer struct {
	repos []github.Repo
	until time.Time
}

// A question is the key of an answer: the person's token, as a hash, and the name of the repository in lower case; ""
// for all repositories.
type question struct {
	token [32]byte
	name  string
}

type cache struct {
	mu  *sync.Mutex
	all map[question]answer
}

func newCache() cache { return cache{new(sync.Mutex), map[question]answer{}} }

// ask returns the answer to a question: one that is younger than answerLife, or else a new one. An error is not kept.
func (c cache) ask(token, name string, fresh func() ([]github.Repo, error)) ([]github.Repo, error) {
	q := question{sha256.Sum256([]byte(token)), strings.ToLower(name)}
	c.mu.Lock()
	a, ok := c.all[q]
	c.mu.Unlock()
	if ok && time.Now().Before(a.until) {
		return a.repos, nil
	}
	asked := time.Now()
	repos, err := fresh()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= maxAnswers {
		clear(c.all)
	}
	c.all[q] = answer{repos, asked.Add(answerLife)}
	return repos, nil
}

// forget removes all answers about a person.
func (c cache) forget(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := sha256.Sum256([]byte(token))
	for q := range c.all {
		if q.token == of {
			delete(c.all, q)
		}
	}
}

// Repository returns the repository with a name if the reader of ctx may read it, and page.ErrNotFound otherwise.
func (d *Door) Repository(ctx context.Context, owner, name string) (github.Repo, error) {
	s, _ := ctx.Value(sessionKey{}).(session)
	if s.Link != nil {
		return d.linked(ctx, *s.Link, owner, name)
	}
	if s.Token == "" {
		return github.Repo{}, page.ErrNotFound
	}
	list, err := d.cache.ask(s.Token, owner+"/"+name, func() ([]github.Repo, error) {
		r, err := d.GitHub.User(github.NewSecret(s.Token)).Repository(ctx, owner, name)
		if errors.Is(err, github.ErrNotFound) {
			return nil, nil
		}
		return []github.Repo{r}, err
	})
	if err != nil {
		return github.Repo{}, d.failed(err)
	}
	if len(list) == 0 || !d.Serves(list[0]) {
		return github.Repo{}, page.ErrNotFound
	}
	return list[0], nil
}

// linked is Repository for the session of a link.
func (d *Door) linked(ctx context.Context, s Scope, owner, name string) (github.Repo, error) {
	if owner != s.Owner || name != s.Name {
		return github.Repo{}, page.ErrNotFound
	}
	id, err := d.Known(ctx, owner, name)
	r := github.Repo{ID: id, Owner: owner, Name: name}
	if err == nil && (id == 0 || !d.Serves(r)) {
		err = page.ErrNotFound
	}
	return r, err
}

// Repositories returns the repositories that the reader of ctx may read and that Lockstep works for.
func (d *Door) Repositories(ctx context.Context) ([]github.Repo, error) {
	s, _ := ctx.Value(sessionKey{}).(session)
	if s.Link != nil {
		r, err := d.linked(ctx, *s.Link, s.Link.Owner, s.Link.Name)
		return []github.Repo{r}, err
	}
	if s.Token == "" {
		return nil, nil
	}
	list, err := d.cache.ask(s.Token, "", func() ([]github.Repo, error) {
		return d.GitHub.User(github.NewSecret(s.Token)).Repositories(ctx)
	})
	if err != nil {
		return nil, d.failed(err)
	}
	return slices.DeleteFunc(slices.Clone(list), func(r github.Repo) bool { return !d.Serves(r) }), nil
}

// failed returns the refusal for a request to GitHub that failed.
func (d *Door) failed(err error) error {
	if errors.Is(err, github.ErrSignedOut) {
		return d.signInForm(nil, "Your sign-in has ended. Sign in again.")
	}
	return d.unavailable(err)
}
