package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
	"github.com/lockstep-iac/lockstep/functions/project/order"
)

// A dependence is the place of a name or a pattern: in depends_on, or in an input if input is set.
type dependence struct {
	at    hcl.Range
	input bool
}

// depends reads the patterns of the projects that a project block depends on.
func (p *parser) depends(a *hcl.Attribute, x *Project) {
	for _, s := range p.list(a) {
		if err := blocks.ValidPattern(s.text); err != nil {
			p.errorf(s.at, "Invalid pattern of projects", "%s. Write a project's name, or a pattern as svc-*.", capital(err.Error()))
			continue
		}
		if len(x.DependsOn) == maxPatterns {
			p.errorf(s.at, "Too many patterns", "The list has more than %d projects and patterns, which is the limit. Write a pattern for many projects.", maxPatterns)
			return
		}
		x.DependsOn = append(x.DependsOn, s.text)
		p.settings.depends[[2]string{x.At, s.text}] = dependence{at: s.at}
	}
}

// Orders reports whether the settings have a project that depends on another one.
func (s *Settings) Orders() bool {
	if s == nil {
		return false
	}
	all := s.blocks()
	return s.Terragrunt != nil || slices.ContainsFunc(all, func(p Project) bool { return p.DependsOn != nil || p.Group != all[0].Group })
}

// EdgesOf returns the dependencies between projects that [Discover] has found. A pattern or a group is a set of
// projects: see [order.Set].
func EdgesOf(all []Project) order.Edges {
	out := order.Edges{}
	var names []string
	groups := map[int][]string{}
	for _, p := range all {
		names = append(names, p.Name)
		groups[p.Group] = append(groups[p.Group], p.Name)
	}
	numbers := slices.Sorted(maps.Keys(groups))
	for _, p := range all {
		to := slices.Clone(p.DependsOn)
		for _, n := range to {
			if order.Set(n) && out[n] == nil {
				out[n] = order.Matches(n, names)
			}
		}
		if i := slices.Index(numbers, p.Group); i > 0 {
			lower := order.Group(numbers[i-1])
			to, out[lower] = append(to, lower), groups[numbers[i-1]]
		}
		if to != nil {
			slices.Sort(to)
			out[p.Name] = slices.Compact(to)
		}
	}
	return out
}

// ordered checks depends_on and inputs. It keeps the names and patterns that select some project. A project
// with an unknown name or in a cycle is left out, because it is not known when it can be applied. lines has all
// projects, including those left out because of other errors. The names of these projects count as known, too.
func (s *Settings) ordered(all []Project, lines map[string]hcl.Range) (left []Project, ds diags.Diagnostics) {
	known := maps.Clone(lines)
	maps.Copy(known, s.ranges)
	names := slices.Sorted(maps.Keys(known))
	for _, p := range all {
		to, more := s.resolved(p, names)
		if ds = append(ds, more...); !more.HasErrors() {
			p.DependsOn = to
			left = append(left, p)
		}
	}
	for {
		cycle := order.Cycle(EdgesOf(left))
		if cycle == nil {
			return left, ds
		}
		at := known[cycle[slices.IndexFunc(cycle, func(n string) bool { return !order.Set(n) })]]
		ds = append(ds, diags.Errorf(&at, "Projects that wait for each other", "These projects depend on each other in a circle: %s. Remove one of them from depends_on, or from inputs, of another.", strings.Join(cycle, " -> "))...)
		left = slices.DeleteFunc(left, func(p Project) bool { return slices.Contains(cycle, p.Name) })
	}
}

// resolved returns the names and patterns that select some project. A project must not depend on itself. So if
// a pattern also matches the project p, the names of the other matching projects replace the pattern.
func (s *Settings) resolved(p Project, names []string) (to []string, ds diags.Diagnostics) {
	for _, pattern := range p.DependsOn {
		from := s.depends[[2]string{p.At, pattern}]
		at := from.at
		found := order.Matches(pattern, names)
		if len(found) > 0 && !from.input {
			for _, one := range dead(pattern, func(text string) bool { return len(order.Matches(text, names)) > 0 }) {
				ds = append(ds, diags.Warningf(&at, "No such projects", "%s in depends_on of the project %q matches no project.%s", part(pattern, one), p.Name, diags.Suggest(one, slices.Values(names)))...)
			}
		}
		switch {
		case from.input && pattern == p.Name:
			ds = append(ds, diags.Errorf(&at, "Project with its own outputs", "The project %q takes an input from its own outputs. Remove the input, and use the value in its configuration.", p.Name)...)
		case from.input && len(found) == 0:
			ds = append(ds, diags.Errorf(&at, "Unknown project", "An input of the project %q uses the outputs of %q, and no project has this name.%s Correct the name. If you removed or renamed the project, change the input, too.", p.Name, pattern, diags.Suggest(pattern, slices.Values(names)))...)
		case pattern == p.Name:
			ds = append(ds, diags.Errorf(&at, "Project depends on itself", "The project %q depends on itself. Remove it from its depends_on.", p.Name)...)
		case slices.Contains(found, p.Name):
			to = append(to, slices.DeleteFunc(found, func(n string) bool { return n == p.Name })...)
		case len(found) > 0:
			to = append(to, pattern)
		case strings.ContainsAny(pattern, `*?[{\`):
			ds = append(ds, diags.Warningf(&at, "No such projects", "The pattern %q in depends_on of the project %q matches no project.", pattern, p.Name)...)
		default:
			ds = append(ds, diags.Errorf(&at, "Unknown project", "The project %q depends on %q, and no project has this name.%s Correct the name, or remove it.", p.Name, pattern, diags.Suggest(pattern, slices.Values(names)))...)
		}
	}
	slices.Sort(to)
	return slices.Compact(to), ds
}
