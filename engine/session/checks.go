package session

import (
	"maps"
	"slices"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// CheckResults groups results by configuration object. The worst status of the
// instances is that of the whole.
func CheckResults(list []eval.Checked) []states.CheckResult {
	rank := map[eval.Status]int{eval.Pass: 1, eval.Unknown: 2, eval.Fail: 3, eval.Errored: 4}
	by := map[[2]string]*states.CheckResult{}
	worst := map[[2]string]eval.Status{}
	var keys [][2]string
	for _, c := range list {
		k := [2]string{c.ConfigAddr, c.Kind}
		r := by[k]
		if r == nil {
			r = &states.CheckResult{Kind: c.Kind, ConfigAddr: c.ConfigAddr}
			by[k] = r
			keys = append(keys, k)
		}
		r.Objects = append(r.Objects, states.CheckObject{Addr: c.ObjectAddr, Status: string(c.Status), Failures: c.Failures})
		if rank[c.Status] > rank[worst[k]] {
			worst[k] = c.Status
		}
	}
	var out []states.CheckResult
	for _, k := range keys {
		by[k].Status = string(worst[k])
		out = append(out, *by[k])
	}
	return out
}

// CheckBlocks evaluates the assertions of all check blocks. What fails there is a
// warning.
func CheckBlocks(e *eval.Evaluator, modules []*config.Module, skip func(addrs.Object) bool) diags.Diagnostics {
	var ds diags.Diagnostics
	eachCheck(e, modules, skip, func(c *config.Check, in addrs.ModuleInstance, block, object string) {
		more := e.Conditions(c.Asserts, eval.Scope{Module: in}, "check", block, object, "Check block assertion failed")
		for i := range more {
			more[i].Severity = diags.Warning
		}
		ds = append(ds, more.Unreported()...)
	})
	return ds
}

// DeclareChecks records that there are check blocks, and evaluates none.
func DeclareChecks(e *eval.Evaluator, modules []*config.Module, skip func(addrs.Object) bool) {
	eachCheck(e, modules, skip, func(_ *config.Check, _ addrs.ModuleInstance, block, object string) {
		e.Declare("check", block, object)
	})
}

// eachCheck calls f for the check blocks of all module instances, with the address of
// the block and that of the instance.
func eachCheck(e *eval.Evaluator, modules []*config.Module, skip func(addrs.Object) bool, f func(c *config.Check, in addrs.ModuleInstance, block, object string)) {
	for _, m := range modules {
		for _, name := range slices.Sorted(maps.Keys(m.Checks)) {
			o := addrs.Object{Module: m.Addr, Kind: addrs.KindCheck, Name: name}
			ins, ds := e.Modules(m)
			if ds.HasErrors() || skip(o) {
				continue
			}
			for _, in := range ins {
				object := "check." + name
				if !in.IsRoot() {
					object = in.String() + "." + object
				}
				f(m.Checks[name], in, o.String(), object)
			}
		}
	}
}
