package differential

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

var (
	cases = flag.Int("cases", 0, "how many cases to compare; 0 for as many as fit into the time of a sample")
	from  = flag.Uint64("from", 1, "the seed of the first case")
	small = flag.Bool("small", true, "make cases that differ small")
	lab   = flag.Bool("things", false, "with objects of the test provider, whose program is in the parts")
	built = flag.String("lockstep", "", "the program to compare; built if it is not given")
)

// sample are the seeds that `make test` compares as far as its time goes: first cases in
// which there was a difference once.
var sample = []uint64{3, 13, 14, 15, 119, 125, 127, 5, 6, 18, 1, 2, 4, 7, 8, 9, 11, 12, 16, 17, 19, 21, 22, 23}

// sampleTime is what `make test` gives to this, the building of the program included. On a
// machine that is too slow for that, it is the first case alone.
const sampleTime = 12 * time.Second

// TestDifferential compares lockstep with the stock tool, where there is one.
func TestDifferential(t *testing.T) {
	stock, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not on the PATH")
	}
	if testing.Short() {
		t.Skip("it takes a while")
	}
	begin := time.Now()
	dir := t.TempDir()
	ours := *built
	if ours == "" {
		ours = filepath.Join(dir, "lockstep")
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", ours, "../../../cmd/lockstep").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		if err := statebackendtest.BuiltOf(".", "../../../cmd/lockstep"); err != nil {
			t.Fatal(err)
		}
	}
	// Each process lives for a moment only: a quarter of its time is spared without collections.
	a, b := Tool{Name: "terraform", Path: stock, Env: []string{"GOGC=off"}}, Tool{Name: "lockstep", Path: ours, Env: []string{"GOGC=off"}}
	generate := Generate
	if *lab {
		mirror := filepath.Join(os.Getenv("LOCKSTEP_PARTS"), "mirror")
		a.Providers = filepath.Join(dir, "providers")
		b.Providers = a.Providers
		if err := a.initialize(t.Context(), a.Providers, mirror); err != nil {
			t.Fatal(err)
		}
		generate = generateThings
	}
	seeds := sample
	if *cases > 0 {
		seeds = nil
		for i := range uint64(*cases) {
			seeds = append(seeds, *from+i)
		}
	}
	late := func() bool { return *cases == 0 && time.Since(begin) > sampleTime }
	compareAll(t, seeds, late, func(seed uint64) (*Difference, error) {
		work := filepath.Join(dir, fmt.Sprint(seed))
		found, err := generate(seed).Compare(t.Context(), work, a, b)
		if found != nil && *small {
			found, err = found.Shrink(t.Context(), work, a, b)
		}
		return found, errors.Join(err, os.RemoveAll(work))
	})
}

// tooMany differences have one cause: there is no need to see more.
const tooMany = 20

// compareAll compares a case of each seed until it is late, but one in any case, and as many
// at once as there are processors: a tool waits for its plugins and for the disk most of the
// time.
func compareAll(t *testing.T, seeds []uint64, late func() bool, compare func(seed uint64) (*Difference, error)) {
	var next, done, failed atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(seeds)) && (i == 0 || !late()) && failed.Load() < tooMany; i = next.Add(1) - 1 {
				found, err := compare(seeds[i])
				if err != nil {
					t.Errorf("seed %d: %v", seeds[i], err)
				}
				if found != nil {
					t.Errorf("%s", found)
				}
				if err != nil || found != nil {
					failed.Add(1)
				}
				if n := done.Add(1); n%20 == 0 {
					t.Logf("%d cases are done", n)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() >= tooMany {
		t.Error("too many differences")
	}
}

// A seed is a case: the same one every time, and another than the next seed's.
func TestGenerate(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(200) {
		c := Generate(seed)
		if !reflect.DeepEqual(c, Generate(seed)) {
			t.Fatalf("seed %d gives two cases", seed)
		}
		for _, r := range c.Rounds {
			for _, b := range r.Blocks {
				kind, _, _ := strings.Cut(b.Text, " ")
				seen[kind] = true
			}
		}
	}
	for _, kind := range []string{"resource", "module", "locals", "variable", "output", "check", "moved", "removed", "import"} {
		if !seen[kind] {
			t.Errorf("no case has a %s block", kind)
		}
	}
}

// TestDiffer makes sure that a difference would be seen, and what is none would not.
func TestDiffer(t *testing.T) {
	t.Parallel()
	state := func(id, in string) Result {
		return Result{State: map[string]any{"lineage": id, "resources": []any{map[string]any{
			"name": "x", "instances": []any{map[string]any{"attributes": map[string]any{"id": id, "input": in, "output": "<" + id + ">"}}},
		}}}}
	}
	deposed := func(key string) Result {
		return Result{State: map[string]any{"resources": []any{map[string]any{
			"name": "x", "instances": []any{map[string]any{"deposed": key, "attributes": map[string]any{}}},
		}}}}
	}
	called := func(addresses ...string) Result {
		var list []any
		for _, a := range addresses {
			list = append(list, map[string]any{"address": a})
		}
		return Result{Plan: map[string]any{"planned_values": map[string]any{"root_module": map[string]any{"child_modules": list}}}}
	}
	deleted := func(names ...string) Result { // x has lost its instances
		resources := []any{map[string]any{"name": "w", "instances": []any{map[string]any{}}}}
		for _, n := range names {
			resources = append(resources, map[string]any{"name": n, "instances": []any{}})
		}
		return Result{
			Plan:  map[string]any{"resource_changes": []any{map[string]any{"name": "x", "change": map[string]any{"actions": []any{"delete"}}}}},
			State: map[string]any{"resources": resources},
		}
	}
	object := func(m map[string]any) map[string]any { return m }
	list := func(x ...any) []any { return x }
	data := func(name string, planned, change map[string]any) Result { // of terraform_data
		return Result{Plan: object(map[string]any{
			"planned_values":   object(map[string]any{"root_module": object(map[string]any{"resources": list(object(map[string]any{"type": "terraform_data", "address": name, "sensitive_values": planned}))})}),
			"resource_changes": list(object(map[string]any{"type": "terraform_data", "address": name, "change": change})),
		})}
	}
	masks := func(names ...string) map[string]any {
		out := map[string]any{}
		for _, n := range names {
			out[n] = true
		}
		return out
	}
	hiding := func(names ...string) Result {
		return data("a", masks(names...), object(map[string]any{"after_sensitive": masks(names...)}))
	}
	// A plan that has the action for an object with this value, and hides these attributes of it then.
	marking := func(changes bool, action string, after any, names ...string) Result {
		r := data("a", masks(names...), object(map[string]any{
			"actions": list(action), "before": "v", "after": after, "before_sensitive": masks(), "after_sensitive": masks(names...),
		}))
		r.Changes = changes
		r.Plan.(map[string]any)["applyable"] = changes
		return r
	}
	forgetting := func(actions []any, resources ...any) Result {
		return Result{Plan: object(map[string]any{
			"planned_values":   object(map[string]any{"root_module": object(map[string]any{"child_modules": list(object(map[string]any{"address": "m", "resources": resources}))})}),
			"resource_changes": list(object(map[string]any{"address": "m.a", "change": object(map[string]any{"actions": actions})})),
		})}
	}
	none := func(actions []any) Result {
		r := forgetting(actions)
		r.Plan.(map[string]any)["planned_values"] = object(map[string]any{"root_module": object(map[string]any{})})
		return r
	}
	refreshed := func(changes bool, after any, text string) Result {
		return Result{Changes: changes, Output: text, Plan: object(map[string]any{
			"applyable": changes, "output_changes": object(map[string]any{"o": object(map[string]any{"actions": list("no-op"), "after": after})}),
		})}
	}
	const same = "No changes. Your infrastructure still matches the configuration."
	// An output that was "old", is planned to be "new", and is stored as value: none if that is nil.
	stored := func(value any, errs ...string) Result {
		outputs := map[string]any{}
		if value != nil {
			outputs["o"] = object(map[string]any{"value": value})
		}
		return Result{
			Errors: errs, State: object(map[string]any{"outputs": outputs, "resources": list(object(map[string]any{"name": "x"}))}),
			Plan: object(map[string]any{"output_changes": object(map[string]any{"o": object(map[string]any{"before": "old", "after": "new"})})}),
		}
	}
	destroying := func(value any, complete bool) Result {
		r := stored(value)
		deletion := object(map[string]any{"address": "t.a", "change": object(map[string]any{"actions": list("delete")})})
		r.Plan = object(map[string]any{"complete": complete, "resource_changes": list(deletion), "prior_state": object(map[string]any{"values": object(map[string]any{"outputs": object(map[string]any{"o": object(map[string]any{"value": "new"})})})})})
		return r
	}
	const one, two = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
	for _, test := range []struct {
		name string
		a, b Result
		want string
	}{
		{"other IDs", state(one, "a"), state(two, "a"), ""},
		{"other values", state(one, "a"), state(two, "b"), `state.resources[0].instances[0].attributes.input: "a" and "b"`},
		{"other deposed keys", deposed("00000001"), deposed("00000002"), ""},
		{"errors", Result{Errors: []string{"x"}}, Result{}, `errors: ["x"] and []`},
		{"resources that lost their instances", deleted("x"), deleted(), ""},
		{"resources that never had any", deleted("y"), deleted(), `state.resources[1]: {"instances":[],"name":"y"} and nothing`},
		{"no state", state(one, "a"), Result{}, "state: {"},
		{"timestamps", Result{Plan: map[string]any{"timestamp": "1"}}, Result{Plan: map[string]any{"timestamp": "2"}}, ""},
		{"child modules in another order", called("a", "b"), called("b", "a"), ""},
		{"other child modules", called("a", "b"), called("a", "c"), `plan.planned_values.root_module.child_modules[1].address: "b" and "c"`},
		{"a hidden output", hiding("input"), hiding("input", "output"), ""},
		{"what refers to a hidden output", hiding(), hiding("input", "output"), ""},
		{"a hidden input", hiding("output"), hiding("input", "output"), ""},
		{"a hidden input without an output", hiding(), hiding("input"), "plan.planned_values.root_module.resources[0].sensitive_values.input: nothing and true"},
		{"an input that is shown", hiding("input"), hiding("output"), "plan."},
		{"an update that hides", marking(false, "no-op", "v"), marking(true, "update", "v", "input", "output"), ""},
		{"an update that hides no output", marking(false, "no-op", "v"), marking(true, "update", "v", "input"), "changes: false and true"},
		{"an update that hides and changes", marking(false, "no-op", "v"), marking(true, "update", "w", "input", "output"), "changes: false and true"},
		{"what is forgotten", forgetting(list("forget"), object(map[string]any{"address": "m.a"})), none(list("forget")), ""},
		{"what is forgotten with values", forgetting(list("forget"), object(map[string]any{"address": "m.a", "values": masks()})), none(list("forget")), "plan."},
		{"what is not forgotten", forgetting(list("no-op"), object(map[string]any{"address": "m.a"})), none(list("no-op")), "plan."},
		{"a number in an output", refreshed(true, json.Number("1"), same), refreshed(false, json.Number("1"), same), ""},
		{"a text in an output", refreshed(true, "1", same), refreshed(false, "1", same), "changes: true and false"},
		{"a change beside a number", refreshed(true, json.Number("1"), ""), refreshed(false, json.Number("1"), same), "changes: true and false"},
		{"our change", refreshed(false, json.Number("1"), same), refreshed(true, json.Number("1"), same), "changes: false and true"},
		{"an output after a failure", stored("new", "e"), stored("old", "e"), ""},
		{"another output after a failure", stored("new", "e"), stored("other", "e"), `state.outputs.o.value: "new" and "other"`},
		{"an output without a failure", stored("new"), stored("old"), `state.outputs.o.value: "new" and "old"`},
		{"our new output after a failure", stored("old", "e"), stored("new", "e"), `state.outputs.o.value: "old" and "new"`},
		{"an output of a destroy with targets", destroying("new", false), destroying("old", false), ""},
		{"another one", destroying("other", false), destroying("old", false), `state.outputs.o.value: "other" and "old"`},
		{"an output of a whole destroy", destroying("new", true), destroying("old", true), `state.outputs.o.value: "new" and "old"`},
		{"members", Result{Plan: map[string]any{"x": nil}}, Result{Plan: map[string]any{}}, "plan.x: null and nothing"},
	} {
		if got := differ(test.a, test.b); test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Only what lockstep is meant to do otherwise is excused.
func TestExcused(t *testing.T) {
	t.Parallel()
	plan := func(address string, actions ...any) any {
		return map[string]any{"resource_changes": []any{map[string]any{"address": address, "change": map[string]any{"actions": actions}}}}
	}
	deposed := map[string]any{"resources": []any{map[string]any{
		"module": `module.m["a"]`, "type": "t", "name": "x", "instances": []any{
			map[string]any{"index_key": json.Number("1")}, map[string]any{"index_key": json.Number("1"), "deposed": "00000001"},
		},
	}}}
	state := map[string]any{"resources": []any{map[string]any{
		"module": `module.m["a"]`, "type": "t", "name": "x", "instances": []any{map[string]any{"index_key": json.Number("1")}},
	}}}
	const x = `module.m["a"].t.x[1]`
	failed := func(summaries ...string) Result { return Result{Errors: summaries} }
	output := func(after any, unknown bool) Result {
		return Result{Plan: map[string]any{"output_changes": map[string]any{"o": map[string]any{"after": after, "after_unknown": unknown}}}}
	}
	for _, test := range []struct {
		name        string
		stock, ours Result
		options     string
		want        bool
	}{
		{"a cycle through a deletion", failed("Cycle: t.a, t.b (destroy)"), failed(), "", true},
		{"a failure behind it", failed("Cycle: t.a, t.b (destroy)"), failed("local-exec provisioner error"), "", true},
		{"which ours does not break", failed("Cycle: t.a, t.b (destroy)"), failed("Cycle"), "", false},
		{"a cycle in the configuration", failed("Cycle: t.a, t.b"), failed(), "", false},
		{"a trigger in a module", failed("no change found for t.a in module.m"), failed(), "", true},
		{"another error", failed("Invalid for_each argument"), failed(), "", false},
		{"a crash", failed(crashed), failed(), "", true},
		{"what the targets leave out", failed("Configuration contains unknown value"), failed("Configuration contains unknown value"), "", true},
		{"our crash", failed(), failed(crashed), "", false},
		{"self in a refresh", Result{Errors: []string{"Invalid index"}, Output: "condition     = self.id"}, failed(), "-refresh-only", true},
		{"another index", failed("Invalid index"), failed(), "-refresh-only", false},
		{"a deletion that is not done", Result{Plan: plan(x, "delete"), State: state}, Result{}, "-target=module.m", true},
		{"a deletion that is done", Result{Plan: plan(x, "delete"), State: map[string]any{}}, Result{}, "-target=module.m", false},
		{"an old object that is left", Result{Plan: plan(x, "create", "delete"), State: deposed}, Result{}, "-target=module.m", true},
		{"an old object that is gone", Result{Plan: plan(x, "create", "delete"), State: state}, Result{}, "-target=module.m", false},
		{"a deletion after a failure", Result{Errors: []string{"e"}, Plan: plan(x, "delete"), State: state}, failed("e"), "-target=module.m", true},
		{"a deletion that fails", Result{Errors: []string{"e"}, Plan: plan(x, "delete"), State: state}, Result{Errors: []string{"e"}, State: state}, "-target=module.m", false},
		{"a deletion that fails in both", Result{Errors: []string{"e"}, Plan: plan(x, "delete"), Output: "  with " + x + ",\n"}, Result{Errors: []string{"e"}, Output: "  with " + x + ",\n"}, "", true},
		{"another failure", Result{Errors: []string{"e"}, Plan: plan(x, "update"), Output: "  with " + x + ",\n"}, Result{Errors: []string{"e"}, Output: "  with " + x + ",\n"}, "", false},
		{"a deletion that fails in one", Result{Plan: plan(x, "delete")}, Result{Errors: []string{"e"}, Output: "  with " + x + ",\n"}, "", false},
		{"an update for nothing", Result{Plan: plan(x, "update"), Output: "Apply complete!"}, Result{}, "", true},
		{"an update that is done", Result{Plan: plan(x, "update"), Output: x + ": Modifying... [id=1]"}, Result{}, "", false},
		{"an update that both plan", Result{Plan: plan(x, "update")}, Result{Plan: plan(x, "update")}, "", false},
		{"an empty list too early", output([]any{}, false), output(nil, true), "", true},
		{"a list that is not empty", output([]any{"a"}, false), output(nil, true), "", false},
		{"an empty list in one", output([]any{}, false), output([]any{"a"}, false), "", false},
		{"a deletion without targets", Result{Plan: plan(x, "delete"), State: state}, Result{}, "", false},
	} {
		if got := excused(test.stock, test.ours, strings.Fields(test.options)); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A fake tool that fails on one word shows that cases are made small.
func TestShrink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := func(name, onHit string) Tool {
		path := filepath.Join(dir, name)
		script := "#!/bin/sh\ncase $1 in\nshow) echo '{}' ;;\nplan) if grep -rqs needle *.tf; then " + onHit + "; fi ;;\nesac\n"
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		return Tool{Name: name, Path: path}
	}
	good, bad := tool("good", "true"), tool("bad", "echo 'Error: found'; exit 1")
	c := Case{Rounds: []Round{
		{Blocks: []Block{{"main.tf", "# a\n"}}},
		{Blocks: []Block{{"main.tf", "# b\n"}, {"main.tf", "# needle\n"}, {"mod-x/main.tf", "# c\n"}}},
		{Blocks: []Block{{"main.tf", "# d\n"}}},
	}}
	d, err := c.Compare(t.Context(), filepath.Join(dir, "w"), good, bad)
	if err != nil || d == nil || d.Round != 1 {
		t.Fatalf("%v, %v", d, err)
	}
	if d, err = d.Shrink(t.Context(), filepath.Join(dir, "w"), good, bad); err != nil {
		t.Fatal(err)
	}
	want := "seed 0, round 0: errors: [] and [\"found\"]\n-- 0/main.tf --\n# needle\n"
	if got := d.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
