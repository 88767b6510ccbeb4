package requirementfacts

import (
	"context"
	"errors"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/github"
)

// contributors returns the logins of everybody who has contributed to the pull request's commits: authors,
// committers, co-authors, and the users who have pushed. The latter count because anybody can write any address
// into a commit. If the user of a commit or of a push is not known, the fact is unknown.
func (p *pass) contributors() requirementrules.Fact[[]string] {
	return fact(p, "contributors", func(ctx context.Context) ([]string, error) {
		c, err := p.Hub.Contributors(ctx, p.Pull.Number)
		if err != nil {
			return nil, err
		}
		var listed []github.Push
		if !p.Pull.Fork() { // GitHub shows us no pushes to another repository
			listed, err = p.Hub.Pushes(ctx, p.Pull.Head.Ref)
			if final := (*github.FinalError)(nil); err != nil && !errors.As(err, &final) && !errors.Is(err, github.ErrNotFound) {
				return nil, err
			}
		}
		return contributors(p.Pull.Head.SHA, c, p.Pushes, listed)
	})
}

// contributors returns the logins of the contributors to a pull request. recorded are the pushes that webhooks
// have reported. listed are the pushes to its branch that GitHub lists; some may be older than the pull
// request.
func contributors(head string, c github.Contributors, recorded, listed []github.Push) ([]string, error) {
	switch {
	case !c.All:
		return nil, problem("GitHub lists at most %d commits, and there may be more", github.MaxCommits)
	case len(c.Unlinked) > 0:
		return nil, problem("commit `%.7s` has an author or committer whose e-mail address belongs to no GitHub account, so approvals may be by the one who wrote it. "+
			"Add the address to the account, or rewrite the commit with an address of the account (`git rebase -r BASE --exec \"git commit --amend --no-edit --reset-author\"`) and push it with `--force-with-lease`", c.Unlinked[0])
	}
	all := slices.Clone(c.Logins)
	add := func(login string) {
		if login != "" && !slices.Contains(all, login) {
			all = append(all, login)
		}
	}
	pushes := slices.Clone(recorded)
	for _, x := range recorded {
		add(x.By)
	}
	for _, x := range listed {
		if slices.Contains(c.Commits, x.After) {
			pushes = append(pushes, x)
			add(x.By)
		}
	}
	// Pushes are followed back from the head: each push begins at the commit at which an earlier one has ended.
	// The first push begins at a commit that is not part of the pull request.
	for at, open := 0, []string{head}; at < len(open); at++ {
		told := false
		for _, x := range pushes {
			if x.After != open[at] || x.By == "" {
				continue
			}
			told = true
			if slices.Contains(c.Commits, x.Before) && !slices.Contains(open, x.Before) {
				open = append(open, x.Before)
			}
		}
		if !told {
			return nil, problem("GitHub does not say who pushed commit `%.7s`, so approvals may be by the one who did. "+
				"Make the commit anew and push it (`git commit --amend --no-edit --reset-author && git push --force-with-lease`)", open[at])
		}
	}
	return all, nil
}
