package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/zclconf/go-cty/cty"
)

// shapes are configurations of n instances of terraform_data.
var shapes = []struct {
	name  string
	files func(n int) map[string][]byte
}{
	{"flat", func(n int) map[string][]byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = \"i%d\"\n}\n", i, i)
		}
		return map[string][]byte{"main.tf": []byte(b.String())}
	}},
	{"count", func(n int) map[string][]byte {
		return map[string][]byte{"main.tf": fmt.Appendf(nil, `
resource "terraform_data" "a" {
  count = %d
  input = "i${count.index}"
}
resource "terraform_data" "b" {
  count = %d
  input = terraform_data.a[count.index].output
}
`, n/2, n-n/2)}
	}},
	{"chain", func(n int) map[string][]byte {
		var b strings.Builder
		b.WriteString("resource \"terraform_data\" \"r0\" {\n  input = \"i\"\n}\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, "resource \"terraform_data\" \"r%d\" {\n  input = terraform_data.r%d.id\n}\n", i, i-1)
		}
		return map[string][]byte{"main.tf": []byte(b.String())}
	}},
	{"modules", func(n int) map[string][]byte {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, "module \"m%d\" {\n  source = \"./m\"\n  in = \"i%d\"\n}\n", i, i)
		}
		return map[string][]byte{"main.tf": []byte(b.String()), "m/main.tf": fmt.Appendf(nil, `
variable "in" {}
resource "terraform_data" "a" {
  count = %d
  input = "${var.in}-${count.index}"
}
output "out" { value = terraform_data.a[*].id }
`, n/20)}
	}},
	{"named", func(n int) map[string][]byte {
		var b strings.Builder
		fmt.Fprintf(&b, "resource \"terraform_data\" \"a\" {\n  count = %d\n}\n", n/2)
		for i := range n / 2 {
			fmt.Fprintf(&b, "resource \"terraform_data\" \"b%d\" {\n  input = terraform_data.a[%d].id\n}\n", i, i)
		}
		return map[string][]byte{"main.tf": []byte(b.String())}
	}},
	{"mixed", mixed},
}

// mixed is what people write: a module for each of ten services, with typed variables that
// have defaults and conditions, local values made by functions, secrets, and resources
// that use each other's attributes; half of the n instances are in the modules.
func mixed(n int) map[string][]byte {
	return map[string][]byte{"main.tf": fmt.Appendf(nil, `
variable "secret" {
  default   = "not to be shown"
  sensitive = true
}
locals {
  services = { for i in range(10) : format("s%%02d", i) => { tier = i %% 3 == 0 ? "gold" : null, ports = range(80, 80 + i) } }
  places   = { for p in setproduct(["eu", "us"], range(%d)) : join("-", p) => { region = p[0], cidr = cidrsubnet("10.0.0.0/8", 16, p[1]) } }
}
resource "terraform_data" "network" {
  for_each = local.places
  input    = merge(each.value, { name = upper(each.key), secret = sha256(var.secret) })
}
module "service" {
  source   = "./service"
  for_each = local.services
  name     = each.key
  config   = each.value
  networks = { for k, v in terraform_data.network : k => v.id if startswith(k, "eu") }
}
resource "terraform_data" "summary" {
  input = { for k, m in module.service : k => m.replicas }
  lifecycle {
    precondition {
      condition     = length(module.service) == 10
      error_message = "There are ten services."
    }
  }
}
output "replicas" { value = sum([for m in module.service : length(m.replicas)]) }
`, n/4), "service/main.tf": fmt.Appendf(nil, `
variable "name" {
  type = string
  validation {
    condition     = can(regex("^s[0-9]+$", var.name))
    error_message = "The name of a service is s and a number."
  }
}
variable "config" {
  type = object({ tier = optional(string, "silver"), ports = list(number), tags = optional(map(string), {}) })
}
variable "networks" { type = map(string) }
locals {
  tags = merge(var.config.tags, { Name = var.name, Tier = title(var.config.tier) })
}
resource "terraform_data" "group" {
  input = { tags = local.tags, first = keys(var.networks)[0] }
}
resource "terraform_data" "replica" {
  count            = %d
  input            = { name = "${var.name}-${count.index}", group = terraform_data.group.id, ports = [for p in var.config.ports : p + count.index] }
  triggers_replace = [local.tags.Tier]
  lifecycle { create_before_destroy = true }
}
output "replicas" { value = terraform_data.replica[*].id }
`, n/20)}
}

// A sized is a configuration of some size, ready to be planned.
type sized struct {
	t    testing.TB
	cfg  *config.Config
	vars map[string]cty.Value
}

func newSized(t testing.TB, files map[string][]byte) sized {
	t.Helper()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files)})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	vars, ds := inputs.Values(cfg.Root.Content, nil)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return sized{t, cfg, vars}
}

// run returns a run with fresh providers.
func (s sized) run() (engine.Run, *provider.Pool) {
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{
		addrs.BuiltinTerraform: func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
	})
	return engine.Run{Config: s.cfg, Providers: pool, Variables: s.vars}, pool
}

func (s sized) plan(st *states.State) *plans.Plan {
	r, pool := s.run()
	defer pool.Close()
	plan, ds := engine.Plan(s.t.Context(), r, st, engine.PlanOptions{})
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
	return plan
}

func (s sized) apply(plan *plans.Plan) *states.State {
	r, pool := s.run()
	defer pool.Close()
	done, ds := engine.Apply(s.t.Context(), r, plan, engine.ApplyOptions{})
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
	return done.State
}

func (s sized) destroy(st *states.State) *plans.Plan {
	r, pool := s.run()
	defer pool.Close()
	plan, ds := engine.Plan(s.t.Context(), r, st, engine.PlanOptions{Mode: plans.DestroyMode})
	if ds.HasErrors() {
		s.t.Fatal(ds)
	}
	return plan
}

// TestLinear measures the memory that a plan, an apply and a plan without changes take,
// and the end of it all.
// Four times as many instances may take little more than four times as much.
func TestLinear(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			small, large := allocated(t, shape.files(400)), allocated(t, shape.files(1600))
			if ratio := float64(large) / float64(small); ratio > 4.8 {
				t.Errorf("400 instances take %d KB, 1600 take %d KB: %.1f times as much", small/1024, large/1024, ratio)
			}
		})
	}
}

// TestMovesAreLinear gives every object another address.
func TestMovesAreLinear(t *testing.T) {
	each := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]func(n int) (before, after string){
		"by blocks": func(n int) (before, after string) {
			return each(n, "resource \"terraform_data\" \"a%d\" {\n}\n"),
				each(n, "resource \"terraform_data\" \"b%[1]d\" {\n}\nmoved {\n  from = terraform_data.a%[1]d\n  to   = terraform_data.b%[1]d\n}\n")
		},
		"by a count": func(n int) (before, after string) {
			return each(n, "resource \"terraform_data\" \"a%d\" {\n}\n"), each(n, "resource \"terraform_data\" \"a%d\" {\n  count = 1\n}\n")
		},
		"all at once, twice": func(n int) (before, after string) {
			block := "resource \"terraform_data\" %q {\n  count = %d\n}\n"
			return fmt.Sprintf(block, "a", n), fmt.Sprintf(block, "c", n) + `
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
moved {
  from = terraform_data.b
  to   = terraform_data.c
}
`
		},
		"one by one": func(n int) (before, after string) {
			return fmt.Sprintf("resource \"terraform_data\" \"a\" {\n  count = %d\n}\n", n),
				"resource \"terraform_data\" \"a\" {\n  for_each = toset([" + each(n, "\"%d\", ") + "])\n}\n" +
					each(n, "moved {\n  from = terraform_data.a[%[1]d]\n  to   = terraform_data.a[\"%[1]d\"]\n}\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := func(n int) uint64 {
				before, after := text(n)
				was, is := newSized(t, map[string][]byte{"main.tf": []byte(before)}), newSized(t, map[string][]byte{"main.tf": []byte(after)})
				st := was.apply(was.plan(states.Empty()))
				var begin, end runtime.MemStats
				runtime.ReadMemStats(&begin)
				plan := is.plan(st)
				runtime.ReadMemStats(&end)
				for _, c := range plan.Changes {
					if c.Action != plans.NoOp || c.PrevAddr == c.Addr.Instance {
						t.Fatalf("%s: %v, which was %s", c.Addr, c.Action, c.PrevAddr)
					}
				}
				return end.TotalAlloc - begin.TotalAlloc
			}
			small, large := plan(400), plan(1600)
			if ratio := float64(large) / float64(small); ratio > 4.8 {
				t.Errorf("400 moves take %d KB, 1600 take %d KB: %.1f times as much", small/1024, large/1024, ratio)
			}
		})
	}
}

// allocated returns how many bytes were allocated.
func allocated(t *testing.T, files map[string][]byte) uint64 {
	s := newSized(t, files)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	st := s.apply(s.plan(states.Empty()))
	s.plan(st)
	s.apply(s.destroy(st))
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const benchmarkSize = 1000

func BenchmarkPlanCreate(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := newSized(b, shape.files(benchmarkSize))
			for b.Loop() {
				s.plan(states.Empty())
			}
		})
	}
}

func BenchmarkPlanNoChanges(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := newSized(b, shape.files(benchmarkSize))
			st := s.apply(s.plan(states.Empty()))
			for b.Loop() {
				s.plan(st)
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := newSized(b, shape.files(benchmarkSize))
			plan := s.plan(states.Empty())
			for b.Loop() {
				s.apply(plan)
			}
		})
	}
}

func BenchmarkDestroy(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			s := newSized(b, shape.files(benchmarkSize))
			st := s.apply(s.plan(states.Empty()))
			for b.Loop() {
				s.apply(s.destroy(st))
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			files := shape.files(benchmarkSize)
			for b.Loop() {
				newSized(b, files)
			}
		})
	}
}
