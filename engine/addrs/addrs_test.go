package addrs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Compare is an order: antisymmetric, transitive, and 0 only for what is equal.
func TestCompareIsAnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	key := func() InstanceKey {
		switch r.IntN(4) {
		case 0:
			return NoKey
		case 1:
			return StringKey(string(rune('a' + r.IntN(3))))
		}
		return IntKey(r.IntN(12))
	}
	var list []AbsResourceInstance
	for range 60 {
		m := RootModuleInstance
		for range r.IntN(3) {
			m = m.Child(string(rune('m'+r.IntN(2))), key())
		}
		mode := []ResourceMode{Managed, Data, Ephemeral}[r.IntN(3)]
		list = append(list, AbsResource{m, Resource{mode, "t", string(rune('a' + r.IntN(2)))}}.Instance(key()))
	}
	for _, a := range list {
		for _, b := range list {
			if x, y := a.Compare(b), b.Compare(a); x != -y || (x == 0) != (a == b) {
				t.Fatalf("%s and %s: %d and %d", a, b, x, y)
			}
			for _, c := range list {
				if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
					t.Fatalf("%s <= %s <= %s, but not the ends", a, b, c)
				}
			}
		}
	}
}

// Numbers are ordered as numbers, modules by depth first, data before managed.
func TestCompare(t *testing.T) {
	want := []string{
		`data.t.a`, `t.a`, `t.a[2]`, `t.a[10]`, `t.a["1"]`, `t.b`, `ephemeral.t.a`,
		`module.m.t.a`, `module.m[2].t.a`, `module.m[10].t.a`, `module.m["a"].t.a`, `module.mm.t.a`, `module.m.module.n.t.a`,
	}
	var list []AbsResourceInstance
	for _, s := range want {
		a, err := ParseAbsResourceInstance(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortFunc(list, AbsResourceInstance.Compare)
	for i, a := range list {
		if a.String() != want[i] {
			t.Errorf("place %d: got %s, want %s", i, a, want[i])
		}
	}
}

func TestModule(t *testing.T) {
	m := NewModule("a", "b-c", "d")
	if got := m.String(); got != "module.a.module.b-c.module.d" {
		t.Error(got)
	}
	if p, call := m.Call(); p != NewModule("a", "b-c") || call != "d" || m.Parent() != p || p.Child("d") != m {
		t.Errorf("got %s, %s", p, call)
	}
	if RootModule.Parent() != RootModule || RootModule.String() != "" || RootModule.Depth() != 0 || m.Depth() != 3 || len(RootModule.Steps()) != 0 {
		t.Error("the root module is not itself")
	}
	for _, tc := range []struct {
		outer, inner Module
		want         bool
	}{
		{RootModule, m, true},
		{NewModule("a"), m, true},
		{m, m, true},
		{NewModule("a", "b"), m, false},
		{m, NewModule("a"), false},
		{m, RootModule, false},
	} {
		if got := tc.outer.Contains(tc.inner); got != tc.want {
			t.Errorf("%q contains %q: %v", tc.outer, tc.inner, got)
		}
	}
	if !slices.Equal(m.Steps(), []string{"a", "b-c", "d"}) {
		t.Errorf("got %v", m.Steps())
	}
}

// Each kind of address prints as Terraform prints it.
func TestPrint(t *testing.T) {
	m := RootModuleInstance.Child("m", StringKey("k"))
	res := Resource{Managed, "t", "n"}
	in := AbsResource{m, res}.Instance(IntKey(1))
	for _, tc := range []struct {
		got  interface{ String() string }
		want string
	}{
		{ResourceInstanceObject{Instance: in}, `module.m["k"].t.n[1]`},
		{ResourceInstanceObject{in, "00c0ffee"}, `module.m["k"].t.n[1] (deposed object 00c0ffee)`},
		{in.AbsResource(), `module.m["k"].t.n`},
		{in.Config(), `module.m.t.n`},
		{AbsOutput{m, "o"}, `module.m["k"].output.o`},
		{AbsOutput{Name: "o"}, `output.o`},
		{Object{NewModule("m"), KindVariable, "v", Resource{}}, `module.m.var.v`},
		{Object{Kind: KindLocal, Name: "l"}, `local.l`},
		{Object{Kind: KindOutput, Name: "o"}, `output.o`},
		{Object{Kind: KindCall, Name: "c"}, `module.c`},
		{Object{Kind: KindProvider, Name: "aws.west"}, `provider.aws.west`},
		{Object{Kind: KindCheck, Name: "c"}, `check.c`},
		{Object{Kind: KindResource, Res: Resource{Data, "t", "n"}}, `data.t.n`},
		{LocalProviderConfig{"aws", "west"}, `aws.west`},
		{LocalProviderConfig{LocalName: "aws"}, `aws`},
	} {
		if got := tc.got.String(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}
