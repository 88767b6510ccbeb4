package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Input is what [Load] reads.
type Input struct {
	// Tree holds the files, seen from the working directory.
	Tree source.Tree
	// Root is the directory of the root module in Tree, clean and slash-separated; "" is
	// Tree's own. What path.root and path.module say begins with it.
	Root string
	// Installed finds a call of a module that init has installed, by its key (the
	// names of the calls, joined by dots). nil means that nothing is installed; modules
	// with local sources need no installation and are not looked up.
	Installed func(key string) (source.Installed, bool)
	// Install, if not nil, is asked for every call of a module whose source is not local,
	// in place of Installed. It returns where the module is, or why it is nowhere.
	Install func(Wanted) (source.Installed, diags.Diagnostics)
	// Found, if not nil, is told of each call whose module's directory is known, callers
	// first.
	Found func(key, dir string)
	// Early evaluates sources and versions of calls, and arguments of the backend; nil: all
	// of them have to be literal. See package early.
	Early Early
	// Budget bounds the files, and ends the load when its run ends; nil is the generous one.
	Budget *budget.Budget
}

// Wanted is a call of a module that is not local.
type Wanted struct {
	Key     string // names of the calls, joined by dots
	Address source.Address
	Call    *Call
}

// Load reads the root module and everything that it calls. Beside errors it
// returns the part of the tree that could be read, never nil.
//
// As the stock tools do, it stops at errors in the root module's own files before
// it looks at other modules.
func Load(in Input) (*Config, diags.Diagnostics) {
	l := &loader{
		in: in,
		cfg: &Config{
			Modules: map[addrs.Module]*Module{},
			Files:   map[string]*hcl.File{},
		},
		contents: map[string]*Content{},
	}
	root := &Module{Children: map[string]*Module{}}
	var ok bool
	root.Content, ok = l.content(path.Clean(in.Root), nil)
	l.cfg.Root = root
	l.add(root)
	if ok {
		l.checkImports(root)
		l.evaluateBackend(root)
		l.calls(root)
		l.diags = append(l.diags, l.cfg.checkProviders()...)
	}
	return l.cfg, append(diags.FromHCL(l.diags), l.more...)
}

// Empty reports whether the root module's directory has no configuration files.
func (c *Config) Empty() bool {
	for name := range c.Files {
		if path.Dir(name) == c.Root.Dir {
			return false
		}
	}
	return true
}

// Manifest returns the manifest that init writes for c.
func (c *Config) Manifest() source.Manifest {
	var m source.Manifest
	for _, x := range c.Order {
		e := source.Installed{Key: key(x), Dir: x.Dir}
		if x.Call != nil {
			e.Source = x.Call.address.String()
			e.Version = x.installedVersion
		}
		m.Modules = append(m.Modules, e)
	}
	slices.SortFunc(m.Modules, func(a, b source.Installed) int { return strings.Compare(a.Key, b.Key) })
	return m
}

type loader struct {
	in       Input
	cfg      *Config
	contents map[string]*Content
	diags    hcl.Diagnostics
	more     diags.Diagnostics // of the installation
}

// content reads the directory dir once. It reports whether the content is free of
// errors; call is the place that asks for it, nil for the root.
func (l *loader) content(dir string, call *Call) (*Content, bool) {
	if c := l.contents[dir]; c != nil {
		return c, !c.broken
	}
	c, ds := l.readDirectory(dir, call)
	c.broken = ds.HasErrors()
	l.contents[dir] = c
	l.diags = append(l.diags, ds...)
	return c, !c.broken
}

func (l *loader) add(m *Module) {
	l.cfg.Modules[m.Addr] = m
	l.cfg.Order = append(l.cfg.Order, m)
}

// calls loads what m calls, in the order of names.
func (l *loader) calls(m *Module) {
	l.evaluateCalls(m)
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		call := m.Calls[name]
		child := &Module{
			Addr: m.Addr.Child(name), Parent: m, Call: call,
			Children: map[string]*Module{}, packageDir: m.packageDir,
		}
		if l.endless(m, child) {
			continue
		}
		dir, ok := l.locate(m, child)
		if !ok {
			continue
		}
		if l.in.Found != nil {
			l.in.Found(key(child), dir)
		}
		for up := m; up != nil; up = up.Parent {
			if up.Dir == dir {
				l.errorf(&call.SourceRange, "Module calls itself",
					"The module in %s is called from within itself, as %s, so that the tree of modules would never end.", dir, child.Addr)
				ok = false
				break
			}
		}
		if !ok {
			continue
		}
		fresh := l.contents[dir] == nil
		child.Content, ok = l.content(dir, call)
		if fresh {
			l.checkChild(child)
		}
		m.Children[name] = child
		l.add(child)
		if !ok {
			continue
		}
		if !call.checked {
			call.checked = true
			l.diags = append(l.diags, call.checkInputs(child.Content)...)
		}
		l.calls(child)
	}
}

// endless reports a module from elsewhere that is called from within itself: each of its
// calls would be installed in a directory of its own, which again would call it.
func (l *loader) endless(m, child *Module) bool {
	call := child.Call
	if call.address.Kind == source.Local || call.address.Text == "" {
		return false
	}
	for up := m; up.Call != nil; up = up.Parent {
		if up.Call.address.String() == call.address.String() {
			l.errorf(&call.SourceRange, "Module calls itself",
				"The module from %s is called from within itself, as %s, so that the tree of modules would never end.", source.Redact(call.Source), child.Addr)
			return true
		}
	}
	return false
}

// locate finds the directory of the module that m calls as child.
func (l *loader) locate(m, child *Module) (dir string, ok bool) {
	call := child.Call
	if call.address.Text == "" {
		return "", false // reported when the block was read
	}
	if call.address.Kind == source.Local {
		dir = source.Join(m.Dir, call.address.Path)
		if p := m.packageDir; p != "" && dir != p && !strings.HasPrefix(dir, p+"/") {
			l.errorf(&call.SourceRange, "Local module path escapes module package",
				"The directory %s of %s is outside of the package in %s that the calling module belongs to. What a package calls by a path must be in that package.", dir, child.Addr, p)
			return "", false
		}
		return dir, true
	}
	w := Wanted{Key: key(child), Address: call.address, Call: call}
	x, found := source.Installed{}, false
	switch {
	case l.in.Install != nil:
		var ds diags.Diagnostics
		x, ds = l.in.Install(w)
		l.more = append(l.more, ds...)
		if ds.HasErrors() {
			return "", false
		}
		found = true
	case l.in.Installed != nil:
		x, found = l.in.Installed(w.Key)
	}
	if !found {
		l.errorf(&call.Range, "Module not installed",
			"The module %q comes from %s and is not installed yet. Run \"lockstep init\" to install all modules that the configuration calls.", call.Name, source.Redact(call.Source))
		return "", false
	}
	if !l.matches(call, x) {
		return "", false
	}
	child.installedVersion = x.Version
	child.packageDir = packageDir(x, w.Key)
	return path.Clean(x.Dir), true
}

// key returns a module's key in the manifest.
func key(m *Module) string { return strings.Join(m.Addr.Steps(), ".") }

// packageDir returns the directory of the package that an installed module belongs to:
// its own, or that of which it is a subdirectory.
func packageDir(x source.Installed, key string) string {
	dir := path.Clean(x.Dir)
	name := "/" + path.Dir(source.ManifestPath) + "/" + key
	if i := strings.Index("/"+dir+"/", name+"/"); i >= 0 {
		return dir[:i+len(name)-1]
	}
	return dir
}

// matches reports whether an entry of the manifest is what a call asks for.
func (l *loader) matches(call *Call, x source.Installed) bool {
	if !call.address.Same(x.Source) {
		l.errorf(&call.SourceRange, "Module source has changed",
			"The source address of module %q was changed since the module was installed from %s. Run \"lockstep init\" to install the modules that the configuration asks for.", call.Name, source.Redact(x.Source))
		return false
	}
	if len(call.Version) > 0 && x.Version != "" {
		if match, err := versionMatches(x.Version, call.Version); err == nil && !match {
			l.errorf(&call.Version[0].Range, "Module version requirements have changed",
				"The version requirements of module %q were changed since version %s was installed, which they do not allow any more. Run \"lockstep init\" to install the modules that the configuration asks for.", call.Name, x.Version)
			return false
		}
	}
	return true
}

// checkImports reports import blocks whose resource is there already and does not name the
// provider configuration that they ask for. It is the resource's block that says which it is.
func (l *loader) checkImports(m *Module) {
	for _, i := range m.Imports {
		r := m.Resources[i.Resource.Resource]
		if i.Provider == nil || !i.Resource.Module.IsRoot() || r == nil || r.ProviderRange != nil && r.Provider == *i.Provider {
			continue
		}
		l.errorf(&i.providerRange, "Invalid import provider argument",
			"The import block asks for the provider configuration %s, but there is a block of %s already, and it does not. The provider argument is for import blocks whose resource is to be generated: set it in the resource's block instead.",
			i.Provider, i.Resource)
	}
}

// checkChild reports what only the root module may have.
func (l *loader) checkChild(m *Module) {
	if b := m.Backend; b != nil {
		l.diags = append(l.diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Backend configuration ignored", Subject: &b.Range,
			Detail: "The backend of the root module serves the whole configuration; one that another module declares has no effect. Leave it out if this module is never used as a root module.",
		})
	}
	for _, i := range m.Imports {
		l.errorf(&i.Range, "Invalid import configuration", "%s is called by another module, but only the root module can have import blocks. Move the block there; its target may be in any module.", m.Addr)
	}
}

func (l *loader) errorf(at *hcl.Range, summary, detail string, args ...any) {
	l.diags = append(l.diags, problem(at, summary, detail, args...))
}

// problem returns one error of HCL's kind.
func problem(at *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: at}
}

// warning returns one warning of HCL's kind.
func warning(at *hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	d := problem(at, summary, detail, args...)
	d.Severity = hcl.DiagWarning
	return d
}
