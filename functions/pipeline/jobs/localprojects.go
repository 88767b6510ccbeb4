package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// LocalProjects reads projects in the process of its caller.
type LocalProjects struct{}

var _ Projects = LocalProjects{}

// Discover implements Projects.
func (LocalProjects) Discover(_ context.Context, dir string) (Discovered, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Discovered{}, err
	}
	defer root.Close()
	units, err := loadUnits(dir)
	if err != nil {
		return Discovered{}, err
	}
	found, ds := project.Discover(root.FS(), units.Units...)
	d := Discovered{Projects: found.Projects, Settings: found.Settings, Notes: notesOf(found), Left: found.Left, Warnings: warningsOf(ds, diags.Warning), Unguarded: warningsOf(found.Unguarded, diags.Error), Unheld: FirstError(found.Unguarded)}
	if ds.HasErrors() {
		src, err := root.ReadFile(cmp.Or(found.Settings, project.FileName))
		if err != nil {
			src = nil // There is no file to quote. The errors themselves say that the file is missing.
		}
		d.Problem = Quoted(ds, found.Settings, src)
	}
	if units.Problem != "" {
		d.Problem = strings.TrimSpace(markdown.Cut(markdown.Fence("", "Terragrunt cannot find the units: "+units.Problem), maxUnitsProblem) + "\n\n" + d.Problem)
	}
	return d, nil
}

// maxUnitsProblem is the maximum length of the text about units that cannot be found, in bytes.
const maxUnitsProblem = 8 << 10

// Inputs implements Projects. It uses the project's settings in this checkout, which may differ from those with
// which the project was planned.
func (LocalProjects) Inputs(_ context.Context, dir string, r runs.Run, s Scope) (project.Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	units, err := loadUnits(dir)
	if err != nil {
		return nil, err
	}
	p, ok := project.Find(root.FS(), r.Project, r.Workspace, units.Units...)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %s", ErrNoProject, r.Project)
	case s.Whole:
		return project.Everything(root.FS(), p)
	}
	return project.Inputs(root.FS(), p, s.Read...)
}

// Touched implements Projects.
func (LocalProjects) Touched(ctx context.Context, c Comparison) (out Compared, err error) {
	var roots [2]*os.Root
	for i, dir := range []string{c.Was, c.Now} {
		if roots[i], err = os.OpenRoot(dir); err != nil {
			return out, err
		}
		defer roots[i].Close()
	}
	target := func(p project.Project) string {
		return runs.ID{Project: p.Name, Workspace: p.Workspace}.Target()
	}
	d, err := project.Touched(ctx, roots[0].FS(), roots[1].FS(), c.Had, c.Has, func(p project.Project) []project.FilesRead { return c.Seen[target(p)] })
	var limit *project.LimitError
	if errors.As(err, &limit) {
		return Compared{Problem: markdown.Code(limit.Error())}, nil
	}
	for _, p := range d.Projects {
		out.Touched = append(out.Touched, target(p))
	}
	out.Changed = d.Changed
	return out, err
}

// maxWarnings is the maximum number of warnings about a repository.
const maxWarnings = 50

// warningsOf returns the diagnostics of a severity as warnings, at most maxWarnings.
func warningsOf(ds diags.Diagnostics, severity diags.Severity) (out []Warning) {
	for _, d := range ds {
		if d.Severity != severity || len(out) == maxWarnings {
			continue
		}
		w := Warning{Text: "**" + d.Summary + ".** " + markdown.Code(d.Detail)}
		if d.Subject != nil && d.Subject.Filename != "" {
			w.At = fmt.Sprintf("%s:%d", d.Subject.Filename, d.Subject.Start.Line)
		}
		out = append(out, w)
	}
	return out
}

// notesOf returns the notes about a repository with an atlantis.yaml.
func notesOf(r project.Repository) []string {
	a := notes.Atlantis{Settings: r.Settings, Ignored: r.Ignored}
	for _, n := range r.Notices {
		a.Parts = append(a.Parts, notes.Part{Lines: n.Lines, Key: n.Key, Instead: n.Instead})
	}
	return a.Notes()
}

// Quoted renders the errors in a repository's settings in Markdown, with the lines that they are about. name is
// the file with the settings, and src its content.
func Quoted(ds diags.Diagnostics, name string, src []byte) string {
	const limit = 8 << 10
	var b strings.Builder
	p := &render.Printer{}
	s, _ := project.Read(name, src)
	for _, d := range ds {
		b.WriteString(p.Diagnostic(d, s.Files))
	}
	return markdown.Cut(markdown.Fence("", strings.Trim(b.String(), "\n")), limit)
}

// Beginning returns the beginning of a text from [Quoted]. It is short, because the answer to one command may
// contain such a text for many projects.
func Beginning(quoted string) string { return markdown.Cut(quoted, 2<<10) }

// FirstError returns the first error in a repository's settings, with its line; "" for none.
func FirstError(ds diags.Diagnostics) string {
	for _, d := range ds {
		switch {
		case d.Severity != diags.Error:
		case d.Subject == nil:
			return d.Summary
		default:
			return fmt.Sprintf("%s, line %d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Summary)
		}
	}
	return ""
}
