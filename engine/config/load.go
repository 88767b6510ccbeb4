package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Input is what [Load] reads.
type Input struct {
	// Tree holds the files, seen from the root module's directory.
	Tree source.Tree
	// Installed finds a call of a module that init has installed, by its key (the
	// names of the calls, joined by dots). nil means that nothing is installed; modules
	// with local sources need no installation and are not looked up.
	Installed func(key string) (source.Installed, bool)
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
	root.Content, ok = l.content(".", nil)
	l.cfg.Root = root
	l.add(root)
	if ok {
		l.checkRoot(root)
		l.calls(root)
		l.diags = append(l.diags, l.cfg.checkProviders()...)
	}
	return l.cfg, diags.FromHCL(l.diags)
}

// Empty reports whether the root module's directory has no configuration files.
func (c *Config) Empty() bool {
	for name := range c.Files {
		if path.Dir(name) == "." {
			return false
		}
	}
	return true
}

// Manifest returns the manifest that init writes for c.
func (c *Config) Manifest() source.Manifest {
	var m source.Manifest
	for _, x := range c.Order {
		e := source.Installed{Key: strings.Join(x.Addr.Steps(), "."), Dir: x.Dir}
		if x.Call != nil {
			e.Source = x.Call.Source
			if a, err := source.Parse(x.Call.Source); err == nil && a.Kind == source.Local {
				e.Source = a.Path
			}
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
}

// content reads the directory dir once. It reports whether the content is free of
// errors; call is the place that asks for it, nil for the root.
func (l *loader) content(dir string, call *Call) (*Content, bool) {
	if c := l.contents[dir]; c != nil {
		return c, !c.broken
	}
	c, ds := readDirectory(l.in.Tree, dir, call, l.cfg.Files)
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
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		call := m.Calls[name]
		dir, version, ok := l.locate(m, call)
		if !ok {
			continue
		}
		child := &Module{
			Addr: m.Addr.Child(name), Parent: m, Call: call,
			Children: map[string]*Module{}, installedVersion: version,
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

// locate finds the directory of a call's module.
func (l *loader) locate(m *Module, call *Call) (dir, version string, ok bool) {
	if call.address.Text == "" {
		return "", "", false // reported when the block was read
	}
	if call.address.Kind == source.Local {
		return source.Join(m.Dir, call.address.Path), "", true
	}
	key := strings.Join(m.Addr.Child(call.Name).Steps(), ".")
	if l.in.Installed != nil {
		if x, found := l.in.Installed(key); found {
			return l.installed(call, x)
		}
	}
	l.errorf(&call.Range, "Module not installed",
		"The module %q comes from %q. Lockstep installs modules with local sources (./ or ../) only, so far: copy the module into the repository and refer to it by its path, or install it into .terraform/modules with another tool before this runs.",
		call.Name, call.Source)
	return "", "", false
}

// installed checks an entry of the manifest against the call.
func (l *loader) installed(call *Call, x source.Installed) (dir, version string, ok bool) {
	if !call.address.Same(x.Source) {
		l.errorf(&call.SourceRange, "Module source has changed",
			"The source address of module %q was changed since the module was installed from %q. Run \"lockstep init\" to install the modules that the configuration asks for.", call.Name, x.Source)
		return "", "", false
	}
	if len(call.Version) > 0 && x.Version != "" {
		if match, err := versionMatches(x.Version, call.Version); err == nil && !match {
			l.errorf(&call.Version[0].Range, "Module version requirements have changed",
				"The version requirements of module %q were changed since version %s was installed, which they do not allow any more. Run \"lockstep init\" to install the modules that the configuration asks for.", call.Name, x.Version)
			return "", "", false
		}
	}
	return path.Clean(x.Dir), x.Version, true
}

// checkRoot reports what the root module may not have.
func (l *loader) checkRoot(m *Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Outputs)) {
		if o := m.Outputs[name]; o.Ephemeral {
			l.errorf(&o.Range, "Ephemeral output not allowed",
				"The outputs of the root module are kept in the state, which an ephemeral value must not be. Take out ephemeral = true, and do not use ephemeral values for it.")
		}
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
