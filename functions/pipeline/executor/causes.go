package executor

import (
	"cmp"
	"io/fs"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/patches"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// maxCauses is the maximum number of causes that a plan's result has.
const maxCauses = 1000

// An editing has the edits of the pull request in the files of a checkout.
type editing struct {
	edits causes.Edits
	files map[string]patches.File // by their names in ranges
	paths map[string]string       // in the repository
}

// editing finds the changed lines of the pull request in the checkout, once. It returns nil if they are not known.
func (o *checkout) editing() *editing {
	if o.job.Edited == nil || o.edited != nil {
		return o.edited
	}
	e := &editing{edits: causes.Edits{}, files: map[string]patches.File{}, paths: map[string]string{}}
	home := o.job.Dir
	if o.unit != nil {
		home = cmp.Or(o.job.Unit.Source, home)
	}
	for _, c := range o.job.Edited {
		content, err := fs.ReadFile(o.root.FS(), c.Path)
		if err == nil && parsing.Fits(content, o.Budget.Limits()) != nil {
			continue
		}
		f := patches.Place(c.Patch, content)
		relative, err := filepath.Rel(home, c.Path)
		if err != nil {
			continue
		}
		// Configuration files have names relative to the project. Variable files have the names in lockstep.hcl,
		// relative to the repository.
		for _, name := range []string{filepath.ToSlash(relative), c.Path} {
			e.edits[name], e.files[name], e.paths[name] = f.Edits, f, c.Path
		}
	}
	o.edited = e
	return e
}

// causes returns the lines of the pull request that cause the changes of a plan. It returns nil if the changed
// lines are not known. hide removes secrets.
func (o *checkout) causes(p *plans.Plan, hide *secrets) []comment.Cause {
	e := o.editing()
	if e == nil || o.Config == nil {
		return nil
	}
	sources, _ := o.sources() // Errors in the variable files are reported when the variables are collected.
	given, _ := inputs.Collect(o.Config.Root.Content, sources)
	values := map[string]hcl.Expression{}
	for name, v := range given {
		if v.Expr != nil && v.Range != nil {
			values[name] = v.Expr
		}
	}
	var out []comment.Cause
	for _, c := range causes.Find(causes.Input{Config: o.Config, Plan: p, Values: values, Settings: []string{project.FileName}, Edits: e.edits}) {
		if len(out) == maxCauses {
			break
		}
		x := causeOf(c, hide.From)
		if at := c.Place; c.Unedited == causes.Edited {
			if _, err := fs.Stat(o.root.FS(), e.paths[at.Filename]); err != nil {
				continue // GitHub shows no lines of a deleted file
			}
			f := e.files[at.Filename]
			x.Path, x.First, x.Last = e.paths[at.Filename], f.Head(at.Start.Line), f.Head(at.End.Line)
		}
		out = append(out, x)
	}
	return out
}

var uneditedReasons = map[causes.Reason]comment.Unedited{
	causes.Drifted: comment.ByDrift, causes.Tainted: comment.ByTaint, causes.Requested: comment.ByRequest,
	causes.NotFound: comment.Before, causes.TooMany: comment.Unknown,
}

// causeOf returns a cause for people, without its place.
func causeOf(c causes.Cause, clean func(string) string) comment.Cause {
	x := comment.Cause{Replaces: c.Replaces, Unedited: uneditedReasons[c.Unedited]}
	if c.Change != nil {
		x.Object, x.Action = clean(c.Change.Addr.String()), c.Change.Action.String()
	} else {
		x.Object, x.Action = clean("output."+c.Output.Name), c.Output.Action.String()
	}
	if len(c.Attribute) > 0 {
		x.Attribute = clean(c.AttributeName())
		if before, after := render.Short(c.Before), render.Short(c.After); before != "" && after != "" {
			x.Before, x.After = clean(before), clean(after)
		}
	}
	for _, s := range c.Steps {
		x.Via = append(x.Via, clean(s.Name))
	}
	return x
}

// problemNotes returns notes at the lines of errors and warnings.
func (o *checkout) problemNotes(ds diags.Diagnostics, hide *secrets) (out []comment.LineNote) {
	e := o.editing()
	if e == nil {
		return nil
	}
	for _, d := range ds {
		note, ok := o.noteOf(d)
		if !ok || len(out) == comment.MaxTestNotes {
			continue
		}
		if d.Severity == diags.Warning {
			note.Level = "warning"
		}
		relative, err := filepath.Rel(o.job.Dir, note.Path)
		at, ok := o.original(note.Path)
		if !ok {
			continue // Terragrunt has generated the file
		}
		note.Path = at
		if f, edited := e.files[filepath.ToSlash(relative)]; err == nil && edited {
			note.Line, note.Last = f.Head(note.Line), f.Head(note.Last)
		}
		note.Title, note.Message = hide.From(note.Title), hide.From(note.Message)
		out = append(out, note)
	}
	return out
}
