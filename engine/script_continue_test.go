package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
)

// TestScriptContinued stops every apply of every scenario at each of its calls, and has others go on
// with the same plan, each for one call more: they end in the state of an apply that was not stopped, and in
// the same world.
func TestScriptContinued(t *testing.T) {
	t.Parallel()
	eachApply(t, func(t *testing.T, sc *scenario, i int, whole ending) {
		for k := 1; k < whole.calls; k++ {
			c := sc.begin(t, i)
			c.stopAfter = k
			for n := 1; !c.process(); n++ {
				if n > whole.calls+2 {
					t.Fatalf("step %s: there is no end", sc.steps[i].name)
				}
				if n%2 == 0 {
					c.stopAfter = 1
				}
			}
			c.compare(whole, fmt.Sprintf("stopped at call %d", k))
		}
	})
}

var kills = flag.Int("kills", 3, "how often TestScriptKilled kills each apply")

// TestScriptKilled does the same with processes that die at each of their records: before it is
// written, and with the record as the last that they did. An object whose creation nobody knows the
// outcome of is told, none is lost and none made twice, and no action is invoked twice.
func TestScriptKilled(t *testing.T) {
	t.Parallel()
	eachApply(t, func(t *testing.T, sc *scenario, i int, whole ending) {
		for n := range min(whole.records, *kills) {
			k, written := 1+n*whole.records/min(whole.records, *kills), n%2 == i%2
			c := sc.begin(t, i)
			c.disk.left, c.disk.written = k, written
			if c.process() {
				t.Fatalf("step %s: record %d was not reached", sc.steps[i].name, k)
			}
			c.disk.left = 0
			if !c.process() {
				t.Fatalf("step %s, killed at record %d: the second process did not end", sc.steps[i].name, k)
			}
			where := fmt.Sprintf("killed at record %d (written: %v)", k, written)
			if len(c.open) == 0 && !whole.failed && !c.told("did not finish") {
				c.private = true // what a provider has said goes with the process
				c.compare(whole, where)
			} else {
				c.whole(whole, where)
			}
		}
	})
}

// eachApply calls f for the steps of all scenarios that apply something in more than one call, and
// do not end the process themselves.
func eachApply(t *testing.T, f func(t *testing.T, sc *scenario, i int, whole ending)) {
	for _, path := range scenarioPaths(t) {
		t.Run(scenarioName(path), func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, path)
			for i := range sc.steps {
				if slices.ContainsFunc(sc.steps[i].lines, cutsShort) {
					continue
				}
				c := sc.begin(t, i)
				if c == nil || c.plan == nil || c.plan.Errored {
					continue
				}
				if !c.process() {
					t.Fatalf("step %s: an apply without interruption did not end", sc.steps[i].name)
				}
				if c.made > 0 {
					f(t, sc, i, c.ending())
				}
			}
		})
	}
}

// A carrying out is the way of one plan through several processes.
type carrying struct {
	*stage
	name      string // of the step
	order     *order
	plan      *plans.Plan
	disk      *disk
	stopAfter int
	runs      int
	open      []journaling.Open
	ds        []diags.Diagnostics
	made      int  // calls
	cut       bool // the last process was interrupted by its last call
	private   bool // is not compared
}

// An ending is what an apply leaves.
type ending struct {
	state, world   string
	invoked        []string // calls that invoke actions
	failed         bool
	calls, records int
}

// begin plays the steps before step i, and plans it. It returns nil for a step that is no apply.
func (sc *scenario) begin(t *testing.T, i int) *carrying {
	s := sc.stage(t)
	s.replay = true
	for j := range i {
		s.play(&sc.steps[j])
	}
	st := &sc.steps[i]
	maps.Copy(s.files, st.files)
	o := s.prepare(st)
	t.Cleanup(s.rulesOff)
	if o.verb != "apply" || o.stopAt != "" {
		return nil
	}
	c := &carrying{stage: s, name: st.name, order: o, disk: new(disk)}
	var ds diags.Diagnostics
	if c.plan, ds = s.plan(t.Context(), o); ds.HasErrors() {
		return nil
	}
	s.calls()
	if !s.state.IsEmpty() {
		c.disk.state = c.encode(s.state)
	}
	return c
}

func (c *carrying) encode(st *states.State) []byte {
	c.t.Helper()
	text, err := statefile.Write(st.With("lineage", c.state.Serial+1))
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

// process has one process go on with the plan, and reports whether it came to the end.
func (c *carrying) process() bool {
	c.t.Helper()
	r, pool, ds := c.stage.open(c.order)
	defer pool.Close()
	c.fatal(ds)
	if len(c.plan.EphemeralVariables) == 0 {
		r.Variables = nil
	}
	if r.LocalExec = c.exec; c.order.noCommands {
		r.LocalExec = nil
	}
	c.runs++
	stored, err := statefile.Read(c.disk.state)
	if err != nil {
		c.t.Fatal(err)
	}
	start := journaling.Start{Plan: "the plan", Stored: stored, Prior: c.plan.PriorState, Sum: journaling.SHA256(c.disk.state), Lineage: "lineage"}
	progress, err := journaling.Resume(start, c.disk.lines)
	if err != nil {
		c.t.Fatal(err)
	}
	j := journaling.New(fmt.Sprint("run", c.runs), c.disk)
	if progress == nil {
		if j.Begin(start) != nil {
			c.disk.dead = false
			return false
		}
	} else {
		c.open = progress.Open
	}
	ctx, cancel := context.WithCancelCause(c.t.Context())
	defer cancel(nil)
	begun := 0
	c.watchFor(func(call string) {
		op, _, _ := strings.Cut(call, " ")
		if isEffect(call) || op == "data" {
			c.made++
			if begun++; begun == c.stopAfter {
				cancel(errInterrupted)
			}
		}
	})
	defer c.watchFor(nil)
	done, ds := engine.Apply(ctx, r, c.plan, engine.ApplyOptions{Journal: j, Progress: progress, Save: func(ctx context.Context, st *states.State) error {
		text := c.encode(st)
		if err := j.Saving(ctx, text); err != nil {
			return err
		}
		c.disk.state = text
		return nil
	}})
	c.ds = append(c.ds, ds)
	dead := c.disk.dead
	c.cut = ctx.Err() != nil
	c.disk.dead = false
	return !dead && done.Left == 0
}

func (c *carrying) ending() ending {
	var world []string
	for _, name := range slices.Sorted(maps.Keys(c.fakes)) {
		world = append(world, c.fakes[name].Objects()...)
	}
	slices.Sort(world)
	text := numbered(inOrder(c.t, c.disk.state) + "\x00" + strings.Join(world, "\n"))
	state, objects, _ := strings.Cut(text, "\x00")
	return ending{invoked: c.invoked(), failed: c.ds[len(c.ds)-1].HasErrors(), state: state, world: objects, calls: c.made, records: len(c.disk.lines)}
}

// invoked returns the calls that have invoked actions, sorted.
func (c *carrying) invoked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(func(yield func(string) bool) {
		for _, call := range c.log {
			if strings.HasPrefix(call, "invoke ") && !yield(call) {
				return
			}
		}
	})
}

// times counts the calls that have invoked an action.
func (e ending) times(call string) (n int) {
	for _, x := range e.invoked {
		if x == call {
			n++
		}
	}
	return n
}

// inOrder returns a state file with the deposed objects of an instance in the order of their values: that
// of their keys is chance.
func inOrder(t testing.TB, state []byte) string {
	var file map[string]any
	if err := json.Unmarshal(state, &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file["resources"].([]any) {
		slices.SortStableFunc(r.(map[string]any)["instances"].([]any), func(a, b any) int {
			x, y := a.(map[string]any), b.(map[string]any)
			if x["deposed"] == nil || y["deposed"] == nil {
				return 0
			}
			return cmp.Compare(fmt.Sprint(x["index_key"], x["attributes"]), fmt.Sprint(y["index_key"], y["attributes"]))
		})
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"deposed": "[0-9a-f]{8}"|"serial": \d+`)

// numbered replaces what differs from one time to the next by numbers, in the order in which they come.
func numbered(text string) string {
	seen := map[string]int{}
	return random.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, `"serial"`) {
			return `"serial": 0`
		}
		if seen[s] == 0 {
			seen[s] = len(seen) + 1
		}
		name, _, _ := strings.Cut(s, " ")
		if name == s {
			name = ""
		}
		return fmt.Sprintf("%s<%d>", name, seen[s])
	})
}

// told reports whether a text was among the diagnostics.
func (c *carrying) told(text string) bool {
	return slices.ContainsFunc(c.ds, func(ds diags.Diagnostics) bool { return strings.Contains(ds.Error(), text) })
}

// compare holds what the processes have left together against an apply in one process.
func (c *carrying) compare(whole ending, where string) {
	c.t.Helper()
	got := c.ending()
	for _, e := range []*ending{&whole, &got} {
		if c.private {
			e.state = regexp.MustCompile(`"private": ".*",?\n *`).ReplaceAllString(e.state, "")
		}
		if c.cut { // it does not know whose turn came
			e.state = regexp.MustCompile(`(?s)\{\s*"instances": \[\],[^{}]*\},?\s*`).ReplaceAllString(e.state, "")
		}
	}
	if diff := gocmp.Diff(whole.state, got.state); diff != "" {
		c.t.Errorf("step %s, %s: the state (-whole +continued):\n%s\n%v", c.name, where, diff, c.ds)
	}
	if diff := gocmp.Diff(whole.world, got.world); diff != "" {
		c.t.Errorf("step %s, %s: the world (-whole +continued):\n%s", c.name, where, diff)
	}
	if diff := gocmp.Diff(whole.invoked, got.invoked); diff != "" {
		c.t.Errorf("step %s, %s: the actions (-whole +continued):\n%s\n%v", c.name, where, diff, c.ds)
	}
}

// whole makes sure that of all objects that exist each is in the state or may be the one in doubt.
func (c *carrying) whole(whole ending, where string) {
	c.t.Helper()
	got := c.ending()
	missing := slices.DeleteFunc(got.missing(), func(id string) bool { return slices.Contains(whole.missing(), id) })
	kept := slices.ContainsFunc(c.open, func(o journaling.Open) bool { return o.Event == string(config.BeforeDestroy) })
	if count := func(e ending) int { return strings.Count(e.world, "\n") }; count(got) > count(whole) && !kept {
		c.t.Errorf("step %s, %s: there are too many objects:\n%s\nwant\n%s", c.name, where, got.world, whole.world)
	}
	for _, call := range slices.Compact(slices.Clone(got.invoked)) {
		if n, want := got.times(call), whole.times(call); n > want {
			c.t.Errorf("step %s, %s: %d times %q, want %d", c.name, where, n, call, want)
		}
	}
	if len(missing) > len(c.open) {
		c.t.Errorf("step %s, %s: %q are in no state, and %d creations are in doubt:\n%s\n%v", c.name, where, missing, len(c.open), got.state, c.ds)
	}
}

// missing returns the objects of the world that the state does not have.
func (e ending) missing() []string {
	var out []string
	for line := range strings.Lines(e.world) {
		if w := strings.Fields(line); !strings.Contains(e.state, fmt.Sprintf(`"id": %q`, w[1])) {
			out = append(out, w[0]+" "+w[1])
		}
	}
	return out
}

// A disk keeps a state and a journal. The process that uses it dies at its next record but left-1,
// if left is not 0: before that is written, or after.
type disk struct {
	state   []byte
	lines   [][]byte
	left    int
	written bool
	dead    bool
}

var errDead = errors.New("the process is dead")

func (d *disk) Append(_ bool, records ...[]byte) (stored func(context.Context) error) {
	err := d.write(records)
	return func(context.Context) error { return err }
}

func (d *disk) write(records [][]byte) error {
	if d.dead {
		return errDead
	}
	for _, r := range records {
		if d.left--; d.left == 0 {
			if d.dead = true; d.written {
				d.lines = append(d.lines, slices.Clone(r))
			}
			return errDead
		}
		d.lines = append(d.lines, slices.Clone(r))
	}
	return nil
}
