package eval

import (
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// A Program is a configuration with everything that its expressions need and that is the same in each phase
// of a run. It is read only, and may be shared.
type Program struct {
	Config *config.Config
	// Refs are the resolved references of Config.
	Refs *refs.Refs
	// Functions are the built-in functions, by name. They may differ from phase to phase:
	// while planning, impure ones return unknown values.
	Functions map[string]function.Function
	// ModuleFunctions returns all functions that a module may call: the built-in functions, and the functions
	// of the providers that the module requires. If it or its result is nil, the module may call only
	// Functions.
	ModuleFunctions func(*config.Module) map[string]function.Function
	// RootDir and WorkingDir are the values of path.root and path.cwd.
	RootDir, WorkingDir string
	// Workspace is the value of terraform.workspace.
	Workspace string
	// Budget limits evaluation, and ends it when exceeded; nil means the limits of [budget.Generous].
	Budget *budget.Budget
}

// functions returns the functions that a module may call.
func (p *Program) functions(m *config.Module) map[string]function.Function {
	if p.ModuleFunctions != nil {
		if fs := p.ModuleFunctions(m); fs != nil {
			return fs
		}
	}
	return p.Functions
}
