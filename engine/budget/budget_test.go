package budget

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// shared holds the same value twice, n times over.
func shared(v cty.Value, n int) cty.Value {
	for range n {
		v = cty.TupleVal([]cty.Value{v, v})
	}
	return v
}

func deep(n int) cty.Value {
	v := cty.True
	for range n {
		v = cty.TupleVal([]cty.Value{v})
	}
	return v
}

func TestMeasure(t *testing.T) {
	text := cty.StringVal("abc")
	for name, c := range map[string]struct {
		v    cty.Value
		want Size
		kind Kind
	}{
		"bool":                      {cty.True, Size{1, 0, 1}, 0},
		"text":                      {text, Size{1, 3, 1}, 0},
		"marked text":               {text.Mark("x"), Size{1, 3, 1}, 0},
		"null":                      {cty.NullVal(cty.String), Size{1, 0, 1}, 0},
		"list":                      {cty.ListVal([]cty.Value{text, text}), Size{3, 6, 2}, 0},
		"map":                       {cty.MapVal(map[string]cty.Value{"key": text}), Size{2, 6, 2}, 0},
		"object":                    {cty.ObjectVal(map[string]cty.Value{"key": text.Mark("x")}), Size{2, 6, 2}, 0},
		"set":                       {cty.SetVal([]cty.Value{text, cty.StringVal("d")}), Size{3, 4, 2}, 0},
		"shared":                    {shared(text, 3), Size{15, 24, 4}, 0},
		"shared, too large":         {shared(text, 60), Size{}, ValueTooLarge},
		"of a large type":           {cty.UnknownVal(shared(text, 60).Type()), Size{}, ValueTooLarge},
		"null of a large type":      {cty.NullVal(shared(text, 60).Type()), Size{}, ValueTooLarge},
		"no elements, a large type": {cty.ListValEmpty(shared(text, 60).Type()), Size{}, ValueTooLarge},
		"deep":                      {deep(1000), Size{1001, 0, 1001}, 0},
		"too deep":                  {deep(1001), Size{}, TooDeep},
		"too long":                  {cty.StringVal(strings.Repeat("x", 9<<20)), Size{}, TextTooLong},
		"a large number":            {cty.NumberVal(new(big.Float).SetMantExp(big.NewFloat(1), 1<<30)), Size{}, NumberTooLong},
		"a small number":            {cty.NumberVal(new(big.Float).SetMantExp(big.NewFloat(1), -1<<30)), Size{}, NumberTooLong},
		"digits":                    {cty.StringVal(strings.Repeat("9", 200_000)), Size{}, NumberTooLong},
		"digits and others":         {cty.StringVal(strings.Repeat("9a", 100_000)), Size{1, 200_000, 1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, x := Pipeline(gib).Measure(c.v)
			switch {
			case c.kind != 0 && (x == nil || x.Kind != c.kind):
				t.Errorf("%+v, want an excess of kind %d", x, c.kind)
			case c.kind == 0 && (x != nil || got != c.want):
				t.Errorf("%+v, %v; want %+v", got, x, c.want)
			case x != nil && strings.Contains(x.Error(), "%!"):
				t.Error(x)
			}
		})
	}
}

// Whoever is the longest being evaluated is the place.
func TestPlace(t *testing.T) {
	b := Pipeline(gib)
	first := b.Enter(at{"local.x", 12})
	second := b.Enter(at{"", 3})
	if p := b.Place(); p != "local.x at main.tf:12" {
		t.Errorf("the place is %q", p)
	}
	first.Leave()
	if p := b.Place(); p != "main.tf:3" {
		t.Errorf("then it is %q", p)
	}
	second.Leave()
	if p := b.Place(); p != "" {
		t.Errorf("at last it is %q", p)
	}
	var none *Budget
	none.Enter(at{"x", 1}).Leave()
	if p := none.Place(); p != "" {
		t.Errorf("without a budget it is %q", p)
	}
}

// Places come and go while somebody looks.
func TestPlaceConcurrently(t *testing.T) {
	b := Generous()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 1000 {
				e := b.Enter(at{"local.x", i})
				b.Place()
				e.Leave()
			}
		})
	}
	wait.Wait()
	if p := b.Place(); p != "" {
		t.Errorf("%q is left", p)
	}
}

type at struct {
	name string
	line int
}

func (a at) String() string { return a.name }

func (a at) Range() hcl.Range { return hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: a.line}} }

// After the end of the context no more steps are taken than the grace allows.
func TestWatch(t *testing.T) {
	cause := errors.New("interrupted by a test")
	for _, grace := range []int64{0, 5} {
		b := Generous()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer b.Watch(ctx, grace)()
		if x := b.Step(1 << 40); x != nil {
			t.Fatal(x)
		}
		cancel(cause)
		taken := int64(0)
		for b.stopped.Load() == nil {
			time.Sleep(time.Millisecond)
		}
		for b.Step(1) == nil {
			taken++
		}
		if taken != grace {
			t.Errorf("%d steps were taken, want %d", taken, grace)
		}
		x := b.Step(1)
		if !errors.Is(x, errInterrupted) || !strings.Contains(x.Error(), cause.Error()) {
			t.Errorf("the excess is %v", x)
		}
	}
}

func TestExpanded(t *testing.T) {
	b := New(Limits{Instances: 10, AllInstances: 15})
	for i, c := range []struct {
		key  string
		n    int64
		kind Kind
	}{
		{"a", 10, 0}, {"a", 10, 0}, {"a", 8, 0}, {"b", 5, 0}, {"c", 11, TooManyInstances}, {"d", 1, 0}, {"c", 2, TooManyInAll},
	} {
		x := b.Expanded(c.key, c.n)
		if (x == nil) != (c.kind == 0) || x != nil && x.Kind != c.kind {
			t.Errorf("%d: %s has %d: %v", i, c.key, c.n, x)
		}
	}
}

// Every kind has a text that names what is allowed.
func TestTexts(t *testing.T) {
	for k := TextTooLong; k <= Interrupted; k++ {
		for _, values := range []bool{false, true} {
			x := &Excess{Kind: k, Needed: 2_000_000_000, Allowed: 64 << 20, Values: values, Cause: errors.New("64 MiB")}
			text := x.Summary() + ": " + x.Error()
			if strings.Contains(text, "%!") || !strings.HasSuffix(text, ".") ||
				!strings.Contains(text, "64 MiB") && !strings.Contains(text, "67,108,864") && !strings.Contains(text, "67108864") {
				t.Errorf("kind %d: %s", k, text)
			}
		}
	}
}
