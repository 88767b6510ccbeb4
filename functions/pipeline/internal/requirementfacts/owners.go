package requirementfacts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hmarr/codeowners"

	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// ownersFiles are the paths at which CODEOWNERS may be. The first one that exists is used. Source:
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-file-location
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// maxLine is the maximum length of a line of CODEOWNERS, in bytes. After a longer line, the library's scanner
// would ignore the rest of the file.
const maxLine = 60 << 10

// An ownership has the rules of CODEOWNERS, the lines that GitHub ignores, and the changed paths, sorted.
type ownership struct {
	rules  codeowners.Ruleset
	unread []string
	paths  []string
}

// ownership reads CODEOWNERS at the tip of the base branch. The file in the pull request is ignored.
func (f *Finder) ownership(ctx context.Context) (o ownership, err error) {
	if o.rules, o.unread, err = f.owners(ctx); err != nil {
		return o, err
	}
	files, all, err := f.Hub.ChangedFiles(ctx, f.Pull.Number)
	if err != nil {
		return o, err
	}
	if !all {
		return o, problem("GitHub lists at most %d changed files, and there may be more", github.MaxChangedFiles)
	}
	o.paths = slices.Compact(slices.Sorted(slices.Values(github.PathsOf(files))))
	return o, nil
}

// owned returns the changed paths that have owners. If the plan may change more than the changed files show, it
// adds the configuration of the subject's project as a path. Otherwise, the owners of that path would not be
// asked. If the pull request moves the project to another directory, it also adds the configuration on the base
// branch.
func (o ownership) owned(s Subject) (out []requirementrules.Owned, err error) {
	paths := slices.Clone(o.paths)
	for _, dir := range slices.Compact([]string{s.Dir, cmp.Or(s.Was, s.Dir)}) {
		configures := func(file string) bool { return configures(file, dir) || slices.Contains(s.VarFiles, file) }
		if s.Beyond || !slices.ContainsFunc(o.paths, configures) {
			paths = append(paths, path.Join(dir, "*.tf"))
		}
	}
	for _, path := range paths {
		rule, err := o.rules.Match(path)
		if err != nil {
			return nil, problem("the owners of %s cannot be found: %v", path, err)
		}
		if rule == nil || len(rule.Owners) == 0 {
			continue
		}
		o := requirementrules.Owned{Path: path}
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

// configures reports whether a file belongs to the configuration in the directory dir. Other files there, such
// as a README, may have other owners, and do not matter.
func configures(file, dir string) bool {
	is := func(ending string) bool { return strings.HasSuffix(file, ending) }
	return path.Dir(file) == path.Clean(dir) && slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json"}, is)
}

// owners reads CODEOWNERS. unread are the lines that GitHub ignores.
func (f *Finder) owners(ctx context.Context) (rules codeowners.Ruleset, unread []string, err error) {
	for _, name := range ownersFiles {
		src, err := f.Hub.File(ctx, f.Base, name)
		if errors.Is(err, github.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for i, line := range bytes.Split(src, []byte("\n")) {
			if len(line) > maxLine {
				return nil, nil, problem("line %d of the base branch's %s is too long", i+1, name)
			}
			one, ok := ownersIn(line)
			if !ok {
				unread = append(unread, fmt.Sprintf("%s line %d", name, i+1))
			}
			rules = append(rules, one...)
		}
		return rules, unread, nil
	}
	return nil, nil, problem("the base branch has no CODEOWNERS file")
}

// ownersIn parses a line, which has at most one rule. It returns false for a line that GitHub ignores and lists
// among the file's errors: an owner is invalid, or the pattern is valid only in .gitignore. Source:
// https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-syntax
func ownersIn(line []byte) (codeowners.Ruleset, bool) {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte(`\#`)) { // the library accepts it
		return nil, false
	}
	rules, err := codeowners.ParseFile(bytes.NewReader(line))
	return rules, err == nil
}

// problem returns an error that a person has to fix.
func problem(format string, args ...any) error {
	return &github.FinalError{Why: fmt.Sprintf(format, args...)}
}
