package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// stored returns a state as it is after it was written and read.
func stored(t testing.TB, s *states.State) *states.State {
	t.Helper()
	src, err := statefile.Write(s)
	if err != nil {
		t.Fatal(err)
	}
	out, err := statefile.Read(src)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUnchanged plans objects of which one changes. The plan shares the others with the state that it began
// with, and decodes them when somebody asks.
func TestUnchanged(t *testing.T) {
	files := func(third string) map[string][]byte {
		return map[string][]byte{"main.tf": fmt.Appendf(nil, `
variable "secret" {
  default   = "not to be shown"
  sensitive = true
}
resource "terraform_data" "a" {
  count = 5
  input = count.index == 3 ? %q : "i${count.index}"
}
resource "terraform_data" "b" {
  for_each = { for i in range(5) : "k${i}" => terraform_data.a[i].id }
  input    = { name = each.value, secret = var.secret }
}
output "all" {
  value     = terraform_data.b
  sensitive = true
}
`, third)}
	}
	was := newSized(t, files("i3"))
	st := stored(t, was.apply(was.plan(states.Empty())))
	plan := newSized(t, files("other")).plan(st)
	unchanged := 0
	for _, c := range plan.Changes {
		if c.Action != plans.NoOp {
			if c.Unchanged != nil || c.Before == cty.NilVal || c.Decoded() != c {
				t.Errorf("%s is changed, and has no values", c.Addr)
			}
			continue
		}
		unchanged++
		if c.Before != cty.NilVal || c.After != cty.NilVal || c.Unchanged != st.Object(c.Addr) || plan.PriorState.Object(c.Addr) != c.Unchanged {
			t.Errorf("%s is not changed, but the plan does not share the object of the state", c.Addr)
		}
		d := c.Decoded()
		if id := d.Before.GetAttr("id"); !d.After.RawEquals(d.Before) || id.IsNull() {
			t.Errorf("%s: %#v", c.Addr, d.Before)
		}
		if of := c.Addr.Instance.Resource.Resource.Name; (of == "b") != d.After.GetAttr("input").ContainsMarked() || (of == "b") != d.After.GetAttr("output").ContainsMarked() {
			t.Errorf("%s has not the marks of its state: %#v", c.Addr, d.After)
		}
	}
	if unchanged != 9 {
		t.Errorf("%d objects do not change, want 9", unchanged)
	}
}

// TestUnchangedKeepsLittle measures the memory that a plan without changes holds for each object. With the decoded
// values, it was 2,675 bytes.
func TestUnchangedKeepsLittle(t *testing.T) {
	const n, most = 4000, 1000 // bytes for an object
	files := map[string][]byte{"main.tf": fmt.Appendf(nil, `
resource "terraform_data" "a" {
  count = %d
  input = { name = "i${count.index}", index = count.index, tags = ["a", "b"] }
}
output "n" { value = length(terraform_data.a) }
`, n)}
	s := newSized(t, files)
	st := stored(t, s.apply(s.plan(states.Empty())))
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	plan := s.plan(st)
	if out := plan.Outputs[0]; !out.After.RawEquals(cty.NumberIntVal(n)) || out.Action != plans.NoOp {
		t.Errorf("the number of instances is planned as %#v", out.After)
	}
	if each := (held() - before) / n; each > most {
		t.Errorf("the plan holds %d bytes for an object that does not change, and at most %d are allowed", each, most)
	} else {
		t.Logf("the plan holds %d bytes for an object that does not change", each)
	}
	runtime.KeepAlive(plan)
	runtime.KeepAlive(st)
}
