package loading

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// calls loads the modules that m calls, sorted by name.
func (l *loader) calls(m *config.Module) {
	l.evaluateCalls(m)
	for _, name := range slices.Sorted(maps.Keys(m.Calls)) {
		call := m.Calls[name]
		child := &config.Module{
			Addr: m.Addr.Child(name), Parent: m, Call: call,
			Children: map[string]*config.Module{}, PackageDir: m.PackageDir,
		}
		if l.endless(m, child) {
			continue
		}
		dir, ok := l.locate(m, child)
		if !ok {
			continue
		}
		if l.in.Found != nil {
			l.in.Found(l.key(child), dir)
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
		if !l.checked[call] {
			l.checked[call] = true
			l.diags = append(l.diags, checkInputs(call, child.Content)...)
		}
		l.evaluateConst(m, child)
		l.calls(child)
	}
}

// endless reports whether an installed module calls itself, directly or through other modules. If so, it adds
// an error. Otherwise each call would be installed in a new directory, without an end.
func (l *loader) endless(m, child *config.Module) bool {
	call := child.Call
	if call.Address.Kind == source.Local || call.Address.Text == "" {
		return false
	}
	for up := m; up.Call != nil; up = up.Parent {
		if up.Call.Address.String() == call.Address.String() {
			l.errorf(&call.SourceRange, "Module calls itself",
				"The module from %s is called from within itself, as %s, so that the tree of modules would never end.", source.Redact(call.Source), child.Addr)
			return true
		}
	}
	return false
}

// locate finds the directory of child, a module that m calls. ok is false after an error, for example if child
// is not installed.
func (l *loader) locate(m, child *config.Module) (dir string, ok bool) {
	call := child.Call
	if call.Address.Text == "" {
		return "", false // reported when the block was read
	}
	if call.Address.Kind == source.Local {
		dir = source.Join(m.Dir, call.Address.Path)
		if p := m.PackageDir; p != "" && dir != p && !strings.HasPrefix(dir, p+"/") {
			l.errorf(&call.SourceRange, "Local module path escapes module package",
				"The directory %s of %s is outside of the package in %s that the calling module belongs to. A local path cannot lead out of a package.", dir, child.Addr, p)
			return "", false
		}
		return dir, l.sameAsInstalled(child)
	}
	w := Wanted{Key: l.key(child), Address: call.Address, Call: call}
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
	child.Version = x.Version
	child.PackageDir = packageDir(x, w.Key)
	return path.Clean(x.Dir), true
}

// sameAsInstalled reports whether the computed local source of child is still the source that init saw. A
// variable may have changed the source since, and init has not seen the providers of the new module.
func (l *loader) sameAsInstalled(child *config.Module) bool {
	c := child.Call
	if l.in.Planned || l.in.Install != nil || l.in.Installed == nil || c.Computed == nil || c.Computed.Source == nil {
		return true
	}
	x, found := l.in.Installed(l.key(child))
	return !found || l.matches(c, x)
}

// packageDir returns the directory of the package that an installed module belongs to. The module is in this
// directory, or in a subdirectory of it.
func packageDir(x source.Installed, key string) string {
	dir := path.Clean(x.Dir)
	name := "/" + path.Dir(source.ManifestPath) + "/" + key
	if i := strings.Index("/"+dir+"/", name+"/"); i >= 0 {
		return dir[:i+len(name)-1]
	}
	return dir
}

// matches reports whether an entry of the manifest has the source of a call and an allowed version.
func (l *loader) matches(call *config.Call, x source.Installed) bool {
	if !call.Address.Same(x.Source) {
		l.errorf(&call.SourceRange, "Module source has changed",
			"The source address of module %q was changed since the module was installed from %s. Run \"lockstep init\" to install the modules that the configuration asks for.", call.Name, source.Redact(x.Source))
		return false
	}
	if len(call.Version) > 0 && x.Version != "" {
		if match, err := config.VersionMatches(x.Version, call.Version); err == nil && !match {
			l.errorf(&call.Version[0].Range, "Module version requirements have changed",
				"The version requirements of module %q were changed since version %s was installed, which they do not allow any more. Run \"lockstep init\" to install the modules that the configuration asks for.", call.Name, x.Version)
			return false
		}
	}
	return true
}

// checkInputs compares a call's arguments with the variables of the called module.
func checkInputs(c *config.Call, child *config.Content) hcl.Diagnostics {
	schema := &hcl.BodySchema{}
	for _, name := range slices.Sorted(maps.Keys(child.Variables)) {
		v := child.Variables[name]
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name, Required: v.Default == cty.NilVal})
	}
	_, ds := c.Body.Content(schema)
	for _, d := range ds {
		diags.MarkLate(d)
	}
	return ds
}
