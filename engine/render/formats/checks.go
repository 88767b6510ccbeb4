package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// checks writes the results of conditions, sorted by address, unless there are none.
func (t *jsonText) checks(list []states.CheckResult) {
	if len(list) == 0 {
		return
	}
	list = slices.SortedFunc(slices.Values(list), func(a, b states.CheckResult) int {
		return cmp.Or(cmp.Compare(a.ConfigAddr, b.ConfigAddr), cmp.Compare(a.Kind, b.Kind))
	})
	t.key("checks")
	t.openArray()
	for _, c := range list {
		t.openObject()
		t.key("address")
		t.checkable(c)
		t.member("status", c.Status)
		t.checkObjects(c)
		t.closeObject()
	}
	t.closeArray()
}

// checkable writes the address of a checked object.
func (t *jsonText) checkable(c states.CheckResult) {
	module, local := cutModule(c.ConfigAddr)
	t.openObject()
	t.member("kind", c.Kind)
	if r, err := addrs.ParseConfigResource(local); err == nil && c.Kind == "resource" {
		t.member("mode", r.Resource.Mode.String())
		t.optional("module", module)
		t.member("name", r.Resource.Name)
		t.member("to_display", c.ConfigAddr)
		t.member("type", r.Resource.Type)
	} else {
		t.optional("module", module)
		t.member("name", local[strings.LastIndexByte(local, '.')+1:])
		t.member("to_display", c.ConfigAddr)
	}
	t.closeObject()
}

// cutModule splits a static address into its module and the rest.
func cutModule(addr string) (module, local string) {
	local = addr
	for strings.HasPrefix(local, "module.") {
		name := local[len("module."):]
		i := strings.IndexByte(name, '.')
		if i < 0 {
			break
		}
		local = name[i+1:]
	}
	return strings.TrimSuffix(addr[:len(addr)-len(local)], "."), local
}

func (t *jsonText) checkObjects(c states.CheckResult) {
	if len(c.Objects) == 0 {
		return
	}
	_, local := cutModule(c.ConfigAddr)
	objects := slices.SortedFunc(slices.Values(c.Objects), func(a, b states.CheckObject) int { return cmp.Compare(a.Addr, b.Addr) })
	t.key("instances")
	t.openArray()
	for _, o := range objects {
		t.openObject()
		t.key("address")
		t.openObject()
		module, key := strings.TrimSuffix(strings.TrimSuffix(o.Addr, local), "."), addrs.NoKey
		if r, err := addrs.ParseAbsResourceInstance(o.Addr); err == nil && c.Kind == "resource" {
			module, key = r.Module.String(), r.Resource.Key
		}
		t.instanceKey("instance_key", key)
		t.optional("module", module)
		t.member("to_display", o.Addr)
		t.closeObject()
		t.member("status", o.Status)
		if len(o.Failures) > 0 {
			t.key("problems")
			t.openArray()
			for _, f := range o.Failures {
				t.openObject()
				t.member("message", f)
				t.closeObject()
			}
			t.closeArray()
		}
		t.closeObject()
	}
	t.closeArray()
}
