package statefile

import (
	"bytes"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// An object alone is read as it was written, whatever its address and its provider.
func TestAppendObject(t *testing.T) {
	for _, name := range []string{"thing.a", `module.m["x"].thing.a[3]`, `thing.a["\"\n"]`} {
		for _, provider := range []string{`provider["registry.terraform.io/acme/thing"]`, `module.m.provider["registry.terraform.io/acme/thing"].other`, `provider["registry.terraform.io/acme/thing"].p["k"]`} {
			for _, deposed := range []addrs.DeposedKey{addrs.NotDeposed, "0000beef"} {
				in, err := addrs.ParseAbsResourceInstance(name)
				if err != nil {
					t.Fatal(err)
				}
				p, err := addrs.ParseAbsProviderConfig(provider)
				if err != nil {
					t.Fatal(err)
				}
				o := &states.Object{
					Status: states.Tainted, SchemaVersion: 3, AttrsJSON: []byte("{\n  \"a\": \"<\",\n  \"b\": [1, 2]\n}"), Private: []byte{0, '\n'},
					Sensitive: []cty.Path{cty.GetAttrPath("a")}, CreateBeforeDestroy: true,
					Dependencies: states.DirectDependencies([]states.Dependency{{Resource: in.Config()}}),
				}
				a := addrs.ResourceInstanceObject{Instance: in, Deposed: deposed}
				text, err := AppendObject(nil, a, p, o)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.ContainsRune(text, '\n') {
					t.Errorf("%s: more than a line:\n%s", a, text)
				}
				s, err := Read(text)
				if err != nil {
					t.Fatalf("%s: %v\n%s", a, err, text)
				}
				want := *o
				want.Dependencies = nil
				e := states.Empty().Edit()
				e.SetObject(a, p, &want)
				if got := s.Object(a); got == nil || !s.SameContent(e.State()) || s.Resource(in.AbsResource()).ProviderOf(in.Resource.Key) != p {
					t.Errorf("%s of %s is read as another object:\n%s", a, provider, text)
				}
			}
		}
	}
}
