package githubtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Files are a commit's files by path, or changes to them.
type Files map[string]string

// Deleted stands for the content of a file that a push deletes.
const Deleted = "\x00deleted"

// A commit is one in the history of a repository, immutable. A repository and its forks
// share theirs, as on GitHub.
type commit struct {
	sha     string
	network *Repository
	files   Files
	parents []string
	author  string
	message string
	at      time.Time
}

// commit makes one. Its name follows from all that is in it, but it is not git's. It is
// as old as the clock says, or, if GitHub makes it when it gets round to it, as its
// younger parent.
func (r *Repository) commit(author, message string, files Files, parents ...string) *commit {
	h := r.hub
	c := &commit{network: r.network(), files: files, parents: parents, author: author, message: message, at: h.clock}
	if author == "GitHub" {
		c.at = epoch
		for _, p := range parents {
			if at := h.commits[p].at; at.After(c.at) {
				c.at = at
			}
		}
	}
	d := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(d, "%q %q\n", name, files[name])
	}
	fmt.Fprintf(d, "%q %q %q %s", parents, author, message, c.at)
	c.sha = hex.EncodeToString(d.Sum(nil))
	h.commits[c.sha] = c
	return c
}

// network is the repository that a fork is a fork of, in the end.
func (r *Repository) network() *Repository {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// find returns the commit that a SHA, a branch, a tag or HEAD names.
func (r *Repository) find(ref string) *commit {
	if ref == "HEAD" {
		ref = "main"
	}
	if sha, ok := r.branches[ref]; ok {
		ref = sha
	} else if sha, ok := r.tags[ref]; ok {
		ref = sha
	}
	if c := r.hub.commits[ref]; c != nil && c.network == r.network() {
		return c
	}
	return nil
}

// with returns the files after changes.
func (f Files) with(changes Files) Files {
	out := maps.Clone(f)
	for name, content := range changes {
		if content == Deleted {
			delete(out, name)
		} else {
			out[name] = content
		}
	}
	return out
}

// changed returns the names of files that differ, sorted.
func (f Files) changed(to Files) []string {
	var out []string
	for name, content := range to {
		if old, ok := f[name]; !ok || old != content {
			out = append(out, name)
		}
	}
	for name := range f {
		if _, ok := to[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// ancestors returns the names of a commit and all before it, nearest first.
func (h *Hub) ancestors(sha string) []string {
	list := []string{sha}
	for i := 0; i < len(list); i++ {
		for _, p := range h.commits[list[i]].parents {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// mergeBase returns the nearest commit that both descend from.
func (h *Hub) mergeBase(a, b string) *commit {
	of := h.ancestors(b)
	for _, sha := range h.ancestors(a) {
		if slices.Contains(of, sha) {
			return h.commits[sha]
		}
	}
	panic("githubtest: commits without a common ancestor")
}

// merged returns the files of a merge of two commits, and the names of those that
// both changed, each in its own way.
func (h *Hub) merged(ours, theirs string) (Files, []string) {
	base, a, b := h.mergeBase(ours, theirs).files, h.commits[ours].files, h.commits[theirs].files
	var conflicts []string
	changes := Files{}
	mine := base.changed(a)
	for _, name := range base.changed(b) {
		content, there := b[name]
		if !there {
			content = Deleted
		}
		if slices.Contains(mine, name) {
			if is, ok := a[name]; ok != there || is != b[name] {
				conflicts = append(conflicts, name)
			}
			continue
		}
		changes[name] = content
	}
	return a.with(changes), conflicts
}
