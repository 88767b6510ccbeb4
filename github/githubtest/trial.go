package githubtest

import "fmt"

// A trial is GitHub's trial merge of a pull request's head into its base branch. An outdated trial remains
// until GitHub makes a new one.
type trial struct {
	of        [2]string // SHAs of base and head
	conflicts bool
	sha       string // of the last merge without conflicts
}

// LagMerges makes GitHub's trial merges late. The next n times that a pull request with an outdated trial
// merge is read, mergeable is null and the old trial merge remains. A negative n means every time, until
// another call of LagMerges.
func (l *pulls) LagMerges(n int) {
	defer l.repo.world.lock()()
	l.lag = n
}

func pairOf(l *pulls, p *pull) [2]string { return [2]string{l.repo.branches[p.base], p.headSHA} }

// try updates the trial merge, as GitHub does when a pull request is read.
func (l *pulls) try(p *pull) {
	pair := pairOf(l, p)
	if !p.open || p.trial.of == pair {
		return
	}
	if l.lag != 0 {
		l.lag = max(l.lag-1, -1)
		return
	}
	files, conflicts := l.repo.world.history.Merge(pair[0], pair[1])
	p.trial.of, p.trial.conflicts = pair, len(conflicts) > 0
	if !p.trial.conflicts {
		p.trial.sha = l.repo.commit("GitHub", fmt.Sprintf("Merge %.7s into %.7s", pair[1], pair[0]), files, pair[0], pair[1]).SHA
	}
}

// mergeable returns the value of "mergeable" in GitHub's answer: whether the trial merge has no conflict. It is nil if
// the pull request is closed, or if the trial merge is out of date.
func (l *pulls) mergeable(p *pull) any {
	if !p.open || p.trial.of != pairOf(l, p) {
		return nil
	}
	return !p.trial.conflicts
}

// mergeCommit returns the member merge_commit_sha: the commit of the merge, or else of the trial merge.
func (p *pull) mergeCommit() any {
	switch {
	case p.mergeSHA != "":
		return p.mergeSHA
	case p.trial.sha != "":
		return p.trial.sha
	}
	return nil
}
