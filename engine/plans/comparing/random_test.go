package comparing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// A maker makes random plans.
type maker struct{ *rand.Rand }

func (m maker) plan() *plans.Plan {
	p := &plans.Plan{Mode: plans.NormalMode, Variables: map[string]cty.Value{}}
	for i := range 1 + m.IntN(4) {
		c := &plans.ResourceChange{Provider: provider("main")}
		c.Addr.Instance, _ = addrs.ParseAbsResourceInstance(fmt.Sprintf("x.r%d", i))
		c.PrevAddr = c.Addr.Instance
		actions := []plans.Action{plans.Create, plans.Update, plans.DeleteThenCreate, plans.CreateThenDelete, plans.Delete, plans.Forget, plans.Read}
		c.Action = actions[m.IntN(len(actions))]
		c.Before, c.After = m.object(3, false), m.object(3, true)
		p.Changes = append(p.Changes, c)
	}
	for i := range m.IntN(3) {
		p.Outputs = append(p.Outputs, &plans.OutputChange{
			Name: fmt.Sprint("o", i), Sensitive: m.IntN(2) == 0,
			Change: plans.Change{Action: plans.Update, Before: m.value(2, false), After: m.value(2, true)},
		})
	}
	for i := range m.IntN(3) {
		p.Variables[fmt.Sprint("v", i)] = m.value(2, false)
	}
	return p
}

func (m maker) object(depth int, open bool) cty.Value {
	attrs := map[string]cty.Value{}
	for i := range 1 + m.IntN(4) {
		attrs[fmt.Sprint("a", i)] = m.value(depth-1, open)
	}
	return cty.ObjectVal(attrs)
}

// value makes a value; open ones may have unknown parts.
func (m maker) value(depth int, open bool) cty.Value {
	v := m.plain(depth, open)
	if m.IntN(6) == 0 {
		v = v.Mark(marks.Sensitive)
	}
	return v
}

func (m maker) plain(depth int, open bool) cty.Value {
	n := 3
	if depth > 0 {
		n = 7
	}
	if open && m.IntN(6) == 0 {
		return cty.UnknownVal(cty.String)
	}
	switch m.IntN(n) {
	case 0:
		return cty.NumberIntVal(m.Int64N(50))
	case 1:
		return cty.BoolVal(m.IntN(2) == 0)
	case 2:
		return cty.StringVal(fmt.Sprint("t", m.IntN(50)))
	case 3:
		return m.object(depth, open)
	case 4:
		return cty.TupleVal([]cty.Value{m.value(depth-1, open), m.value(depth-1, open)})
	case 5:
		return cty.MapVal(map[string]cty.Value{"k": cty.StringVal(fmt.Sprint("m", m.IntN(50))), "l": cty.StringVal("l")})
	}
	return cty.SetVal([]cty.Value{cty.StringVal(fmt.Sprint("s", m.IntN(50))), cty.StringVal("z")})
}

// slots are the places of a plan that have values: each returns its value, after it was set to
// another one if that is not nil.
func slots(p *plans.Plan) []func(*cty.Value) cty.Value {
	var out []func(*cty.Value) cty.Value
	add := func(at *cty.Value) {
		out = append(out, func(v *cty.Value) cty.Value {
			if v != nil {
				*at = *v
			}
			return *at
		})
	}
	for _, c := range p.Changes {
		add(&c.Before)
		add(&c.After)
	}
	for _, o := range p.Outputs {
		add(&o.Before)
		add(&o.After)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		out = append(out, func(v *cty.Value) cty.Value {
			if v != nil {
				p.Variables[name] = *v
			}
			return p.Variables[name]
		})
	}
	return out
}

// leaves are the paths to parts of a value that have no parts themselves; sets count whole.
func leaves(v cty.Value, known bool) []cty.Path {
	var out []cty.Path
	_ = cty.Walk(v, func(at cty.Path, x cty.Value) (bool, error) {
		x, _ = x.Unmark()
		ty := x.Type()
		whole := !x.IsKnown() || ty.IsPrimitiveType() || ty.IsSetType()
		if whole && x.IsKnown() == known {
			out = append(out, slices.Clone(at))
		}
		return !whole, nil
	})
	return out
}

// replaced returns v with another part at a path.
func replaced(v cty.Value, at cty.Path, by func(cty.Value) cty.Value) cty.Value {
	out, err := cty.Transform(v, func(p cty.Path, x cty.Value) (cty.Value, error) {
		if !p.Equals(at) {
			return x, nil
		}
		plain, with := x.Unmark()
		return by(plain).WithMarks(with), nil
	})
	if err != nil {
		panic(err)
	}
	return out
}

// other returns a value of the same type that is not v.
func other(v cty.Value) cty.Value {
	switch ty := v.Type(); {
	case !v.IsKnown():
		return cty.StringVal("known now")
	case ty == cty.Number:
		return v.Add(cty.NumberIntVal(1))
	case ty == cty.Bool:
		return v.Not()
	case ty == cty.String:
		return cty.StringVal(v.AsString() + "!")
	}
	return cty.SetVal([]cty.Value{cty.StringVal("another")})
}

const random = 60

// TestItself holds that a plan equals itself.
func TestItself(t *testing.T) {
	t.Parallel()
	for seed := range uint64(random) {
		p := maker{rand.New(rand.NewPCG(seed, 1))}.plan()
		if ds := Compare(p, maker{rand.New(rand.NewPCG(seed, 1))}.plan()); len(ds) > 0 {
			t.Fatalf("seed %d: %s", seed, text(ds[0]))
		}
	}
}

// TestMutations changes one known part of a random plan, anywhere, and finds that one difference,
// both ways; and so for a part that is not known any more, while one that has become known is no
// difference.
func TestMutations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(random) {
		m := maker{rand.New(rand.NewPCG(seed, 1))}
		a := m.plan()
		for i := range slots(a) {
			was := slots(a)[i](nil)
			for _, at := range leaves(was, true) {
				b := maker{rand.New(rand.NewPCG(seed, 1))}.plan()
				changed := replaced(was, at, other)
				slots(b)[i](&changed)
				expect(t, seed, Compare(a, b), 1)
				expect(t, seed, Compare(b, a), 1)
				unknown := replaced(was, at, func(v cty.Value) cty.Value { return cty.UnknownVal(v.Type()) })
				slots(b)[i](&unknown)
				expect(t, seed, Compare(a, b), 1)
				expect(t, seed, Compare(b, a), 0)
			}
		}
	}
}

func expect(t *testing.T, seed uint64, ds []Difference, want int) {
	t.Helper()
	if len(ds) != want {
		for _, d := range ds {
			t.Log(text(d))
		}
		t.Fatalf("seed %d: %d differences, want %d", seed, len(ds), want)
	}
	for _, d := range ds {
		if marks.Any(d.Approved) || marks.Any(d.Now) {
			t.Fatalf("seed %d: a difference has marks", seed)
		}
	}
}

// TestActions changes what is no value: each is found.
func TestActions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plans.ResourceChange){
		"action":   func(c *plans.ResourceChange) { c.Action = plans.NoOp; c.Importing = &plans.Importing{ID: "1"} },
		"provider": func(c *plans.ResourceChange) { c.Provider.Alias = "elsewhere" },
		"import":   func(c *plans.ResourceChange) { c.Importing = &plans.Importing{ID: "1"} },
		"move":     func(c *plans.ResourceChange) { c.PrevAddr.Resource.Resource.Name = "former" },
		"address":  func(c *plans.ResourceChange) { c.Addr.Instance.Resource.Resource.Name = "other" },
		"deposed":  func(c *plans.ResourceChange) { c.Addr.Deposed = "00000001" },
	} {
		for seed := range uint64(20) {
			a := maker{rand.New(rand.NewPCG(seed, 2))}.plan()
			b := maker{rand.New(rand.NewPCG(seed, 2))}.plan()
			change(b.Changes[0])
			if len(Compare(a, b)) == 0 || len(Compare(b, a)) == 0 {
				t.Errorf("%s, seed %d: equal", name, seed)
			}
		}
	}
	a, b := maker{rand.New(rand.NewPCG(1, 2))}.plan(), maker{rand.New(rand.NewPCG(1, 2))}.plan()
	b.Changes = b.Changes[1:]
	if len(Compare(a, b)) == 0 || len(Compare(b, a)) == 0 {
		t.Error("a change less is equal")
	}
	b = maker{rand.New(rand.NewPCG(1, 2))}.plan()
	b.EphemeralVariables = []string{"token"}
	if len(Compare(a, b)) == 0 {
		t.Error("another ephemeral variable is equal")
	}
}
