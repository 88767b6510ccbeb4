package project

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/order"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// setUnits makes the units of a checkout known.
func (s *Settings) setUnits(units []terragrunt.Unit) {
	s.units = map[string]terragrunt.Unit{}
	for _, u := range units {
		s.units[u.Dir] = u
	}
}

// configured reports whether a directory has configuration files, or is a unit.
func (s *Settings) configured(files fs.FS, dir string) bool {
	_, ok := s.units[dir]
	return ok || configured(files, dir)
}

// sourceOfUnit reports whether a directory is the module of a unit, and no unit itself.
func (s *Settings) sourceOfUnit(dir string) bool {
	if _, ok := s.units[dir]; ok {
		return false
	}
	for _, u := range s.units {
		module := func(name string) bool { return path.Dir(name) == dir && loading.IsFile(name) }
		if u.Source == dir || slices.ContainsFunc(u.Reads, module) {
			return true
		}
	}
	return false
}

// contents reads the configuration of a project. If the project's directory is a unit, the configuration is the
// unit's module, with the backend of the unit. contents then sets the field Unit.
func (s *Settings) contents(files fs.FS, p *Project) contents {
	u, ok := s.units[p.Dir]
	if !ok {
		return read(files, p.Dir)
	}
	if u.Problem == "" && u.Source == u.Dir && !u.Generates && !configured(files, u.Dir) {
		u.Problem = "the unit has neither a source nor configuration files: add a terraform block with a source to its " + terragrunt.FileName
	}
	p.Unit = &u
	var c contents
	if u.Source == "" {
		c.remote = true
	} else {
		c = read(files, u.Source)
	}
	if u.Source != "" && u.Source != p.Dir && !slices.Contains(c.modules, u.Source) {
		c.modules = append(c.modules, u.Source)
		slices.Sort(c.modules)
	}
	c.reads = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.reads, u.Reads))))
	c.encrypts = false
	c.unit = &u
	c.broken = c.broken && u.Problem == ""
	return c
}

// unitNamed returns the project of the unit with a name, if directories decide about the projects. It reads only the
// module of this unit, because there can be hundreds of units.
func (s *Settings) unitNamed(files fs.FS, name string) (Project, bool) {
	names := map[string]string{}
	for dir, u := range s.units {
		if !s.excluded(dir) && !u.Excluded {
			names[dir] = u.Name()
		}
	}
	for dir, n := range names {
		if n != name {
			continue
		}
		p := s.defaults
		p.Name, p.Dir = name, dir
		p, c, ds := s.found(files, p, s.usual)
		if ds.HasErrors() || p.Backend == "" && !c.broken {
			return Project{}, false
		}
		return s.linkUnit(p, names), true
	}
	return Project{}, false
}

// linkUnit adds the dependencies of its unit to a project. names are the names of projects, by directory.
func (s *Settings) linkUnit(p Project, names map[string]string) Project {
	if p.Unit == nil {
		return p
	}
	on := slices.Clone(p.DependsOn)
	for _, dir := range p.Unit.DependsOn {
		if name, ok := names[dir]; ok && name != p.Name {
			on = append(on, name)
		} else if _, is := s.units[dir]; !is && p.Nowhere == "" {
			p.Nowhere = "it depends on the directory " + dir + ", which has no " + terragrunt.FileName + ": correct its dependency block"
		}
	}
	slices.Sort(on)
	p.DependsOn = slices.Compact(on)
	return p
}

// linkUnits adds the dependencies of units to their projects. A project in a circle of units is left out, because it is
// not known when it can be applied.
func (s *Settings) linkUnits(all []Project) (left []Project, ds diags.Diagnostics) {
	if len(s.units) == 0 {
		return all, nil
	}
	names := map[string]string{}
	for _, p := range all {
		names[p.Dir] = p.Name
	}
	for i, p := range all {
		all[i] = s.linkUnit(p, names)
	}
	for {
		cycle := order.Cycle(EdgesOf(all))
		if cycle == nil {
			return all, ds
		}
		ds = append(ds, diags.Errorf(nil, "Projects that wait for each other", "These projects depend on each other in a circle: %s. Remove one of the dependency blocks, or one of them from depends_on.", strings.Join(cycle, " -> "))...)
		all = slices.DeleteFunc(all, func(p Project) bool { return slices.Contains(cycle, p.Name) })
	}
}
