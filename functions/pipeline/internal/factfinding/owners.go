package factfinding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hmarr/codeowners"

	"github.com/lockstep-iac/lockstep/functions/pipeline/gates"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// ownersFiles are the places of the file with the owners; the first one that there is counts.
// Source: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-file-location
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// maxLine is the length of a line, in bytes, that the library's scanner reads; it leaves out all that
// comes after a longer one.
const maxLine = 60 << 10

// owned returns the changed paths that have owners, by the file at the tip of the base branch: the pull
// request's own file makes nobody an owner. GitHub leaves out lines that it cannot read; here nobody
// knows then who owns what.
func (f *Finder) owned(ctx context.Context) ([]gates.Owned, error) {
	rules, err := f.owners(ctx)
	if err != nil {
		return nil, err
	}
	paths, all, err := f.Hub.ChangedFiles(ctx, f.Pull.Number)
	if err != nil {
		return nil, err
	}
	if !all {
		return nil, problem("GitHub lists at most %d changed files, and there may be more", github.MaxChangedFiles)
	}
	slices.Sort(paths)
	var out []gates.Owned
	for _, path := range slices.Compact(paths) {
		rule, err := rules.Match(path)
		if err != nil {
			return nil, problem("the owners of %s cannot be found: %v", path, err)
		}
		if rule == nil || len(rule.Owners) == 0 {
			continue
		}
		o := gates.Owned{Path: path}
		for _, x := range rule.Owners {
			party, err := requirements.ParseParty(x.Value)
			if err != nil || x.Type == codeowners.EmailOwner {
				o.Others = append(o.Others, x.Value)
				continue
			}
			o.Owners = append(o.Owners, party)
		}
		out = append(out, o)
	}
	return out, nil
}

// owners reads the file.
func (f *Finder) owners(ctx context.Context) (codeowners.Ruleset, error) {
	for _, name := range ownersFiles {
		src, err := f.Hub.File(ctx, f.Base, name)
		if errors.Is(err, github.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, line := range bytes.Split(src, []byte("\n")) {
			if len(line) > maxLine {
				return nil, problem("line %d of the base branch's %s is too long", i+1, name)
			}
		}
		rules, err := codeowners.ParseFile(bytes.NewReader(src))
		if err != nil {
			return nil, problem("the base branch's %s cannot be read: %v", name, err)
		}
		return rules, nil
	}
	return nil, problem("the base branch has no CODEOWNERS file")
}

// problem is an error that people have to mend.
func problem(format string, args ...any) error {
	return &github.FinalError{Why: fmt.Sprintf(format, args...)}
}
