package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/comment/notes"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// Inputs are the files and other inputs of a plan.
type Inputs struct {
	Tree project.Tree
	Read []string // see [jobs.PlanResult.Read]
	// Whole is set if programs that the base branch allows could run and read any file. Tree is then the whole
	// checkout. Own is the part that the configuration itself uses. Own is nil if no programs could run.
	Whole bool         `json:",omitempty"`
	Own   project.Tree `json:",omitempty"`
}

// Hash returns a hash over all inputs.
func (in Inputs) Hash() string {
	if in.Own == nil {
		return in.Tree.Hash()
	}
	return project.Tree{"tree": in.Tree.Hash(), "own": in.Own.Hash(), "read": strings.Join(in.Read, "\n")}.Hash()
}

// Moved has the files that differ between the inputs of a plan and a later checkout.
type Moved struct {
	Blocks []string // configuration files, which the executor can compare
	Own    []string // other files that the plan depends on
	Around []string // all other files, if programs can read everything
}

// Compare returns the files that differ between two checkouts. Of the dependency lock file, it compares only
// the providers that are selected, and not the text.
func (in Inputs) Compare(now Inputs, r runs.Run) (m Moved) {
	for _, name := range in.Tree.Diff(now.Tree) {
		own := in.isOwn(name) || now.isOwn(name)
		switch {
		case name == path.Join(r.Spec.Dir, lockfile.Name):
		case own && slices.Contains([]string{".tf", ".tofu"}, path.Ext(name)) && !in.wasRead(name) && !now.wasRead(name):
			m.Blocks = append(m.Blocks, name)
		case own:
			m.Own = append(m.Own, name)
		default:
			m.Around = append(m.Around, name)
		}
	}
	return m
}

// isOwn reports whether a file belongs to the configuration, or was read by it.
func (in Inputs) isOwn(name string) bool {
	if _, own := in.Own[name]; own || in.Own == nil {
		return true
	}
	return in.wasRead(name)
}

// wasRead reports whether a file function has read the file, or a directory that contains it.
func (in Inputs) wasRead(name string) bool {
	return slices.ContainsFunc(in.Read, func(read string) bool {
		return read == "." || name == read || strings.HasPrefix(name, read+"/")
	})
}

// Scope returns which part of a checkout these inputs are.
func (in Inputs) Scope() jobs.Scope { return jobs.Scope{Read: in.Read, Whole: in.Whole} }

// ErrExchanged reports that somebody has changed a stored artifact.
var ErrExchanged = errors.New("it was exchanged")

// LoadInputs returns the inputs of a run's plan.
func LoadInputs(ctx context.Context, from pipeline.Artifacts, r runs.Run) (Inputs, error) {
	var in Inputs
	data, err := from.Get(ctx, r.InputsRecord())
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err == nil && in.Hash() != r.Plan.Inputs {
		err = fmt.Errorf("%w: the inputs of %s are not those that were planned", ErrExchanged, r.Project)
	}
	return in, err
}

// Text returns the content of an artifact that people read; "" if the artifact does not exist.
func Text(ctx context.Context, from pipeline.Artifacts, a pipeline.Artifact) (string, error) {
	data, err := from.Get(ctx, a)
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return "", nil
	}
	return string(data), err
}

// withResult are the standings with the result of an apply.
var withResult = []comment.Standing{comment.Applied, comment.PartApplied, comment.ApplyFailed}

// Body returns the text about a run's project for people, in Markdown: the result of the apply with the applied
// plan, or the plan, or the reason why there is no plan. It returns "" if there is nothing to say. s is the
// project's standing. note is a text to show above body.
func Body(ctx context.Context, from pipeline.Artifacts, r runs.Run, s comment.Standing) (body, note string, err error) {
	result := ""
	if r.End.FinishedBy != 0 && r.Plan.Hash == "" && r.Phase == runs.PlanFailed { // another apply made the changes that could not be planned
		return "", "", nil
	}
	if slices.Contains(withResult, s) {
		if result, err = Text(ctx, from, r.Result()); err != nil {
			return "", "", err
		}
	}
	body, err = Text(ctx, from, r.Report())
	if body != "" && r.Plan.Reported != "" && runs.HashOf([]byte(body)) != r.Plan.Reported {
		body = notes.Exchanged()
	}
	if c := r.Plan.Checked; c != nil && c.Problem == "" && c.PlannedOn != nil && r.Plan.Parts != nil {
		body = notes.Rechecked(body, plansOf(r.Plan.Parts.PlannedOn), plansOf(c.PlannedOn))
	}
	if c := r.Plan.Checked; c != nil && !c.Renewed && body != "" && slices.Contains([]comment.Standing{comment.Ready, comment.OnMerge, comment.OnceMerged, comment.NoChanges}, s) {
		p := comment.ProjectStatus{Texts: comment.Texts{Body: body}}
		comment.Rechecked{Project: r.Project, Since: c.Since, Problem: c.Problem, Empty: s == comment.NoChanges}.On(&p)
		body, note = p.Body, p.Note
	}
	if result != "" {
		body = notes.Outcome(result, body)
	}
	return body, note, err
}

// Steps returns the outcomes of the steps of a run's plan, until the plan is applied. s is the project's standing. There
// are none if the artifact is not the one that was stored.
func Steps(ctx context.Context, from pipeline.Artifacts, r runs.Run, s comment.Standing) (out []comment.Step, err error) {
	if r.Plan.Steps == "" || slices.Contains(withResult, s) {
		return nil, nil
	}
	data, err := from.Get(ctx, r.StepsArtifact())
	if errors.Is(err, pipeline.ErrNoArtifact) || err == nil && runs.HashOf(data) != r.Plan.Steps {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// plansOf returns the names of the projects whose planned outputs a plan has used. They are sorted by target.
func plansOf(on map[string]string) (names []string) {
	for _, target := range slices.Sorted(maps.Keys(on)) {
		if on[target] != "" {
			names = append(names, runs.ProjectOf(target))
		}
	}
	return names
}

// Sweep deletes the artifacts of the first n plans of a run, and of the applies of these plans. It keeps the
// artifacts in but.
func Sweep(ctx context.Context, from pipeline.Artifacts, r runs.Run, n int, but ...pipeline.Artifact) error {
	for i := r.Artifacts.Swept + 1; i <= n; i++ {
		for _, a := range r.AllArtifacts(i) {
			if slices.Contains(but, a) {
				continue
			}
			if err := from.Delete(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}
