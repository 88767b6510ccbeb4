package states

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

func instance(t testing.TB, s string) addrs.AbsResourceInstance {
	t.Helper()
	a, err := addrs.ParseAbsResourceInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func current(t testing.TB, s string) addrs.ResourceInstanceObject {
	t.Helper()
	return addrs.ResourceInstanceObject{Instance: instance(t, s)}
}

var testProvider = addrs.AbsProviderConfig{Provider: addrs.DefaultProvider("test")}

func testObject(text string) *Object {
	return &Object{Status: Ready, AttrsJSON: json.RawMessage(fmt.Sprintf("%q", text))}
}

// show lists what a state holds, for comparing.
func show(s *State) map[string]string {
	out := map[string]string{}
	for a, r := range s.Resources() {
		for k, in := range r.Instances {
			at := a.Instance(k)
			if in.Current != nil {
				out[at.String()] = string(in.Current.AttrsJSON)
			}
			for d, o := range in.Deposed {
				out[addrs.ResourceInstanceObject{Instance: at, Deposed: d}.String()] = string(o.AttrsJSON)
			}
		}
	}
	for n, o := range s.Outputs() {
		out["output."+n] = o.Value.GoString()
	}
	return out
}

func TestSnapshotsStayAsTheyWere(t *testing.T) {
	e := Empty().Edit()
	e.SetObject(current(t, "t.a[0]"), testProvider, testObject("a0"))
	e.SetObject(current(t, "t.a[1]"), testProvider, testObject("a1"))
	e.SetObject(current(t, "t.b"), testProvider, testObject("b"))
	e.SetOutput("o", Output{Value: cty.True})
	first := e.State()
	before := fmt.Sprint(show(first))

	deposed := addrs.ResourceInstanceObject{Instance: instance(t, "t.a[1]"), Deposed: "0123abcd"}
	e.SetObject(current(t, "t.a[0]"), testProvider, testObject("new"))
	e.SetObject(deposed, testProvider, testObject("old"))
	e.SetOutput("o", Output{Value: cty.False})
	e.SetChecks([]CheckResult{{Kind: "check"}})
	second := e.State()
	e.SetObject(deposed, testProvider, nil)
	e.RemoveInstance(instance(t, "t.a[0]"))
	e.RemoveOutput("o")
	e.SetProvider(instance(t, "t.a").AbsResource(), addrs.AbsProviderConfig{Provider: testProvider.Provider, Alias: "x"})
	e.MoveInstance(instance(t, "t.b"), instance(t, "module.m.t.c[0]"))
	third := e.State()

	if got := fmt.Sprint(show(first)); got != before || first.Checks != nil {
		t.Errorf("the first snapshot was\n%s\nand is\n%s", before, got)
	}
	for _, c := range []struct {
		state *State
		want  map[string]string
	}{
		{second, map[string]string{"t.a[0]": `"new"`, "t.a[1]": `"a1"`, "t.a[1] (deposed object 0123abcd)": `"old"`, "t.b": `"b"`, "output.o": "cty.False"}},
		{third, map[string]string{"t.a[1]": `"a1"`, "module.m.t.c[0]": `"b"`}},
	} {
		if got, want := fmt.Sprint(show(c.state)), fmt.Sprint(c.want); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if p := second.Resource(instance(t, "t.a").AbsResource()).Provider; p != testProvider {
		t.Errorf("the second snapshot's provider is %s", p)
	}
	if p := third.Resource(instance(t, "module.m.t.c").AbsResource()).Provider; p != testProvider {
		t.Errorf("the moved instance's provider is %s", p)
	}
	if first.Resource(instance(t, "t.b").AbsResource()) != second.Resource(instance(t, "t.b").AbsResource()) {
		t.Error("a resource that did not change is not shared")
	}
	a1 := instance(t, "t.a[1]")
	if first.Object(current(t, "t.a[1]")) != third.Object(addrs.ResourceInstanceObject{Instance: a1}) {
		t.Error("an object that did not change is not shared")
	}
}

func TestWhatIsEmptyDisappears(t *testing.T) {
	e := Empty().Edit()
	o := current(t, "t.a[0]")
	deposed := addrs.ResourceInstanceObject{Instance: o.Instance, Deposed: "0123abcd"}
	e.SetObject(o, testProvider, nil)
	e.SetObject(deposed, testProvider, nil)
	e.RemoveInstance(o.Instance)
	e.MoveInstance(o.Instance, instance(t, "t.b"))
	if !e.State().IsEmpty() {
		t.Fatalf("removing what is not there makes %v", show(e.State()))
	}
	e.SetObject(o, testProvider, testObject("x"))
	e.SetObject(deposed, testProvider, testObject("y"))
	e.SetObject(o, testProvider, nil)
	if in := e.Current().Instance(o.Instance); in == nil || in.Current != nil || len(in.Deposed) != 1 {
		t.Errorf("with the deposed object left: %+v", in)
	}
	e.SetObject(deposed, testProvider, nil)
	if !e.State().IsEmpty() {
		t.Errorf("with nothing left: %v", show(e.State()))
	}
}

// Whatever is done in whatever order, with snapshots taken in between, the result
// is what plain maps give, and no snapshot changes afterwards.
func TestEditorAgainstPlainMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		e, model := Empty().Edit(), map[string]string{}
		type taken struct {
			s    *State
			want string
		}
		var all []taken
		for step := range 40 {
			at := addrs.AbsResourceInstance{}
			at.Resource.Resource = addrs.Resource{Mode: addrs.Managed, Type: "t", Name: string(rune('a' + r.IntN(3)))}
			at.Resource.Key = addrs.IntKey(r.IntN(3))
			o := addrs.ResourceInstanceObject{Instance: at, Deposed: []addrs.DeposedKey{"", "00000001"}[r.IntN(2)]}
			switch r.IntN(5) {
			case 0, 1:
				e.SetObject(o, testProvider, testObject(fmt.Sprint(step)))
				model[o.String()] = fmt.Sprintf("%q", fmt.Sprint(step))
			case 2:
				e.SetObject(o, testProvider, nil)
				delete(model, o.String())
			case 3:
				e.RemoveInstance(at)
				delete(model, at.String())
				delete(model, at.String()+" (deposed object 00000001)")
			case 4:
				all = append(all, taken{e.State(), fmt.Sprint(model)})
			}
		}
		for i, x := range append(all, taken{e.State(), fmt.Sprint(model)}) {
			if got := fmt.Sprint(show(x.s)); got != x.want {
				t.Fatalf("snapshot %d is\n%s\nwant\n%s", i, got, x.want)
			}
		}
	}
}

func TestWith(t *testing.T) {
	s := Empty()
	x := s.With("l", 3)
	if s.Lineage != "" || s.Serial != 0 || x.Lineage != "l" || x.Serial != 3 || !x.SameContent(s) {
		t.Errorf("%+v, %+v", s, x)
	}
	if a, b := NewLineage(), NewLineage(); len(a) != 36 || a == b {
		t.Errorf("lineages %s, %s", a, b)
	}
}
