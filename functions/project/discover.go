package project

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/project/atlantis"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// A Repository has what a checkout says about its projects.
type Repository struct {
	// Projects are sorted by name.
	Projects []Project
	// Settings is the name of the file with the settings: [FileName], or atlantis.yaml. It is "" if neither
	// exists. Ignored is set if both exist, so that atlantis.yaml is ignored.
	Settings string
	Ignored  bool
	// Unguarded are the errors about require and policy blocks that apply to no project. On a base branch,
	// these errors block all applies.
	Unguarded diags.Diagnostics
	// Left are root modules that would be projects, but whose directories have names that commands cannot
	// contain. Each has a warning.
	Left []Project
	// Notices are about the parts of atlantis.yaml that have no meaning in Lockstep.
	Notices []atlantis.Notice
}

// Discover finds the projects of a checkout. These are the projects of lockstep.hcl, or of atlantis.yaml if
// there is no lockstep.hcl. If the settings describe no projects, Discover makes projects of directories. A
// directory becomes a project if its configuration has a backend block, and no other directory calls it as a
// module. Such a project gets the defaults of lockstep.hcl. Excluded directories are skipped.
//
// A project of a directory is named after the directory. If that is not a valid name, the directory is left out
// with a warning. A directory whose configuration does not load is a project, too. A plan of that project
// reports the error. If there are errors, Discover returns the projects that have none.
//
// units are the units that Terragrunt has found in the checkout. The directory of a unit is a project like one with a
// backend block: its backend, its inputs and its dependencies are those of the unit.
func Discover(files fs.FS, units ...terragrunt.Unit) (Repository, diags.Diagnostics) {
	r, s, isDeclared, ds := settingsIn(files)
	if s == nil {
		return r, ds
	}
	s.setUnits(units)
	var more diags.Diagnostics
	known, lines := slices.Clone(s.Projects), map[string]hcl.Range{}
	for name := range s.ranges { // including those with errors
		known = append(known, Project{Name: name})
	}
	if isDeclared {
		var all []Project
		all, lines, _ = s.expanded(files)
		known = append(known, all...)
	}
	switch {
	case !isDeclared:
		r.Projects, r.Left, more = implied(files, s)
	case s.discover == nil || !*s.discover || ds.HasErrors():
		r.Projects, more = declared(files, s)
	default:
		r.Projects, r.Left, more = mixed(files, s)
	}
	ds = append(ds, more...)
	r.Projects, more = s.linkUnits(r.Projects)
	ds = append(ds, more...)
	known = slices.Concat(known, r.Projects, r.Left)
	r.Unguarded, more = s.unguarded(known, s.types())
	return r, slices.Concat(ds, more, s.unlimited(s.required()), s.unused(files, r.Projects, lines))
}

// mixed finds the projects of the settings, and those of directories without a project block.
func mixed(files fs.FS, s *Settings) (all, left []Project, ds diags.Diagnostics) {
	all, ds = declared(files, s)
	if ds.HasErrors() {
		return all, nil, ds // A directory whose project has an error does not become a project by itself.
	}
	taken := map[string]bool{}
	for _, p := range all {
		taken[p.Dir] = true
	}
	others, left, more := implied(files, s)
	others = slices.DeleteFunc(others, func(p Project) bool {
		if taken[p.Dir] {
			return true
		}
		i := slices.IndexFunc(all, func(q Project) bool { return q.Name == p.Name })
		if i >= 0 {
			more = append(more, diags.Errorf(nil, "Two projects with one name", "The directory %s would be the project %q, but the project block of the directory %s already has this name. Give the block another name.", p.Dir, p.Name, all[i].Dir)...)
		}
		return i >= 0
	})
	all = append(all, others...)
	slices.SortFunc(all, byName)
	all, clashes := dropSharedStates(all, map[string]hcl.Range{})
	return all, left, slices.Concat(ds, more, clashes)
}

// Find returns one project of a checkout, in the same form as [Discover]. The bool is false if there is no such
// project. Find does not read the other projects, so its cost does not grow with the number of projects, unless the
// settings declare some projects and let others be discovered. It does not find problems between projects: a cycle,
// two projects with the same state, or a directory that another one calls as a module.
func Find(files fs.FS, name, workspace string, units ...terragrunt.Unit) (Project, bool) {
	_, s, isDeclared, _ := settingsIn(files)
	if s == nil {
		return Project{}, false
	}
	s.setUnits(units)
	var all []Project
	switch {
	case isDeclared && s.discover != nil && *s.discover:
		all, _, _ = mixed(files, s)
		all, _ = s.linkUnits(all)
	case isDeclared:
		candidates, lines, _ := s.expanded(files)
		all, _ = s.complete(files, slices.DeleteFunc(candidates, func(p Project) bool { return p.Name != name }), lines)
		all, _ = s.ordered(all, lines)
	default:
		if p, ok := s.unitNamed(files, name); ok {
			all = append(all, p)
			break
		}
		if len(s.units) == 0 {
			all = s.impliedIn(files, name)
			break
		}
		all, _, _ = implied(files, s)
		all, _ = s.linkUnits(all)
	}
	i := slices.IndexFunc(all, func(p Project) bool { return p.Name == name && p.Workspace == workspace })
	if i < 0 {
		return Project{}, false
	}
	return all[i], true
}

// settingsIn reads the settings of a checkout, and reports whether they declare the projects. If the file has
// an error, there are no settings.
func settingsIn(files fs.FS) (r Repository, s *Settings, isDeclared bool, ds diags.Diagnostics) {
	c, err := choose(files)
	r = Repository{Settings: c.name, Ignored: c.ignored}
	if err != nil {
		return r, nil, false, diags.FromError("The file "+c.name+" cannot be read", err)
	}
	s, _ = Parse(FileName, nil)
	switch c.name {
	case FileName:
		s, ds = Parse(FileName, c.src)
	case atlantis.FileName:
		s, r.Notices, ds = foreignSettings(c.src)
	}
	return r, s, ds.HasErrors() || !s.onlyDirectories(), ds
}

// declared returns the projects that lockstep.hcl declares, with the facts from their directories.
func declared(files fs.FS, s *Settings) ([]Project, diags.Diagnostics) {
	candidates, lines, ds := s.expanded(files)
	all, more := s.complete(files, candidates, lines)
	ds = append(ds, more...)
	slices.SortFunc(all, byName)
	all, more = dropSharedStates(all, lines)
	ds = append(ds, more...)
	all, more = s.ordered(all, lines)
	return all, append(ds, more...)
}

// complete completes declared projects from the files of their directories. The result does not have projects
// with errors.
func (s *Settings) complete(files fs.FS, candidates []Project, lines map[string]hcl.Range) (all []Project, ds diags.Diagnostics) {
	for _, p := range candidates {
		at := lines[p.Name]
		if !s.configured(files, p.Dir) {
			ds = append(ds, diags.Errorf(&at, "Nothing to plan", "The directory %[2]s of the project %[1]q has no configuration files (*.tf). Correct its dir, or remove the project.", p.Name, p.Dir)...)
			continue
		}
		p, _, more := s.found(files, p, at)
		if ds = append(ds, more...); !more.HasErrors() {
			all = append(all, p)
		}
	}
	return all, ds
}

// found completes a project from the files of its directory. at is the range for diagnostics.
func (s *Settings) found(files fs.FS, p Project, at hcl.Range) (Project, contents, diags.Diagnostics) {
	p = s.completed(p)
	p = s.filed(p, regular(files))
	ds := p.configure(files, at)
	c := s.contents(files, &p)
	p.Modules, p.Backend, p.Encrypts = c.matter(), c.kind(), c.encrypts || c.broken
	p.Reads, p.Guesses, p.States = c.reads, c.guesses, c.states
	s.see(c)
	p.locate(files, c)
	if c.backend == nil && c.unit == nil && !c.broken && p.BackendConfig != nil && s.usual != at {
		ds = append(ds, diags.Warningf(&at, "Missing backend configuration", "The project %q has a backend_config, but its configuration has no backend block. Add terraform { backend \"s3\" {} } to the configuration, or remove backend_config.", p.Name)...)
	}
	return p, c, ds
}

// completed returns a project with the variables of its environment. The project has separate copies of all
// maps.
func (s *Settings) completed(p Project) Project {
	p.BackendConfig = maps.Clone(p.BackendConfig)
	p.WhenChanged = slices.Clone(p.WhenChanged)
	for i, pattern := range p.WhenChanged {
		p.WhenChanged[i] = blocks.CleanPattern(strings.ReplaceAll(pattern, ownDir, escaped(p.Dir)))
	}
	if all := maps.Clone(s.environments[p.Environment].Variables); all != nil {
		maps.Copy(all, p.Variables)
		p.Variables = all
	}
	return p
}

// escaped returns a path as a pattern that matches only this path.
func escaped(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `\`, `\\`).Replace(dir)
}

func byName(a, b Project) int { return strings.Compare(a.Name, b.Name) }

// impliedIn returns the project in a directory of a repository whose settings declare no projects, or nothing.
func (s *Settings) impliedIn(files fs.FS, dir string) []Project {
	if !validName(dir) || s.excluded(dir) || !configured(files, dir) {
		return nil
	}
	for parent := dir; parent != "."; parent = path.Dir(parent) { // Lockstep does not search for projects behind symbolic links.
		if info, err := fs.Lstat(files, parent); err != nil || !info.IsDir() || skipped(path.Base(parent)) {
			return nil
		}
	}
	p := s.defaults
	p.Name, p.Dir = dir, dir
	p, c, ds := s.found(files, p, s.usual)
	if ds.HasErrors() || p.Backend == "" && !c.broken {
		return nil
	}
	return []Project{p}
}

// skipped reports whether no project is searched for in directories of this name.
func skipped(name string) bool {
	return name == ".git" || name == ".terraform" || name == terragrunt.Cache
}

// implied finds the projects of a repository whose settings declare no projects.
func implied(files fs.FS, s *Settings) (all, left []Project, ds diags.Diagnostics) {
	dirs, err := configurations(files)
	if err != nil {
		return nil, nil, diags.FromError("Looking for projects failed", err)
	}
	dirs = slices.Compact(slices.Sorted(slices.Values(slices.Concat(dirs, slices.Collect(maps.Keys(s.units))))))
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return s.excluded(dir) || s.units[dir].Excluded })
	called := map[string]bool{}
	lines := map[string]hcl.Range{}
	for _, dir := range dirs {
		p := s.defaults
		p.Name, p.Dir = dir, dir
		if u, ok := s.units[dir]; ok {
			p.Name = u.Name()
		}
		p, c, more := s.found(files, p, s.usual)
		ds = append(ds, more...)
		if c.backend != nil {
			at := c.backend.Range
			at.Filename = path.Join(dir, at.Filename)
			lines[p.Name] = at
		}
		for _, m := range c.modules {
			called[m] = true
		}
		if !more.HasErrors() && (p.Backend != "" || c.broken) && !s.sourceOfUnit(dir) {
			all = append(all, p)
		}
	}
	all = slices.DeleteFunc(all, func(p Project) bool { return called[p.Dir] })
	all = slices.DeleteFunc(all, func(p Project) bool {
		if validName(p.Name) {
			return false
		}
		ds = append(ds, diags.Warningf(nil, "A directory that no command can name", "Lockstep does not plan the root module in the directory %q, because the directory is not a valid name of a project. Write a project block with another name into %s: project \"NAME\" { dir = %q }. Or exclude the directory there: exclude = [%q]. %s", p.Dir, FileName, p.Dir, p.Dir, nameRule)...)
		left = append(left, p)
		return true
	})
	if len(all) > MaxProjects {
		return nil, nil, diags.Errorf(nil, "Too many projects", "%d directories have a configuration with a backend, and at most %d projects are allowed. Write project blocks for those to plan into %s.", len(all), MaxProjects, FileName)
	}
	if len(all)+len(left) == 0 && len(dirs) > 0 {
		return nil, nil, diags.Warningf(nil, "No projects", "The repository has configurations, but no root module with a backend block. Add terraform { backend \"s3\" { ... } } to those to plan, or write project blocks into %s.", FileName)
	}
	slices.SortFunc(all, byName)
	all, more := dropSharedStates(all, lines)
	return all, left, append(ds, more...)
}

// configurations returns the directories that have configuration files, sorted.
func configurations(files fs.FS) ([]string, error) {
	found := map[string]bool{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case loading.IsFile(name) && isFile(files, name, d):
			found[path.Dir(name)] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(found)), err
}

// configured reports whether a directory has configuration files.
func configured(files fs.FS, dir string) bool {
	entries, err := fs.ReadDir(files, dir)
	return err == nil && slices.ContainsFunc(entries, func(d fs.DirEntry) bool {
		return loading.IsFile(d.Name()) && isFile(files, path.Join(dir, d.Name()), d)
	})
}

// isFile reports whether an entry of a directory is a file, or a symbolic link to one.
func isFile(files fs.FS, name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := fs.Stat(files, name)
	return err == nil && info.Mode().IsRegular()
}

// isDir reports whether an entry of a directory is a directory, or a symbolic link to one.
func isDir(files fs.FS, name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.IsDir()
	}
	info, err := fs.Stat(files, name)
	return err == nil && info.IsDir()
}

// contents are the facts that [Discover] needs about a configuration.
type contents struct {
	modules []string // other directories that it reads, sorted
	// anywhere is set if the sources of some modules contain variables, so that they may be any directory of
	// the repository.
	anywhere bool
	backend  *config.Backend // nil for none
	broken   bool            // its own directory cannot be read
	encrypts bool            // it has an encryption block
	// reads and guesses are paths that the configuration's expressions name: see staticReads.
	reads, guesses []string
	// states are addresses of other states that the configuration reads.
	states []string
	// types are the types of the configuration's resources, including those of its local modules. remote is set
	// if the configuration calls other modules.
	types  map[string]bool
	remote bool
	// providers are the providers that the configuration and its local modules require.
	providers map[addrs.Provider]bool
	// unit is the unit of Terragrunt in the configuration's directory; nil if there is none.
	unit *terragrunt.Unit
}

// see records the resource types and the providers of a configuration.
func (s *Settings) see(c contents) {
	if s.resources == nil {
		s.resources, s.providers = map[string]bool{}, map[addrs.Provider]bool{}
	}
	maps.Copy(s.resources, c.types)
	maps.Copy(s.providers, c.providers)
	s.remote = s.remote || c.remote || c.broken || c.anywhere
}

// types returns the resource types of all configurations that were read; nil if there may be other types.
func (s *Settings) types() map[string]bool {
	if s.remote || s.resources == nil {
		return nil
	}
	return s.resources
}

// required returns the providers of all configurations that were read. It returns nil if some configurations were not
// read, because their providers are then unknown.
func (s *Settings) required() map[addrs.Provider]bool {
	if s.remote {
		return nil
	}
	return s.providers
}

// matter returns the other directories whose files affect the configuration.
func (c contents) matter() []string {
	if c.anywhere {
		return []string{"."}
	}
	return c.modules
}

func (c contents) kind() string {
	if c.unit != nil && c.unit.Problem != "" {
		return "s3" // The backend is not known. The error about it takes the place of the address.
	}
	if c.unit != nil && c.unit.Backend != "" {
		return c.unit.Backend
	}
	if c.backend == nil {
		return ""
	}
	return c.backend.Type
}

// memory is the limit, in bytes, for the memory that is needed to read one configuration. It is the limit
// of a small deployment.
const memory = 512 << 20

// read returns the facts about the configuration in a directory.
func read(files fs.FS, dir string) contents {
	tree := source.FS(files, dir)
	cfg, _ := loading.Load(loading.Input{Tree: tree, Budget: budget.Pipeline(memory)})
	found, anywhere, types, remote := map[string]bool{}, false, map[string]bool{}, false
	providers := map[addrs.Provider]bool{}
	for p := range cfg.ProviderRequirements() {
		providers[p] = true
	}
	for _, m := range cfg.Order {
		for r, block := range m.Resources {
			types[r.Type] = true
			providers[m.ResourceProvider(block).Provider] = true
		}
		for name, c := range m.Calls {
			anywhere = anywhere || c.Source == ""
			remote = remote || m.Children[name] == nil
		}
		if at := path.Join(dir, m.Dir); at != dir && fs.ValidPath(at) {
			found[at] = true
		}
	}
	reads, guesses, states := staticReads(cfg, tree, dir)
	return contents{
		modules: slices.Sorted(maps.Keys(found)), anywhere: anywhere, backend: cfg.Root.Backend, broken: cfg.Root.Broken, encrypts: len(cfg.Root.Encryption) > 0,
		reads: reads, guesses: guesses, states: states, types: types, remote: remote, providers: providers,
	}
}
