package githubtest

import "fmt"

// A trial is what came of merging a pull request's head into its base branch for
// trial. The one of an older pair stays until there is a newer.
type trial struct {
	of        [2]string // SHAs of base and head
	conflicts bool
	sha       string // of the last merge without conflicts
}

// LagMerges lets GitHub be slow: the next n times that a pull request is read whose
// trial merge is old, it says that it does not know, and keeps the old one. With n
// negative that goes on until another call.
func (r *Repository) LagMerges(n int) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.lag = n
}

func (r *Repository) pair(p *pull) [2]string { return [2]string{r.branches[p.base], p.headSHA} }

// try brings the trial merge up to date, as GitHub does when a pull request is read.
func (r *Repository) try(p *pull) {
	pair := r.pair(p)
	if !p.open || p.trial.of == pair {
		return
	}
	if r.lag != 0 {
		r.lag = max(r.lag-1, -1)
		return
	}
	files, conflicts := r.hub.merged(pair[0], pair[1])
	p.trial.of, p.trial.conflicts = pair, len(conflicts) > 0
	if !p.trial.conflicts {
		p.trial.sha = r.commit("GitHub", fmt.Sprintf("Merge %.7s into %.7s", pair[1], pair[0]), files, pair[0], pair[1]).sha
	}
}

// mergeable is what GitHub says of a pull request: true, false, or nil while it does
// not know.
func (r *Repository) mergeable(p *pull) any {
	if !p.open || p.trial.of != r.pair(p) {
		return nil
	}
	return !p.trial.conflicts
}

// mergeCommit is what a pull request became, or its trial merge.
func (p *pull) mergeCommit() any {
	switch {
	case p.mergeSHA != "":
		return p.mergeSHA
	case p.trial.sha != "":
		return p.trial.sha
	}
	return nil
}
