package project

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// A FilesRead records what a plan of a project has read in addition to the project's own files. Read are the
// paths. Hash is the hash of all inputs of the plan, including those paths.
type FilesRead struct {
	Read []string `json:",omitempty"`
	Hash string
}

// maxMatches is the maximum number of comparisons of a pattern with a file. A pattern that several projects
// have counts only once.
const maxMatches = 2_000_000

// A LimitError reports that a comparison would take too long.
type LimitError struct{ Why string }

// Error implements error.
func (e *LimitError) Error() string { return e.Why }

// A Difference is the difference between two commits. It has the projects whose plans may differ, and the names
// of the files that differ, sorted.
type Difference struct {
	Projects []Project
	Changed  []string
}

// Touched returns the projects of a commit whose plans may differ from those of another commit, its base. A
// project is touched if its [Inputs] differ by content, or if the base does not have it. was and now are the
// files of the base and of the commit; had and has are their projects.
//
// seen returns what earlier plans of a project have read. If one of these plans had the same inputs as the
// base, a plan of the base reads the same files as that plan. Otherwise, all files count that the configuration
// may read.
//
// A project with patterns is also touched if they match a file that differs.
func Touched(ctx context.Context, was, now fs.FS, had, has []Project, seen func(Project) []FilesRead) (Difference, error) {
	c := &comparison{was: newCheckout(was), now: newCheckout(now), matched: map[string][]bool{}}
	if err := c.look(); err != nil {
		return Difference{}, err
	}
	base := map[[2]string]Project{}
	for _, p := range had {
		base[[2]string{p.Name, p.Workspace}] = p
	}
	out := Difference{Changed: c.changed}
	for _, p := range has {
		if err := ctx.Err(); err != nil {
			return Difference{}, err
		}
		old, ok := base[[2]string{p.Name, p.Workspace}]
		differs, err := !ok, error(nil)
		if ok {
			differs, err = c.differ(ctx, old, p, seen(old))
		}
		if err != nil {
			return Difference{}, err
		}
		if differs {
			out.Projects = append(out.Projects, p)
		}
	}
	return out, nil
}

// A comparison compares the files and projects of two commits.
type comparison struct {
	was, now *checkout
	changed  []string          // the names of the files that differ
	matched  map[string][]bool // whether a pattern matches them
	matches  int
}

// differ reports whether a project's plans at the two commits may differ.
func (c *comparison) differ(ctx context.Context, old, p Project, seen []FilesRead) (bool, error) {
	if string(old.settings()) != string(p.settings()) {
		return true, nil
	}
	if p.WhenChanged != nil && len(p.WhenChanged) == 0 {
		return false, nil // An empty list of patterns means that no change of a file touches the project. Only its settings can touch it.
	}
	read, err := c.reads(old, seen)
	if err != nil {
		return false, err
	}
	before, err := c.was.inputs(old, read, true)
	if err != nil {
		return false, err
	}
	after, err := c.now.inputs(p, read, true)
	if err != nil || len(before.Diff(after)) > 0 {
		return true, err
	}
	return c.patterns(ctx, p)
}

// reads returns the paths that a plan of the base reads in addition to the project's own files.
func (c *comparison) reads(p Project, seen []FilesRead) ([]string, error) {
	all := slices.Clone(p.Reads)
	for _, s := range seen {
		t, err := c.was.inputs(p, s.Read, false)
		if err != nil {
			return nil, err
		}
		if t.Hash() == s.Hash {
			return append(slices.Clone(p.Reads), s.Read...), nil
		}
		all = append(all, s.Read...)
	}
	return append(all, p.Guesses...), nil
}

// patterns reports whether the patterns of a project match a file that differs between the two commits.
func (c *comparison) patterns(ctx context.Context, p Project) (bool, error) {
	if len(p.WhenChanged) == 0 {
		return false, nil
	}
	in := make([]bool, len(c.changed))
	for _, pattern := range p.WhenChanged {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		pattern, taken := strings.CutPrefix(pattern, "!")
		matched, err := c.match(pattern)
		if err != nil {
			return false, err
		}
		for i, is := range matched {
			if is {
				in[i] = !taken
			}
		}
	}
	return slices.Contains(in, true), nil
}

// match returns for each differing file whether a pattern matches it.
func (c *comparison) match(pattern string) ([]bool, error) {
	if out, ok := c.matched[pattern]; ok {
		return out, nil
	}
	if c.matches += len(c.changed); c.matches > maxMatches {
		return nil, &LimitError{fmt.Sprintf("the patterns in when_changed would have to be compared with %d changed files more than %d times in all: write fewer patterns, or change fewer files in a pull request", len(c.changed), maxMatches)}
	}
	out := make([]bool, len(c.changed))
	for i, f := range c.changed {
		out[i] = blocks.MatchesPath(pattern, f)
	}
	c.matched[pattern] = out
	return out, nil
}

// look finds the files that differ between the two commits.
func (c *comparison) look() error {
	var trees [2]Tree
	for i, x := range []*checkout{c.was, c.now} {
		names, err := x.names()
		if err != nil {
			return err
		}
		trees[i] = Tree{}
		for _, name := range names {
			if err := x.file(trees[i], name); err != nil {
				return err
			}
		}
	}
	c.changed = trees[0].Diff(trees[1])
	return nil
}

// settings returns the settings in a project's block that its plan depends on, as text.
func (p Project) settings() []byte {
	x := Project{
		Name: p.Name, Dir: p.Dir, Workspace: p.Workspace, WhenChanged: p.WhenChanged, VarFiles: p.VarFiles,
		Environment: p.Environment, Variables: p.Variables, Inputs: projectinputs.Plain(p.Inputs), BackendConfig: p.BackendConfig, BackendFiles: p.BackendFiles,
		Language: p.Language,
	}
	if u := p.Unit; u != nil {
		x.Unit = &terragrunt.Unit{Digest: u.Digest, Problem: u.Problem}
	}
	if len(p.BackendFiles) > 0 {
		x.BackendConfig = nil // BackendConfig comes from the files in BackendFiles. Changes of these files count by themselves.
	}
	data, err := json.Marshal(x)
	if err != nil {
		panic(err) // it was read from a text
	}
	return data
}

// matches reports whether a pattern of the project matches a file. A pattern with a leading ! excludes files
// again, and later patterns have precedence.
func (p Project) matches(file string) bool {
	in := false
	for _, pattern := range p.WhenChanged {
		pattern, taken := strings.CutPrefix(pattern, "!")
		if in == taken && blocks.MatchesPath(pattern, file) {
			in = !taken
		}
	}
	return in
}

func within(file, dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }
