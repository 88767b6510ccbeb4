package states

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// TestReaddress moves instances, and checks what all depend on then. A line is an instance and its dependencies.
func TestReaddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, before, moves, after string }{
		{"another key", "t.a[0]; t.b: t.a; t.c: t.a t.b", "t.a[0] t.a[7]", "t.a[7]; t.b: t.a; t.c: t.a t.b"},
		{"no key", "t.a; t.b: t.a", "t.a t.a[0]", "t.a[0]; t.b: t.a"},
		{"another name", "t.a; t.b: t.a; t.c: t.a t.b t.o; t.o", "t.a t.z", "t.b: t.z; t.c: t.b t.o t.z; t.o; t.z"},
		{"one of two", "t.a[0]; t.a[1]; t.b: t.a", "t.a[0] t.z", "t.a[1]; t.b: t.a t.z; t.z"},
		{"all of two, one by one", "t.a[0]; t.a[1]; t.b: t.a", "t.a[0] t.z[0], t.a[1] t.z[1]", "t.b: t.z; t.z[0]; t.z[1]"},
		{"a module instance", "module.s[1].t.a; module.s[1].t.b: module.s.t.a; module.s[2].t.a; module.s[2].t.b: module.s.t.a",
			"module.s[2].t.a module.s[3].t.a, module.s[2].t.b module.s[3].t.b",
			"module.s[1].t.a; module.s[1].t.b: module.s.t.a; module.s[3].t.a; module.s[3].t.b: module.s.t.a"},
		{"a module instance to another module", "module.s[1].t.a; module.s[1].t.b: module.s.t.a; module.s[2].t.a; module.s[2].t.b: module.s.t.a; t.all: module.s.t.a module.s.t.b",
			"module.s[2].t.a module.u.t.a, module.s[2].t.b module.u.t.b",
			"module.s[1].t.a; module.s[1].t.b: module.s.t.a; module.u.t.a; module.u.t.b: module.u.t.a; t.all: module.s.t.a module.s.t.b module.u.t.a module.u.t.b"},
		{"one resource of a module instance", "module.s[1].t.a; module.s[1].t.b: module.s.t.a; module.s[2].t.a; module.s[2].t.b: module.s.t.a",
			"module.s[2].t.a t.a", "module.s[1].t.a; module.s[1].t.b: module.s.t.a; module.s[2].t.b: t.a; t.a"},
		{"a module around", "module.s[1].t.a; module.s[1].module.i.t.b: module.s.t.a; module.s[2].t.a; module.s[2].module.i.t.b: module.s.t.a",
			"module.s[2].t.a module.u.t.a, module.s[2].module.i.t.b module.u.module.i.t.b",
			"module.s[1].module.i.t.b: module.s.t.a; module.s[1].t.a; module.u.module.i.t.b: module.u.t.a; module.u.t.a"},
		{"to another state", "t.a[0]; t.b: t.a; t.c: t.a t.b", "t.a[0] -", "t.b; t.c: t.b"},
		{"out of a module", "module.n.t.x; t.y: module.n.t.x", "module.n.t.x t.x", "t.x; t.y: t.x"},
		{"to where somebody else is", "t.a; t.b: t.a; t.z[1]", "t.a t.z[0]", "t.b: t.z; t.z[0]; t.z[1]"},
		{"to where somebody needs us", "t.a; t.b: t.a; t.z[1]: t.a t.b", "t.a t.z[0]", "t.b; t.z[0]; t.z[1]: t.b"},
		{"what depends on its own", "t.a[0]; t.a[1]: t.a", "t.a[0] t.z", "t.a[1]: t.a t.z; t.z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := Empty().Edit()
			for _, line := range strings.Split(test.before, "; ") {
				name, needs, _ := strings.Cut(line, ": ")
				o := &Object{}
				if needs != "" {
					o.Dependencies = listed(t, strings.Fields(needs)...)
				}
				e.SetObject(addrs.ResourceInstanceObject{Instance: instanceOf(t, name)}, addrs.AbsProviderConfig{}, o)
			}
			moved := map[addrs.AbsResourceInstance]addrs.AbsResourceInstance{}
			for _, move := range strings.Split(test.moves, ", ") {
				from, to, _ := strings.Cut(move, " ")
				a := instanceOf(t, from)
				if to == "-" {
					e.RemoveInstance(a)
					moved[a] = addrs.AbsResourceInstance{}
					continue
				}
				e.MoveInstance(a, instanceOf(t, to))
				moved[a] = instanceOf(t, to)
			}
			e.Readdress(moved, func(addrs.AbsResourceInstance) bool { return true })
			var got []string
			for a, r := range e.State().Resources() {
				for k, in := range r.Instances {
					line := a.Instance(k).String()
					for i, x := range in.Current.Dependencies.All() {
						if i == 0 {
							line += ":"
						}
						line += fmt.Sprintf(" %s", x)
					}
					got = append(got, line)
				}
			}
			slices.Sort(got)
			if text := strings.Join(got, "; "); text != test.after {
				t.Errorf("%s\nwant %s", text, test.after)
			}
		})
	}
}

// TestReaddressKeepsTheProvider holds that an object whose dependencies are rewritten stays with its instance of a provider
// configuration with for_each: `state mv` of what it depends on must not give it to another region.
func TestReaddressKeepsTheProvider(t *testing.T) {
	t.Parallel()
	const eu = `provider["registry.terraform.io/lockstep/lab"].by_region["eu"]`
	p, err := addrs.ParseAbsProviderConfig(eu)
	if err != nil {
		t.Fatal(err)
	}
	e, a, b := Empty().Edit(), instanceOf(t, "t.a"), instanceOf(t, "t.b")
	e.SetObject(addrs.ResourceInstanceObject{Instance: a}, p, &Object{})
	for _, deposed := range []addrs.DeposedKey{addrs.NotDeposed, "0a1b2c3d"} {
		e.SetObject(addrs.ResourceInstanceObject{Instance: b, Deposed: deposed}, p, &Object{Dependencies: listed(t, "t.a")})
	}
	e.MoveInstance(a, instanceOf(t, "t.z"))
	e.Readdress(map[addrs.AbsResourceInstance]addrs.AbsResourceInstance{a: instanceOf(t, "t.z")}, func(addrs.AbsResourceInstance) bool { return true })
	r := e.State().Resource(b.AbsResource())
	if got := r.ProviderOf(b.Resource.Key).String(); got != eu {
		t.Errorf("t.b is looked after by %s", got)
	}
	if got := r.Instances[b.Resource.Key].Current.Dependencies.All()[0].String(); got != "t.z" {
		t.Errorf("t.b depends on %s", got)
	}
}

func instanceOf(t *testing.T, text string) addrs.AbsResourceInstance {
	t.Helper()
	x, err := addrs.ParseTarget(text)
	if err != nil {
		t.Fatal(err)
	}
	return addrs.AbsResource{Module: x.Module, Resource: x.Resource}.Instance(x.Key)
}
