package drafts

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

func object(t *testing.T, s string) addrs.ResourceInstanceObject {
	t.Helper()
	s, deposed, _ := strings.Cut(s, "!")
	a, err := addrs.ParseAbsResourceInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return addrs.ResourceInstanceObject{Instance: a, Deposed: addrs.DeposedKey(deposed)}
}

func dependencies(t *testing.T, list string) *states.Dependencies {
	var out []addrs.ConfigResource
	for s := range strings.FieldsSeq(list) {
		out = append(out, object(t, s).Instance.Config())
	}
	return states.ListedDependencies(func() []addrs.ConfigResource { return out })
}

// TestWithhold: an object that cannot be destroyed keeps all that it depends on, and of the
// diagnostics remain those about objects that nothing else keeps.
func TestWithhold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		changes string // deletions, "t.b(t.a)" with its dependencies
		refused string // objects; "?" at the end is a warning only
		stored  string // dependencies of the refused ones, in the same form as changes
		want    string
		about   string // diagnostics
	}{
		{"nothing is refused", "t.a t.b(t.a)", "", "", "t.a t.b", ""},
		{"a warning withholds nothing", "t.a t.b(t.a)", "t.b?", "t.b(t.a)", "t.a t.b", "t.b"},
		{"dependencies of a refused object stay", "t.a t.c", "t.b", "t.b(t.a)", "t.c", "t.b"},
		{"and theirs, which it has not stored", "t.z t.a(t.z) t.c", "t.b", "t.b(t.a)", "t.c", "t.b"},
		{"what is kept anyway needs no diagnostics", "t.z", "t.b t.a", "t.b(t.a)", "t.z", "t.b"},
		{"deposed objects go, and keep nothing", "t.a t.a!1", "t.b!1 t.c", "t.b(t.a) t.c(t.a)", "t.a!1", "t.b!1 t.c"},
		{"within a module, in the same instance", "module.m[0].t.a module.m[1].t.a", "module.m[0].t.b", "module.m[0].t.b(module.m.t.a)", "module.m[1].t.a", "module.m[0].t.b"},
		{"across modules, in all instances", "module.m[0].t.a module.m[1].t.a", "t.b", "t.b(module.m.t.a)", "", "t.b"},
	} {
		parse := func(s string) (addrs.ResourceInstanceObject, *states.Dependencies) {
			s, deps, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
			return object(t, s), dependencies(t, strings.ReplaceAll(deps, ",", " "))
		}
		c := NewChanges(plans.DestroyMode, nil, nil)
		for s := range strings.FieldsSeq(tt.changes) {
			obj, deps := parse(s)
			c.Keep(&plans.ResourceChange{Addr: obj, StoredDeps: deps, Change: plans.Change{Action: plans.Delete}})
		}
		stored := map[addrs.AbsResourceInstance]*states.Dependencies{}
		for s := range strings.FieldsSeq(tt.stored) {
			obj, deps := parse(s)
			stored[obj.Instance] = deps
		}
		var r Refusals
		for s := range strings.FieldsSeq(tt.refused) {
			name, warning := strings.CutSuffix(s, "?")
			ds := diags.Errorf(nil, name, "")
			if warning {
				ds = diags.Warningf(nil, name, "")
			}
			r.Add(object(t, name), ds)
		}
		ds := c.Withhold(&r, func(obj addrs.ResourceInstanceObject) *states.Dependencies { return stored[obj.Instance] })
		var got, about []string
		list, _ := c.Sorted()
		for _, x := range list {
			s := x.Addr.Instance.String()
			if x.Addr.Deposed != "" {
				s += "!" + string(x.Addr.Deposed)
			}
			got = append(got, s)
		}
		for _, d := range ds {
			about = append(about, d.Summary)
		}
		if diff := cmp.Diff([]string{tt.want, tt.about}, []string{strings.Join(got, " "), strings.Join(about, " ")}); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, diff)
		}
	}
}

// TestChanges: dependents learn of recorded changes, and only kept ones are part of the plan.
func TestChanges(t *testing.T) {
	t.Parallel()
	a, b := object(t, "t.a[0]"), object(t, "module.m[1].t.b")
	for _, mode := range []plans.Mode{plans.NormalMode, plans.DestroyMode} {
		from := object(t, "t.was").Instance
		c := NewChanges(mode, map[addrs.AbsResourceInstance]addrs.AbsResourceInstance{b.Instance: from}, nil)
		c.Record(&plans.ResourceChange{Addr: b, Change: plans.Change{Action: plans.Delete}})
		c.Record(&plans.ResourceChange{Addr: a, Change: plans.Change{Action: plans.NoOp}})
		c.Drifted(&plans.ResourceChange{Addr: b, Change: plans.Change{Action: plans.Update}})
		if !c.Pending(b.Instance.AbsResource()) || !c.PendingAnywhere(b.Instance.Config()) || c.Pending(a.Instance.AbsResource()) {
			t.Errorf("%v: wrong about what is pending", mode)
		}
		list, drift := c.Sorted()
		if mode == plans.DestroyMode {
			if len(list)+len(drift) > 0 || c.Leaves(b.Instance) {
				t.Errorf("the usual part of a destroy is in the plan: %v %v", list, drift)
			}
			continue
		}
		if len(list) != 2 || list[0].Addr != a || list[0].PrevAddr != a.Instance || list[1].PrevAddr != from || drift[0].PrevAddr != from {
			t.Errorf("got %v, %v", list, drift)
		}
		if !c.Leaves(b.Instance) || c.Leaves(a.Instance) || len(c.Of(a.Instance)) != 1 || len(c.OfAll(a.Instance.AbsResource())) != 1 || c.Of(from) != nil {
			t.Error("wrong about instances")
		}
	}
}

func TestPrior(t *testing.T) {
	t.Parallel()
	p := NewPrior(states.Empty())
	for _, s := range []string{"t.b[1]", "t.b[1]!2", "t.b[1]!1", "t.b[0]", "t.a!1"} {
		p.SetObject(object(t, s), addrs.AbsProviderConfig{}, &states.Object{})
	}
	b := object(t, "t.b[1]").Instance
	if got := p.Objects(b); !slices.Equal(got, []addrs.ResourceInstanceObject{object(t, "t.b[1]"), object(t, "t.b[1]!1"), object(t, "t.b[1]!2")}) {
		t.Errorf("got objects %v", got)
	}
	if got := p.Instances(b.AbsResource(), object(t, "t.a").Instance.AbsResource()); !slices.Equal(got, []addrs.AbsResourceInstance{object(t, "t.a").Instance, object(t, "t.b[0]").Instance, b}) {
		t.Errorf("got instances %v", got)
	}
	if got := p.InstancesBut(map[addrs.AbsResourceInstance]bool{b: true}, b.AbsResource()); !slices.Equal(got, []addrs.AbsResourceInstance{object(t, "t.b[0]").Instance}) {
		t.Errorf("got instances %v", got)
	}
	p.RemoveInstance(b)
	if p.Objects(b) != nil || p.Object(object(t, "t.b[1]!1")) != nil || !p.Has(b.AbsResource()) {
		t.Error("wrong about what was removed")
	}
	if _, _, ok := p.Provider(object(t, "t.c").Instance.AbsResource()); ok {
		t.Error("a resource that is not there has a provider configuration")
	}
}
