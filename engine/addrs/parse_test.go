package addrs

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Addresses that print as they were written, but for what is after the arrow.
var targets = []string{
	`type.name`,
	`type.name[0]`,
	`type.name[17]`,
	`type.name["a"]`,
	`type.name[""]`,
	`type.name["a.b[c]"]`,
	`type.name["a\"]b"]`,
	`type.name["\\"]`,
	`type.name["\n\r\t"]`,
	`type.name["$${x} %%{y} $ % $$ $x"]`,
	`type.name["$$${x}"]`,
	`type.name["é ü 日本"]`,
	`type.name["\u200b\U000e0001"]`,
	`data.type.name`,
	`data.type.name["k"]`,
	`ephemeral.type.name[1]`,
	`module.a`,
	`module.a[0]`,
	`module.a["x"].module.b`,
	`module.a["x.y"].module.b[2].type.name`,
	`module.a.data.type.name[0]`,
	`module.a.module.module`,
	`module.a.ephemeral.type.name`,
	`data.data.data`,
	`ty-pe.na_me-1`,
	`_type._name`,
	`тип.имя`,
	`resource.type.name -> type.name`,
	`module.m[0].resource.type.name[1] -> module.m[0].type.name[1]`,
	`type.name[01] -> type.name[1]`,
	`type.name["\u00e9\U0001F600"] -> type.name["é😀"]`,
	"type.name[\"e\u0301\"] -> type.name[\"\u00e9\"]", // normalised
	"type.name[\"\t\"] -> type.name[\"\\t\"]",
}

func TestParseTarget(t *testing.T) {
	for _, s := range targets {
		from, want, changed := strings.Cut(s, " -> ")
		if !changed {
			want = from
		}
		got, err := ParseTarget(from)
		if err != nil {
			t.Error(err)
			continue
		}
		if got.String() != want {
			t.Errorf("%s: got %s, want %s", from, got, want)
		}
		if again, err := ParseTarget(want); err != nil || again != got {
			t.Errorf("%s: got %+v, then %+v, %v", from, got, again, err)
		}
	}
}

// What is not an address says why.
func TestParseTargetErrors(t *testing.T) {
	for _, tc := range []struct{ s, want string }{
		{``, "it is empty"},
		{`type`, "must be followed by a dot and a name"},
		{`type.`, "the resource name is expected"},
		{`.name`, "the resource type is expected"},
		{`type..name`, "the resource name is expected"},
		{`type.name `, "the resource name is expected"},
		{`type.name.id`, "unexpected \".id\""},
		{`type.name[0].id`, "unexpected \".id\""},
		{`type.name.0`, "unexpected"},
		{`type.name[0][1]`, "unexpected"},
		{`type.name[`, "must end with ]"},
		{`type.name[0`, "must end with ]"},
		{`type.name["a"`, "must end with ]"},
		{`type.name["a]`, "must end with a quote"},
		{`type.name["a"b]`, "must end with ]"},
		{`type.name["${x}"]`, "cannot be a template"},
		{`type.name["%{x}"]`, "cannot be a template"},
		{`type.name["\x"]`, "unknown escape"},
		{`type.name["\u12"]`, "unknown escape"},
		{`type.name["\ud800"]`, "unknown escape"},
		{`type.name["\`, "unknown escape"},
		{"type.name[\"\xff\"]", "valid UTF-8"},
		{"type.name[\"a\nb\"]", "one line"},
		{`type.name[]`, "whole number"},
		{`type.name[-1]`, "whole number"},
		{`type.name[+1]`, "whole number"},
		{`type.name[1.5]`, "whole number"},
		{`type.name[*]`, "whole number"},
		{`type.name[x]`, "whole number"},
		{`type.name[99999999999999999999]`, "whole number"},
		{`type["name"]`, "must be followed by a dot"},
		{`data.type`, "must be followed by a dot"},
		{`resource.type`, "must be followed by a dot"},
		{`1type.name`, "the resource type is expected"},
		{"type.\xda\xda\xda0", "the resource name is expected"},
		{`module.`, "a module name is expected"},
		{`module["a"]`, "must be followed by a dot"},
		{`module.a.`, "unexpected"},
		{`module.a.module`, "must be followed by a dot"},
		{`module.a.type`, "must be followed by a dot"},
		{`module.a["x"]type.name`, "unexpected"},
	} {
		if got, err := ParseTarget(tc.s); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: got %v, %v, want an error with %q", tc.s, got, err, tc.want)
		}
	}
}

// Whatever is accepted prints to what is read as the same, and means the same to HCL.
func FuzzParseTarget(f *testing.F) {
	for _, s := range targets {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := ParseTarget(s)
		if err != nil {
			return
		}
		printed := target.String()
		if again, err := ParseTarget(printed); err != nil || again != target {
			t.Errorf("%q is %q, which is %+v, %v", s, printed, again, err)
		}
		for _, text := range []string{s, printed} {
			if got := byHCL(t, text); got != target {
				t.Errorf("%q is %+v for us, %+v for HCL", text, target, got)
			}
		}
	})
}

// byHCL reads an address with HCL's parser of traversals, as Terraform does.
func byHCL(t *testing.T, s string) Target {
	steps, diags := hclsyntax.ParseTraversalAbs([]byte(s), "", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%q: HCL says %s", s, diags)
	}
	name := func() string {
		var name string
		switch step := steps[0].(type) {
		case hcl.TraverseRoot:
			name = step.Name
		case hcl.TraverseAttr:
			name = step.Name
		}
		steps = steps[1:]
		return name
	}
	key := func() InstanceKey {
		if len(steps) > 0 {
			if step, ok := steps[0].(hcl.TraverseIndex); ok {
				steps = steps[1:]
				if step.Key.Type() == cty.String {
					return StringKey(step.Key.AsString())
				}
				n, _ := step.Key.AsBigFloat().Int64()
				return IntKey(int(n))
			}
		}
		return NoKey
	}
	var out Target
	for {
		word := name()
		if word == "module" && len(steps) > 0 {
			call := name()
			out.Module = out.Module.Child(call, key())
			if len(steps) == 0 {
				return out
			}
			continue
		}
		out.Resource.Mode = Managed
		switch word {
		case "data":
			out.Resource.Mode, word = Data, name()
		case "ephemeral":
			out.Resource.Mode, word = Ephemeral, name()
		case "resource":
			word = name()
		}
		out.Resource.Type, out.Resource.Name = word, name()
		out.Key = key()
		if len(steps) > 0 {
			t.Fatalf("%q: HCL sees more: %v", s, steps)
		}
		return out
	}
}

func TestParseAbsResourceInstance(t *testing.T) {
	a, err := ParseAbsResourceInstance(`module.a["x"].data.type.name[3]`)
	want := AbsResourceInstance{
		RootModuleInstance.Child("a", StringKey("x")),
		ResourceInstance{Resource{Data, "type", "name"}, IntKey(3)},
	}
	if err != nil || a != want {
		t.Errorf("got %v, %v", a, err)
	}
	if got := a.Config().String(); got != "module.a.data.type.name" {
		t.Error(got)
	}
	for _, s := range []string{"", "module.a", "type", "type.name[0].id"} {
		if a, err := ParseAbsResourceInstance(s); err == nil {
			t.Errorf("%q: got %v", s, a)
		}
	}
}

func FuzzParseAbsResourceInstance(f *testing.F) {
	for _, s := range targets {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAbsResourceInstance(s)
		if err != nil {
			return
		}
		if again, err := ParseAbsResourceInstance(a.String()); err != nil || again != a {
			t.Errorf("%q is %q, which is %v, %v", s, a, again, err)
		}
		if m := a.Module.Module(); !m.Contains(m) || !a.Config().Module.Contains(m) || a.AbsResource().Instance(a.Resource.Key) != a {
			t.Errorf("%q: parts of %v do not fit", s, a)
		}
	})
}

func TestParseModuleInstance(t *testing.T) {
	for _, s := range []string{"", "module.a", `module.a[0].module.b["x].module.c"]`, "module.module.module.a"} {
		m, err := ParseModuleInstance(s)
		if err != nil || m.String() != s {
			t.Errorf("%q: got %q, %v", s, m, err)
		}
	}
	for _, s := range []string{"a", "module", "module.", "module.a.", "module.a.b", "module.a.type.name", "module.a[0]x", "module.a[0]module.b", ".module.a"} {
		if m, err := ParseModuleInstance(s); err == nil {
			t.Errorf("%q: got %q", s, m)
		}
	}
}

func FuzzParseModuleInstance(f *testing.F) {
	for _, s := range targets {
		f.Add(s)
	}
	f.Add(`module.a["\"].x\\"].module.b["\\"].module.c[12]`)
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseModuleInstance(s)
		if err != nil {
			return
		}
		if again, err := ParseModuleInstance(m.String()); err != nil || again != m {
			t.Errorf("%q is %q, which is %q, %v", s, m, again, err)
		}
		rebuilt, static := RootModuleInstance, RootModule
		for _, step := range m.Steps() {
			rebuilt, static = rebuilt.Child(step.Name, step.Key), static.Child(step.Name)
			if !rebuilt.Contains(m) {
				t.Errorf("%q is not in %q", m, rebuilt)
			}
		}
		if rebuilt != m || m.Compare(rebuilt) != 0 || m.Module() != static {
			t.Errorf("%q is rebuilt as %q of %q", m, rebuilt, static)
		}
		if !m.IsRoot() {
			parent, call, key := m.Call()
			if parent.Child(call, key) != m || parent != m.Parent() || m.Module().Parent() != parent.Module() {
				t.Errorf("%q is not %q, %q, %v", m, parent, call, key)
			}
		}
	})
}

// As Terraform 1.11.4: only what stands last may leave out its key.
func TestTargetContains(t *testing.T) {
	for _, tc := range []struct {
		target, instance string
		want             bool
	}{
		{`type.name`, `type.name`, true},
		{`type.name`, `type.name[0]`, true},
		{`type.name`, `data.type.name`, false},
		{`type.name`, `type.name2`, false},
		{`type.name[0]`, `type.name[0]`, true},
		{`type.name[0]`, `type.name[1]`, false},
		{`type.name[0]`, `type.name["0"]`, false},
		{`type.name[0]`, `type.name`, false},
		{`type.name`, `module.m.type.name`, false},
		{`module.m`, `module.m.type.name`, true},
		{`module.m`, `module.m[0].type.name[1]`, true},
		{`module.m`, `module.m["a.b"].module.n.type.name`, true},
		{`module.m`, `module.mm.type.name`, false},
		{`module.m`, `module.m-1.type.name`, false},
		{`module.m`, `type.name`, false},
		{`module.m[0]`, `module.m[0].module.n.type.name`, true},
		{`module.m[1]`, `module.m[10].type.name`, false},
		{`module.m[0]`, `module.m.type.name`, false},
		{`module.m.module.n`, `module.m[0].module.n.type.name`, false},
		{`module.m[0].module.n`, `module.m[0].module.n["x"].type.name`, true},
		{`module.m.type.name`, `module.m[0].type.name`, false},
		{`module.m.type.name`, `module.m.type.name[7]`, true},
		{`module.m[0].module.n.type.name`, `module.m[0].module.n["x"].type.name`, false},
		{`module.m[0].module.n["x"].type.name`, `module.m[0].module.n["x"].type.name[1]`, true},
	} {
		target, err := ParseTarget(tc.target)
		if err != nil {
			t.Fatal(err)
		}
		a, err := ParseAbsResourceInstance(tc.instance)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.Contains(a); got != tc.want {
			t.Errorf("%s contains %s: %v", target, a, got)
		}
	}
	if !(Target{}).Contains(AbsResourceInstance{}) {
		t.Error("the root module does not contain everything")
	}
}
