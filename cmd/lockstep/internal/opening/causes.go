package opening

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/functions/pipeline/patches"
)

// Causes returns the lines of the configuration that cause the changes of a plan. If since is not "", only lines count
// that differ from the commit at which the present branch left the branch with this name. given are the options with
// values for variables.
func Causes(op *Operation, plan *plans.Plan, given cli.VarFlags, since string) ([]causes.Cause, error) {
	in := causes.Input{Config: op.Config, Plan: plan, Values: map[string]hcl.Expression{}}
	sources, _ := op.App.Sources(op.Dir, given) // the plan has the values; this finds their places
	values, _ := inputs.Collect(op.Config.Root.Content, sources)
	for name, v := range values {
		if v.Expr != nil && v.Range != nil {
			in.Values[name] = v.Expr
		}
	}
	for _, s := range sources {
		if s.File != nil {
			op.App.Files[s.FileName] = s.File
		}
	}
	if since != "" {
		var err error
		if in.Edits, err = editsSince(op.App, op.Dir.Path, since); err != nil {
			return nil, err
		}
	}
	return causes.Find(in), nil
}

// editsSince returns the lines of a working tree that differ from the commit at which the present branch left
// another one. dir is the root module's directory: file names are relative to it.
func editsSince(a *cli.App, dir, since string) (causes.Edits, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // git's paths have no links
	}
	if err != nil {
		return nil, err
	}
	git := func(args ...string) (string, error) {
		c := exec.CommandContext(a.Ctx, "git", args...)
		c.Dir = dir
		out, err := c.Output()
		var failed *exec.ExitError
		if err != nil && errors.As(err, &failed) {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
		}
		return string(out), err
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	top = strings.TrimSpace(top)
	base, err := git("merge-base", "--end-of-options", since, "HEAD")
	if err != nil {
		return nil, err
	}
	base = strings.TrimSpace(base)
	names, err := git("diff", "--name-only", "--no-renames", "-z", base, "--", ":/")
	if err != nil {
		return nil, err
	}
	fresh, err := git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/")
	if err != nil {
		return nil, err
	}
	out := causes.Edits{}
	for name := range strings.SplitSeq(strings.TrimSuffix(names+fresh, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		at := filepath.Join(top, filepath.FromSlash(name))
		content, err := os.ReadFile(at)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		text, err := git("diff", "--no-ext-diff", "--no-color", "--no-renames", base, "--", ":/"+name)
		if err != nil {
			return nil, err
		}
		_, hunks, changed := strings.Cut("\n"+text, "\n@@ ")
		f := patches.Place(strings.TrimSuffix("@@ "+hunks, "\n"), content)
		if !changed && len(content) > 0 { // git does not know the file yet
			lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
			f.Edits = []causes.Edit{{First: 1, Last: len(lines), Added: lines}}
		}
		relative, err := filepath.Rel(dir, at)
		if err != nil {
			return nil, err
		}
		out[filepath.ToSlash(relative)] = f.Edits
	}
	return out, nil
}
