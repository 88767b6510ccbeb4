package commits

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// A Commit is a git commit. It does not change once it is in a [History].
type Commit struct {
	SHA     string
	Network int64 // the ID of the repository that is not a fork; it shares its commits with its forks
	Files   Files
	Parents []string // SHAs
	Author  string
	// Committer is the committer if it is not the author; "" otherwise.
	Committer string
	Message   string
	At        time.Time
}

// A History has all commits by SHA. It is not safe for concurrent use.
type History map[string]*Commit

// Add computes a commit's SHA and stores the commit. The SHA depends on all content, as in git, but differs
// from the SHA that git would compute.
func (h History) Add(c Commit) *Commit {
	d := sha1.New()
	c.Files.print(d)
	fmt.Fprintf(d, "%q %q %q %s", c.Parents, c.Author, c.Message, c.At)
	if c.Committer != "" {
		fmt.Fprintf(d, " %q", c.Committer)
	}
	c.SHA = hex.EncodeToString(d.Sum(nil))
	h[c.SHA] = &c
	return &c
}

// Youngest returns the time of the youngest of the given commits, or the time from if that is later.
func (h History) Youngest(from time.Time, shas []string) time.Time {
	for _, sha := range shas {
		if at := h[sha].At; at.After(from) {
			from = at
		}
	}
	return from
}

// Tree returns the SHA of a commit's files. Here, commits with the same files have the same tree.
func (c *Commit) Tree() string {
	d := sha1.New()
	c.Files.print(d)
	return hex.EncodeToString(d.Sum(nil))
}

func (f Files) print(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(w, "%q %q\n", name, f[name])
	}
}

// ancestors returns the SHAs of a commit and all its ancestors, nearest first.
func (h History) ancestors(sha string) []string {
	list := []string{sha}
	for i := 0; i < len(list); i++ {
		for _, p := range h[list[i]].Parents {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// MergeBase returns the best common ancestor of two commits, as git does: a common ancestor that is no ancestor
// of another one. If there are several, it is the nearest to a. It panics if there is none, because the test is
// wrong.
func (h History) MergeBase(a, b string) *Commit {
	of := h.ancestors(b)
	var common, before []string
	for _, sha := range h.ancestors(a) {
		if slices.Contains(of, sha) {
			common = append(common, sha)
			before = append(before, h[sha].Parents...)
		}
	}
	for _, sha := range common {
		if !slices.Contains(before, sha) {
			return h[sha]
		}
	}
	panic("commits: no common ancestor")
}

// renamed returns the files of a merge base, each under the name that it has in side, one of the two merged
// commits. Like git, it recognizes a renamed file by its content. A file whose name and content both changed
// is not recognized here.
func (f Files) renamed(side, other Files) Files {
	out := maps.Clone(f)
	for name, content := range f {
		_, still := side[name]
		if changed, kept := other[name]; still || !kept || changed == content || content == "" {
			continue // the other side has not changed the file
		}
		for _, to := range slices.Sorted(maps.Keys(side)) {
			_, was := f[to]
			if _, taken := other[to]; !was && !taken && side[to] == content {
				delete(out, name)
				out[to] = content
				other[to] = other[name]
				delete(other, name)
				break
			}
		}
	}
	return out
}

// Merge returns the files of a merge of two commits, and the names of the files in conflict. A file is in
// conflict if both sides changed it since their merge base, in different ways. If one side renamed a file and
// the other changed it, the change goes to the new name.
func (h History) Merge(ours, theirs string) (files Files, conflicts []string) {
	base, a, b := h.MergeBase(ours, theirs).Files, maps.Clone(h[ours].Files), maps.Clone(h[theirs].Files)
	base = base.renamed(a, b).renamed(b, a)
	changes := Files{}
	mine := base.Changed(a)
	for _, name := range base.Changed(b) {
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
	return a.With(changes), conflicts
}

// Missing returns the commits up to head that base lacks, oldest first.
func (h History) Missing(base, head string) []*Commit {
	have := h.ancestors(base)
	var out []*Commit
	for _, sha := range slices.Backward(h.ancestors(head)) {
		if !slices.Contains(have, sha) {
			out = append(out, h[sha])
		}
	}
	return out
}

// Lacks returns the number of commits that are in the history of other, but not in the history of sha.
func (h History) Lacks(sha, other string) int { return len(h.Missing(sha, other)) }
