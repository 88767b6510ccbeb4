package session

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// CheckResults groups results by block, for every block of the configuration with conditions. The status of a
// block is the worst status of its instances. A block without instances passes. A block without results is
// unknown. Objects that have results only in planned, the results of a plan, are also unknown: a result from
// planning does not count in this phase. Source: tried with Terraform 1.11.4.
func CheckResults(cfg *config.Config, list []eval.Checked, planned []states.CheckResult) []states.CheckResult {
	g := gathering{by: map[eval.Subject]*states.CheckResult{}, has: map[eval.Subject]bool{}}
	for _, m := range cfg.Order {
		g.module(m)
	}
	for _, c := range list {
		r := g.block(c.Subject)
		switch {
		case c.Object == "" && len(r.Objects) == 0:
			r.Status = string(eval.Pass)
		case c.Object != "":
			g.add(r, c)
		}
	}
	for _, c := range planned {
		r := g.block(eval.Subject{Kind: c.Kind, Config: c.ConfigAddr})
		if len(c.Objects) == 0 && len(r.Objects) == 0 {
			r.Status = c.Status
		}
		for _, o := range c.Objects {
			if s := (eval.Subject{Kind: c.Kind, Config: c.ConfigAddr, Object: o.Addr}); !g.has[s] {
				g.add(r, eval.Checked{Subject: s, Status: eval.Unknown})
			}
		}
	}
	return g.sorted()
}

// gathering collects results by block.
type gathering struct {
	by  map[eval.Subject]*states.CheckResult
	has map[eval.Subject]bool // objects that have results
}

// block returns the result of a block; unknown if there are no results yet.
func (g *gathering) block(s eval.Subject) *states.CheckResult {
	s.Object = ""
	if g.by[s] == nil {
		g.by[s] = &states.CheckResult{Kind: s.Kind, ConfigAddr: s.Config, Status: string(eval.Unknown)}
	}
	return g.by[s]
}

func (g *gathering) add(r *states.CheckResult, c eval.Checked) {
	g.has[c.Subject] = true
	if len(r.Objects) == 0 || c.Status.Worse(eval.Status(r.Status)) {
		r.Status = string(c.Status)
	}
	r.Objects = append(r.Objects, states.CheckObject{Addr: c.Object, Status: string(c.Status), Failures: c.Failures})
}

// module adds an entry for each block of a module that has conditions.
func (g *gathering) module(m *config.Module) {
	for _, r := range m.Resources {
		if len(r.Preconditions)+len(r.Postconditions) > 0 {
			g.block(eval.Subject{Kind: "resource", Config: addrs.ConfigResource{Module: m.Addr, Resource: r.Addr}.String()})
		}
	}
	for _, o := range m.Outputs {
		if len(o.Preconditions) > 0 {
			g.block(eval.OutputSubject(m.Addr, addrs.RootModuleInstance, o))
		}
	}
	for _, v := range m.Variables {
		if len(v.Validations) > 0 {
			g.block(eval.VariableSubject(m.Addr, addrs.RootModuleInstance, v))
		}
	}
	for name := range m.Checks {
		g.block(checkSubject(m.Addr, addrs.RootModuleInstance, name))
	}
}

func (g *gathering) sorted() []states.CheckResult {
	var out []states.CheckResult
	for _, r := range g.by {
		slices.SortFunc(r.Objects, func(a, b states.CheckObject) int { return cmp.Compare(a.Addr, b.Addr) })
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b states.CheckResult) int {
		return cmp.Or(cmp.Compare(a.ConfigAddr, b.ConfigAddr), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// checkSubject returns a check block of a module, in one module instance, as a Subject.
func checkSubject(m addrs.Module, in addrs.ModuleInstance, name string) eval.Subject {
	s := eval.Subject{Kind: eval.KindCheck, Config: addrs.Object{Module: m, Kind: addrs.KindCheck, Name: name}.String(), Object: "check." + name}
	if !in.IsRoot() {
		s.Object = in.String() + "." + s.Object
	}
	return s
}

// CheckBlocks evaluates the assertions of all check blocks, except in module instances that a test replaces. A
// failed assertion is a warning. Assertions about data that could not be read are not evaluated. If the function
// skip returns true for a check block, its results are unknown. But the check block has no results if it has no
// data block, or if skip is also true for the data block.
func CheckBlocks(e *eval.Evaluator, modules []*config.Module, skip func(addrs.Object) bool) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, m := range modules {
		for _, name := range slices.Sorted(maps.Keys(m.Checks)) {
			out := skip(addrs.Object{Module: m.Addr, Kind: addrs.KindCheck, Name: name})
			if d := m.Checks[name].Data; out && (d == nil || skip(addrs.Object{Module: m.Addr, Kind: addrs.KindResource, Res: d.Addr})) {
				continue
			}
			ins, more := e.Modules(m)
			if more.HasErrors() {
				continue
			}
			block := checkSubject(m.Addr, addrs.RootModuleInstance, name)
			block.Object = ""
			e.Declare(block, 0)
			for _, in := range ins {
				if m.Replacement(in) != nil {
					continue
				}
				s := checkSubject(m.Addr, in, name)
				e.Declare(s, len(m.Checks[name].Asserts))
				if !out && !e.Fails(s) {
					ds = append(ds, ofCheck(e.Conditions(m.Checks[name].Asserts, eval.Scope{Module: in}, s, "Check block assertion failed").Unreported())...)
				}
			}
		}
	}
	return ds
}

// ofCheck marks ds as diagnostics of a check block.
func ofCheck(ds diags.Diagnostics) diags.Diagnostics {
	for i := range ds {
		ds[i].Check = true
	}
	return ds
}

// ResourceSubject returns a resource instance as a Subject.
func ResourceSubject(a addrs.AbsResourceInstance) eval.Subject {
	return eval.Subject{Kind: "resource", Config: a.Config().String(), Object: a.String()}
}

// NestedData returns the data blocks inside check blocks, with the names of the check blocks.
func NestedData(cfg *config.Config) map[*config.Resource]string {
	out := map[*config.Resource]string{}
	for _, m := range cfg.Order {
		for name, c := range m.Checks {
			if c.Data != nil {
				out[c.Data] = name
			}
		}
	}
	return out
}

// ReadNested reads a data block in a check block, as [Session.ReadData] does. An error makes the check fail,
// and becomes a warning; ok is then false.
func (s *Session) ReadNested(ctx context.Context, r Reading, check string) (v cty.Value, ok bool, ds diags.Diagnostics) {
	v, ds = s.ReadData(ctx, r)
	if !ds.HasErrors() {
		return v, true, ds
	}
	in := r.Addr.Instance.Module
	for i := range ds {
		if ds[i].Severity == diags.Error {
			about := checkSubject(in.Module(), in, check)
			ds[i].Severity, ds[i].Failed = diags.Warning, about.Object
			s.Eval.Failed(about, ds[i].Summary+": "+ds[i].Detail)
		}
	}
	return cty.NilVal, false, ofCheck(ds)
}
