package gatefacts

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/project/projectinputs"
)

// linked finds the states of the projects whose outputs are inputs of this project, or of its unit. Call linked after
// place.
//
// If the pull request has a plan of such a project, the state is at the address that was granted to this plan.
// Without such a plan, the address is that at the run's base commit. The project's block at the head does not count,
// because the author of the head can write any address there.
func linked(ctx context.Context, e *Reader, r runs.Run, p project.Project, u *jobs.Unit) ([]jobs.Linked, error) {
	b, err := e.baseAt(ctx, r.Spec.Base)
	if err != nil {
		return nil, err
	}
	all, err := e.Ledger.Runs(ctx, e.Message.Pull)
	if err != nil {
		return nil, err
	}
	var granted []runs.Run
	for _, s := range all {
		granted = append(granted, s.Run)
	}
	var out []jobs.Linked
	names := projectinputs.Projects(p.Inputs)
	if u != nil {
		names = slices.Concat(names, slices.Collect(maps.Values(u.Linked)))
		slices.Sort(names)
	}
	for _, name := range slices.Compact(names) {
		out = append(out, linkedTo(name, granted, e.asked.Head, b.projects))
	}
	return out, nil
}

// linkedTo finds the state of the project with the given name. granted are the pull request's runs. head are
// the projects in the checkout, and base those of the base branch.
func linkedTo(name string, granted []runs.Run, head, base []project.Project) jobs.Linked {
	out := jobs.Linked{Project: name}
	now, inHead := named(head, name)
	was, inBase := named(base, name)
	for _, r := range granted {
		if r.Project == name && inHead && now.Nowhere == "" && r.Address.Place != "" && r.Address.Place == now.Place.String() {
			if out.Place = now.Place; inBase && was.Place.Is(now.Place) {
				out.Place = was.Place // with the base branch's arguments
			}
			return out
		}
	}
	switch {
	case inBase && was.Nowhere == "":
		out.Place = was.Place
	case inBase:
		out.Nowhere = fmt.Sprintf("where its state is cannot be told: %s", was.Nowhere)
	case slices.ContainsFunc(granted, func(r runs.Run) bool { return r.Project == name }):
		out.Nowhere = "it is not on the base branch, and its plan in this pull request has no state: repair that first"
	default:
		out.Nowhere = fmt.Sprintf("it is not on the base branch, and this pull request has no plan of it: comment \"lockstep plan -p %s\"", name)
	}
	return out
}

// named returns the project with a name.
func named(all []project.Project, name string) (project.Project, bool) {
	for _, p := range all {
		if p.Name == name {
			return p, true
		}
	}
	return project.Project{}, false
}

// RunsNamed returns runs for the projects with the given names at a base commit. Only their targets are set.
func RunsNamed(ctx context.Context, e *Reader, base string, names []string) (out []runs.Run, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	b, err := e.baseAt(ctx, base)
	for _, p := range b.projects {
		if slices.Contains(names, p.Name) {
			out = append(out, runs.Run{ID: runs.ID{Project: p.Name, Workspace: p.Workspace}})
		}
	}
	return out, err
}
