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

// ownersFiles are the places of the file with the owners; the first one that there is counts.
// Source: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-file-location
var ownersFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// maxLine is the length of a line, in bytes, that the library's scanner reads; it leaves out all that
// comes after a longer one.
const maxLine = 60 << 10

// An ownership is the file with the owners, the lines of it that are left out, and the changed paths, sorted.
type ownership struct {
	rules  codeowners.Ruleset
	unread []string
	paths  []string
}

// ownership reads the file at the tip of the base branch: the pull request's own file makes nobody an owner.
func (f *Finder) ownership(ctx context.Context) (o ownership, err error) {
	if o.rules, o.unread, err = f.owners(ctx); err != nil {
		return o, err
	}
	paths, all, err := f.Hub.ChangedFiles(ctx, f.Pull.Number)
	if err != nil {
		return o, err
	}
	if !all {
		return o, problem("GitHub lists at most %d changed files, and there may be more", github.MaxChangedFiles)
	}
	slices.Sort(paths)
	o.paths = slices.Compact(paths)
	return o, nil
}

// owned returns the changed paths that have owners, and the configuration of the subject's project, as one path more, if what
// its plan changes can come from elsewhere: its owners would not be asked. That of a project which the pull request moves is the
// one of the base branch, too.
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

// configures reports whether a file is one of the configuration in a directory. What else is there, say a README, may have other
// owners, and changes nothing.
func configures(file, dir string) bool {
	is := func(ending string) bool { return strings.HasSuffix(file, ending) }
	return path.Dir(file) == path.Clean(dir) && slices.ContainsFunc([]string{".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json"}, is)
}

// owners reads the file, and names the lines that it leaves out.
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

// ownersIn reads a line: at most one rule. It is false for a line that GitHub leaves out, and lists among the errors of the file:
// one with an owner that is none, or with a pattern that only .gitignore can have.
// Source: https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners#codeowners-syntax
func ownersIn(line []byte) (codeowners.Ruleset, bool) {
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte(`\#`)) { // which the library reads
		return nil, false
	}
	rules, err := codeowners.ParseFile(bytes.NewReader(line))
	return rules, err == nil
}

// problem is an error that people have to mend.
func problem(format string, args ...any) error {
	return &github.FinalError{Why: fmt.Sprintf(format, args...)}
}
