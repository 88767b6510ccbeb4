package githubtest

import "maps"

// A PullView is a pull request as GitHub's pages show it.
type PullView struct {
	Number        int
	Title, Author string
	Body          string // Markdown
	State         string // "open", "closed", "merged"
	Fork          bool   // whether it comes from one
	From, Into    string // branches
	Head          string // SHA
	Conflicts     bool
}

// Pulls returns all pull requests, oldest first.
func (l *pulls) Pulls() []PullView {
	defer l.repo.world.lock()()
	var out []PullView
	for _, p := range l.list {
		v := PullView{
			Number: p.number, Title: p.title, Body: p.body, Author: p.author.login, State: p.state(), Fork: p.from != l.repo,
			From: p.head, Into: p.base, Head: p.headSHA,
		}
		if p.mergedBy != nil {
			v.State = "merged"
		}
		if p.open {
			_, conflicts := l.repo.world.history.Merge(l.repo.branches[p.base], p.headSHA)
			v.Conflicts = len(conflicts) > 0
		}
		out = append(out, v)
	}
	return out
}

// Changes returns the files that a pull request changes: before at its merge base, after at its head. A new or
// deleted file is in only one of them.
func (l *pulls) Changes(number int) (before, after Files) {
	defer l.repo.world.lock()()
	old, head := l.sides(l.mustPull(number))
	return old.Between(head)
}

// Differs returns the names of the files that a merge of the pull request changes in its base branch. For a
// closed pull request, the base branch counts as it was when the pull request was closed.
func (l *pulls) Differs(number int) []string {
	defer l.repo.world.lock()()
	p, h := l.mustPull(number), l.repo.world.history
	base := l.repo.branches[p.base]
	if !p.open {
		base = p.closedOn
	}
	files, _ := h.Merge(base, p.headSHA)
	return h[base].Files.Changed(files)
}

// ChangesInto returns the files that a merge of the commit head into the commit base changes, like Changes.
func (l *pulls) ChangesInto(base, head string) (before, after Files) {
	defer l.repo.world.lock()()
	history := l.repo.world.history
	return history.MergeBase(base, head).Files.Between(history[head].Files)
}

// sides returns all files at a pull request's merge base and at its head.
func (l *pulls) sides(p *pull) (old, head Files) {
	base := l.repo.branches[p.base]
	if !p.open {
		base = p.closedOn
	}
	history := l.repo.world.history
	return history.MergeBase(base, p.headSHA).Files, history[p.headSHA].Files
}

// Files returns the files of a commit, nil if there is no such commit.
func (r *Repository) Files(sha string) Files {
	defer r.hub.lock()()
	if c := r.find(sha); c != nil {
		return maps.Clone(c.Files)
	}
	return nil
}
