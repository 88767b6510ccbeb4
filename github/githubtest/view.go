package githubtest

// A PullView is a pull request as people see it.
type PullView struct {
	Number        int
	Title, Author string
	State         string // "open", "closed", "merged"
	Fork          bool   // that it comes from one
	From, Into    string // branches
	Head          string // SHA
	Conflicts     bool   // that it cannot be merged
}

// Pulls returns all pull requests, oldest first.
func (r *Repository) Pulls() []PullView {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	var out []PullView
	for _, p := range r.pulls {
		v := PullView{
			Number: p.number, Title: p.title, Author: p.author.login, State: state(p), Fork: p.from != r,
			From: p.head, Into: p.base, Head: p.headSHA,
		}
		if p.mergedBy != nil {
			v.State = "merged"
		}
		if p.open {
			_, conflicts := r.hub.merged(r.branches[p.base], p.headSHA)
			v.Conflicts = len(conflicts) > 0
		}
		out = append(out, v)
	}
	return out
}

// Changes returns the files that a pull request changes, as they are where it began
// and at its head. A file that is not there is in one of them only.
func (r *Repository) Changes(number int) (before, after Files) {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	old, head := r.sides(r.mustPull(number))
	before, after = Files{}, Files{}
	for _, name := range old.changed(head) {
		if content, ok := old[name]; ok {
			before[name] = content
		}
		if content, ok := head[name]; ok {
			after[name] = content
		}
	}
	return before, after
}

// sides returns all files where a pull request began, and at its head.
func (r *Repository) sides(p *pull) (old, head Files) {
	base := r.branches[p.base]
	if !p.open {
		base = p.closedOn
	}
	return r.hub.mergeBase(base, p.headSHA).files, r.hub.commits[p.headSHA].files
}
