// Package loading reads a configuration: the files of the root module and of all modules
// that it calls, from wherever they are installed.
//
// It refuses to know values (package early evaluates sources that are not literal) and how
// modules are installed. Start at [Load].
package loading

import (
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/providing"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Input holds the files that [Load] reads, and the circumstances of the load.
type Input struct {
	// Tree holds the files, seen from the working directory.
	Tree source.Tree
	// Root is the directory of the root module in Tree, clean and slash-separated; "" is
	// Tree's own. The values of path.root and path.module begin with it.
	Root string
	// Installed finds a call of a module that init has installed, by its key (the
	// names of the calls, joined by dots). nil means that nothing is installed; modules
	// with local sources need no installation and are not looked up.
	Installed func(key string) (source.Installed, bool)
	// Install, if not nil, is asked for every call of a module whose source is not local,
	// in place of Installed. It returns where the module is, or why it is nowhere.
	Install func(Wanted) (source.Installed, diags.Diagnostics)
	// Found, if not nil, is called for each call whose module's directory is known, callers
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
	Call    *config.Call
}

// Early returns the value of an expression of module m that is needed while modules are
// loaded; it is known and has no marks. Of m, and of those that call it, everything but
// the Children is there.
type Early func(m *config.Module, e hcl.Expression) (cty.Value, hcl.Diagnostics)

// Load reads the root module and everything that it calls. Beside errors it
// returns the part of the tree that could be read, never nil.
//
// As the stock tools do, it stops at errors in the root module's own files before
// it looks at other modules.
func Load(in Input) (*config.Config, diags.Diagnostics) {
	l := &loader{
		in: in,
		cfg: &config.Config{
			Modules: map[addrs.Module]*config.Module{},
			Files:   map[string]*hcl.File{},
		},
		contents: map[string]*config.Content{},
		checked:  map[*config.Call]bool{},
	}
	root := &config.Module{Children: map[string]*config.Module{}}
	var ok bool
	root.Content, ok = l.content(path.Clean(in.Root), nil)
	l.cfg.Root = root
	l.add(root)
	if ok {
		l.checkImports(root)
		l.evaluateBackend(root)
		l.calls(root)
		l.diags = append(l.diags, providing.Check(l.cfg)...)
	}
	return l.cfg, append(diags.FromHCL(l.diags), l.more...)
}

type loader struct {
	in       Input
	cfg      *config.Config
	contents map[string]*config.Content
	checked  map[*config.Call]bool // whose arguments were compared with the variables
	diags    hcl.Diagnostics
	more     diags.Diagnostics // of the installation
}

// content reads the directory dir once. It reports whether the content is free of
// errors; call is the place that asks for it, nil for the root.
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
