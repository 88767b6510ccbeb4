// Package loading reads a configuration: the files of the root module and of all modules that it calls, where
// they are installed.
//
// It does not evaluate values (package early evaluates sources that are not literal), and does not install
// modules. Start at [Load].
package loading

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// Input has the files that [Load] reads, and the options of the load.
type Input struct {
	// Tree has the files, relative to the working directory.
	Tree source.Tree
	// Root is the directory of the root module in Tree, clean and with slashes; "" means Tree's own
	// directory. The values of path.root and path.module begin with it.
	Root string
	// Installed returns the installed module for a call, by the call's key: the names of the calls, joined by
	// dots. If Installed is nil, nothing is installed. It is not called for modules with local sources, which
	// need no installation.
	Installed func(key string) (source.Installed, bool)
	// Install, if not nil, replaces Installed. It is called for every call of a module whose source is not
	// local. It returns where the module is, or the reason why it cannot be installed.
	Install func(Wanted) (source.Installed, diags.Diagnostics)
	// Found, if not nil, is called for each call as soon as the directory of its module is known. Callers
	// come first.
	Found func(key, dir string)
	// Key is the key of the root module, if another configuration calls it. The keys of all modules then
	// begin with Key and a dot. It is "" if nothing calls the root module.
	Key string
	// RootOnly ends the load after the root module's own files.
	RootOnly bool
	// Queries makes Load also read the query files of the root module: *.tfquery.hcl and *.tfquery.json.
	Queries bool
	// Early evaluates sources and versions of calls, and arguments of the backend; nil: all
	// of them have to be literal. See package early.
	Early Early
	// Registry is the host of provider and module addresses without a host. If it is "", the files of the root
	// module decide; see [Registry].
	Registry string
	// Language is the version of the language that the files are written in.
	Language language.Version
	// Planned is set if the configuration comes from a saved plan. Load then does not check whether a computed
	// source has changed since its module was installed: the caller compares the modules with those of the
	// plan.
	Planned bool
	// Budget limits the size of the files. If the run is stopped, the budget also ends the load. nil means the
	// limits of [budget.Generous].
	Budget *budget.Budget
}

// Wanted is a call of a module whose source is not local.
type Wanted struct {
	Key     string // names of the calls, joined by dots
	Address source.Address
	Call    *config.Call
}

// Early returns the value of an expression in module m that is needed while modules are loaded. The value is
// known and has no marks. m and the modules that call it are complete, apart from Children.
type Early func(m *config.Module, e hcl.Expression) (cty.Value, hcl.Diagnostics)

// Load reads the root module and everything that it calls. With errors, it returns the part of the tree that
// it could read; the result is never nil.
//
// As Terraform and OpenTofu do, it stops at errors in the root module's own files before it reads other
// modules.
func Load(in Input) (*config.Config, diags.Diagnostics) {
	l := newLoader(in)
	root := &config.Module{Children: map[string]*config.Module{}}
	var ok bool
	root.Content, ok = l.content(path.Clean(in.Root), nil)
	l.cfg.Root = root
	l.add(root)
	if ok && !in.RootOnly {
		l.checkImports(root)
		l.evaluateBackend(root)
		l.rest(root)
	}
	return l.cfg, append(diags.FromHCL(l.diags), l.more...)
}

// LoadCalled reads the module of a call, and everything that this module calls, as a separate configuration.
// It is for the modules that tests call. in.Root is the directory of the caller, in.Key the key of the call.
// The result is nil if there is no such module.
func LoadCalled(in Input, call *config.Call) (*config.Config, diags.Diagnostics) {
	l := newLoader(in)
	caller := &config.Module{Content: config.NewContent(path.Clean(in.Root))}
	root := &config.Module{Children: map[string]*config.Module{}, Call: call}
	dir, ok := l.locate(caller, root)
	if !ok {
		return nil, append(diags.FromHCL(l.diags), l.more...)
	}
	if in.Found != nil {
		in.Found(in.Key, dir)
	}
	root.Call = nil
	root.Content, ok = l.content(dir, call)
	l.cfg.Root = root
	l.add(root)
	l.checkChild(root)
	if ok {
		l.rest(root)
	}
	return l.cfg, append(diags.FromHCL(l.diags), l.more...)
}

func newLoader(in Input) *loader {
	in.Registry = Registry(in)
	if in.Language == language.V1_11 {
		in.Early = nil // sources and backend arguments that are not literal came with Terraform 1.15
	}
	return &loader{
		in: in,
		cfg: &config.Config{
			Modules:  map[addrs.Module]*config.Module{},
			Files:    map[string]*hcl.File{},
			Language: in.Language,
		},
		contents: map[string]*config.Content{},
		checked:  map[*config.Call]bool{},
	}
}

// rest reads the modules that the root module calls, directly or not, and then checks the provider
// configurations of all modules.
func (l *loader) rest(root *config.Module) {
	l.calls(root)
	l.diags = append(l.diags, checkProviders(l.cfg)...)
}

// key returns a module's key in the manifest.
func (l *loader) key(m *config.Module) string {
	return strings.Trim(l.in.Key+"."+m.Key(), ".")
}

type loader struct {
	in       Input
	cfg      *config.Config
	contents map[string]*config.Content
	checked  map[*config.Call]bool // calls whose arguments were compared with the variables
	diags    hcl.Diagnostics
	more     diags.Diagnostics // of the installation
}

// content returns the content of a directory. Only the first call for a directory reads the files. The second
// result is true if the content has no errors. call is the call of the module, nil for the root module.
func (l *loader) content(dir string, call *config.Call) (*config.Content, bool) {
	if c := l.contents[dir]; c != nil {
		return c, !c.Broken
	}
	c, ds := l.readDirectory(dir, call)
	c.Broken = ds.HasErrors()
	l.contents[dir] = c
	l.diags = append(l.diags, ds...)
	return c, !c.Broken
}

func (l *loader) add(m *config.Module) {
	l.cfg.Modules[m.Addr] = m
	l.cfg.Order = append(l.cfg.Order, m)
}

func (l *loader) errorf(at *hcl.Range, summary, detail string, args ...any) {
	l.diags = append(l.diags, diags.HCLError(at, summary, detail, args...))
}
