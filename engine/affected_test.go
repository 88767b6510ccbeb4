package engine_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/digests"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/dependencies"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/comparing"
	"github.com/lockstep-iac/lockstep/engine/refs"
)

// An affecting is a stage on which plans read only what is affected. Its record is what an apply keeps beside
// the state.
type affecting struct {
	*stage
	record   *digests.Record
	why      string
	data     bool
	versions map[addrs.Provider]string
	config   *config.Config     // of the last plan
	hear     func(events.Event) // hears the events of plans; may be nil
}

func newAffecting(t testing.TB, lab string) *affecting {
	s := (&scenario{providers: map[string]string{"lab": lab}}).stage(t)
	s.inMemory = true
	return &affecting{stage: s, why: "there are no digests", versions: map[addrs.Provider]string{
		addrs.DefaultProvider("lab"): "1.0.0", addrs.BuiltinTerraform: "1.0.0",
	}}
}

// A made is a plan with the objects that were read for it, sorted.
type made struct {
	*plans.Plan
	read  []string
	calls []string
	ds    diags.Diagnostics
}

// make makes a plan. all reads everything.
func (s *affecting) make(all bool, change func(*engine.PlanOptions)) made {
	s.t.Helper()
	r, pool, ds := s.open(&order{})
	defer pool.Close()
	s.fatal(ds)
	s.config = r.Config
	var mu sync.Mutex
	var read []string
	r.Versions = s.versions
	r.Events = func(e events.Event) {
		if s.hear != nil {
			s.hear(e)
		}
		if e.Kind == events.RefreshStart {
			mu.Lock()
			defer mu.Unlock()
			read = append(read, e.Addr.String())
		}
	}
	var o engine.PlanOptions
	if !all {
		o.Affected = &engine.Affected{Record: s.record, Why: s.why, Data: s.data}
	}
	if change != nil {
		change(&o)
	}
	s.calls()
	plan, ds := engine.Plan(s.t.Context(), r, s.state, o)
	slices.Sort(read)
	return made{plan, read, s.calls(), ds}
}

// carryOut applies a plan, and keeps the state and the digests as files have them.
func (s *affecting) carryOut(m made) diags.Diagnostics {
	s.t.Helper()
	if m.Plan == nil || m.Errored {
		s.t.Fatalf("no plan to apply: %v", m.ds)
	}
	r, pool, ds := s.open(&order{})
	defer pool.Close()
	s.fatal(ds)
	r.Versions, r.Variables = s.versions, nil
	done, ds := engine.Apply(s.t.Context(), r, m.Plan, engine.ApplyOptions{})
	s.state = s.stored(done.State)
	s.record, s.why = nil, "there are no digests"
	if done.Digests != nil {
		record, err := digests.Decode(done.Digests.Encode())
		if err != nil {
			s.t.Fatal(err)
		}
		s.record, s.why = record, ""
	}
	return ds
}

func (s *affecting) applied(files map[string]string) {
	s.t.Helper()
	clear(s.files)
	for name, text := range files {
		s.files[name] = []byte(text)
	}
	s.fatal(s.carryOut(s.make(false, nil)))
}

// sheetOf writes down what a plan says.
func (s *affecting) sheetOf(m made) string {
	w := &sheet{stage: s.stage}
	w.plan(m.Plan)
	w.diagnostics(m.ds)
	return w.String()
}

// same makes sure that two plans differ in nothing.
func (s *affecting) same(what string, want, got made) {
	s.t.Helper()
	if diff := cmp.Diff(s.sheetOf(want), s.sheetOf(got)); diff != "" {
		s.t.Errorf("%s (-all +affected)\n%s\nread: %s", what, diff, got.read)
		return
	}
	if (want.Plan == nil) != (got.Plan == nil) || want.Plan == nil {
		return
	}
	if !want.Errored || !got.Errored { // such plans are never alike
		for _, d := range comparing.Compare(want.Plan, got.Plan) {
			s.t.Errorf("%s: %+v", what, d)
		}
	}
	if len(want.Changes) != len(got.Changes) || want.Applyable != got.Applyable || want.Complete != got.Complete || want.Errored != got.Errored {
		s.t.Errorf("%s: %d changes, %d with affected; %v %v, %v %v", what, len(want.Changes), len(got.Changes), want.Applyable, got.Applyable, want.Errored, got.Errored)
		return
	}
	for i, w := range want.Changes {
		w, g := w.Decoded(), got.Changes[i].Decoded()
		if w.Addr != g.Addr || w.PrevAddr != g.PrevAddr || w.Action != g.Action || w.Reason != g.Reason || w.Provider != g.Provider || w.CreateBeforeDestroy != g.CreateBeforeDestroy ||
			!w.Before.RawEquals(g.Before) || !w.After.RawEquals(g.After) || !slices.Equal(w.ConfigDeps, g.ConfigDeps) || !slices.Equal(w.StoredDeps.All(), g.StoredDeps.All()) {
			s.t.Errorf("%s: %s %v %v %s, with affected %s %v %v %s", what, w.Addr, w.Action, w.CreateBeforeDestroy, w.Reason, g.Addr, g.Action, g.CreateBeforeDestroy, g.Reason)
		}
	}
	if !want.PriorState.SameContent(got.PriorState) {
		s.t.Errorf("%s: the prior states differ", what)
	}
}

// near returns the blocks that a block refers to, and those that refer to it.
func (s *affecting) near() map[addrs.ConfigResource]map[addrs.ConfigResource]bool {
	rs, ds := refs.Analyze(s.config)
	s.fatal(ds)
	g := dependencies.New(s.config, rs)
	out := map[addrs.ConfigResource]map[addrs.ConfigResource]bool{}
	link := func(a, b addrs.ConfigResource) {
		if out[a] == nil {
			out[a] = map[addrs.ConfigResource]bool{}
		}
		out[a][b] = true
	}
	for _, m := range s.config.Order {
		for r := range m.Resources {
			cr := addrs.ConfigResource{Module: m.Addr, Resource: r}
			for _, d := range g.Direct(cr) {
				link(cr, d)
				link(d, cr)
			}
		}
	}
	return out
}

// behind returns the blocks to which changed outputs refer, also through data sources.
func (s *affecting) behind(outputs []*plans.OutputChange) (out []addrs.ConfigResource) {
	rs, ds := refs.Analyze(s.config)
	s.fatal(ds)
	g := dependencies.New(s.config, rs)
	for _, c := range outputs {
		if c.Action == plans.NoOp {
			continue
		}
		list := g.Of(addrs.Object{Kind: addrs.KindOutput, Name: c.Name})
		for i := 0; i < len(list); i++ {
			if list[i].Resource.Mode != addrs.Managed {
				list = append(list, g.Direct(list[i])...)
			}
		}
		out = append(out, list...)
	}
	return out
}

// counted makes sure that a plan has read what it changes, and nothing that is not one step from a change.
func (s *affecting) counted(m made) {
	s.t.Helper()
	near, changed := s.near(), map[addrs.ConfigResource]bool{}
	reads := map[string]int{}
	for _, name := range m.read {
		if reads[name]++; reads[name] > 1 {
			s.t.Errorf("%s was read %d times", name, reads[name])
		}
	}
	drifted := map[addrs.AbsResourceInstance]bool{}
	for _, c := range m.Drift {
		drifted[c.Addr.Instance] = true
	}
	stored := map[addrs.ConfigResource]bool{} // what the state knows about objects that go, and what outputs refer to
	for _, c := range m.Changes {
		if c.Action == plans.NoOp && !drifted[c.Addr.Instance] {
			continue
		}
		changed[c.Addr.Instance.Config()] = true
		if s.state.Object(c.Addr) != nil && reads[c.Addr.String()] == 0 {
			s.t.Errorf("%s: %s, and was not read", c.Addr, c.Action)
		}
		for _, d := range c.StoredDeps.All() {
			stored[d] = true
		}
	}
	for _, cr := range s.behind(m.Outputs) {
		stored[cr] = true
	}
	for _, c := range m.Changes {
		cr := c.Addr.Instance.Config()
		if reads[c.Addr.String()] == 0 || changed[cr] || stored[cr] {
			continue
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(near[cr])), func(d addrs.ConfigResource) bool { return changed[d] }) {
			s.t.Errorf("%s was read, and nothing near it changes; changes: %v", c.Addr, slices.Collect(maps.Keys(changed)))
		}
	}
}

var editable = regexp.MustCompile(`"[pqr]"|(?:default|count|n) = [0-3]\b|create_before_destroy = true|"a"`)

// edited changes one place of a configuration at random.
func edited(r *rand.Rand, files map[string][]byte) map[string][]byte {
	out := maps.Clone(files)
	names := slices.Sorted(maps.Keys(files))
	for range 10 {
		name := names[r.IntN(len(names))]
		text := string(files[name])
		places := editable.FindAllStringIndex(text, -1)
		if len(places) == 0 {
			continue
		}
		at := places[r.IntN(len(places))]
		old, next := text[at[0]:at[1]], ""
		switch {
		case strings.HasPrefix(old, "create"):
			next = "create_before_destroy = false"
		case old == `"a"`:
			next = `"z"`
		case strings.HasPrefix(old, `"`):
			next = fmt.Sprintf("%q", string(rune('p'+r.IntN(4))))
		default:
			next = old[:len(old)-1] + fmt.Sprint(r.IntN(4))
		}
		out[name] = []byte(text[:at[0]] + next + text[at[1]:])
		break
	}
	return out
}

// editCount is the number of edits that TestAffectedEdits plays. 5,000 take 45 s of processor time.
var editCount = flag.Int("edits", 500, "how many edits TestAffectedEdits plays")

// TestAffectedEdits makes random edits of random configurations. Of each:
//
//   - without drift, a plan that reads what is affected is the plan that reads everything;
//   - it has read everything that it changes, nothing twice, and nothing further than a step from a change;
//   - drift of an object that it does not read makes no difference to it;
//   - with drift of an object that it reads, it is the plan that reads everything again.
func TestAffectedEdits(t *testing.T) {
	t.Parallel()
	const edits = 20
	bases := *editCount / edits
	var total, left int
	var mu sync.Mutex
	t.Run("edits", func(t *testing.T) {
		for seed := range bases {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				n, unread := playEdits(t, uint64(seed), edits)
				mu.Lock()
				defer mu.Unlock()
				total, left = total+n, left+unread
			})
		}
	})
	t.Logf("%d edits; of %d objects, %d were not read", bases*edits, total, left)
	if left*2 < total {
		t.Errorf("of %d objects, only %d were not read", total, left)
	}
}

func playEdits(t *testing.T, seed uint64, edits int) (objects, unread int) {
	r := rand.New(rand.NewPCG(seed, 3))
	s := newAffecting(t, randomLab)
	s.parallelism = 1 + r.IntN(2)*9
	base := randomConfig(seed)
	maps.Copy(s.files, base)
	s.fatal(s.carryOut(s.make(false, nil)))
	if r.IntN(2) == 0 { // what was unchanged in an apply is settled
		s.fatal(s.carryOut(s.make(false, nil)))
	}
	defer func() {
		if t.Failed() {
			for name, text := range s.files {
				t.Logf("-- %s --\n%s", name, text)
			}
		}
	}()
	for range edits {
		clear(s.files)
		maps.Copy(s.files, edited(r, base))
		all, some := s.make(true, nil), s.make(false, nil)
		s.same("without drift", all, some)
		if t.Failed() || some.Plan == nil {
			return
		}
		s.counted(some)
		objects, unread = objects+len(all.read), unread+some.Affected.Unread
		if len(all.read) != len(some.read)+some.Affected.Unread {
			t.Errorf("%d objects are read, and %d not: together %d", len(some.read), some.Affected.Unread, len(all.read))
		}
		if outside := s.things(func(name string) bool { return !slices.Contains(some.read, name) }); len(outside) > 0 {
			undo := s.drift(r, outside)
			s.same("drift outside", all, s.make(false, nil))
			undo()
		}
		if inside := s.things(func(name string) bool { return slices.Contains(some.read, name) }); len(inside) > 0 {
			undo := s.drift(r, inside)
			again := s.make(false, nil)
			s.same("drift inside", s.make(true, nil), again)
			undo()
		}
		if t.Failed() {
			return
		}
	}
	return objects, unread
}

// things returns the IDs of the objects of lab_thing in the state whose address has the property.
func (s *affecting) things(with func(string) bool) (ids []string) {
	for abs, res := range s.state.Resources() {
		for k, in := range res.Instances {
			if a := abs.Instance(k); abs.Resource.Type == "lab_thing" && in.Current != nil && with(a.String()) {
				ids = append(ids, s.value(abs.Resource, in.Current).GetAttr("id").AsString())
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// drift changes or deletes one of the objects, as somebody does outside of the engine, and returns what undoes it.
func (s *affecting) drift(r *rand.Rand, ids []string) (undo func()) {
	lab, id := s.fakes["lab"], ids[r.IntN(len(ids))]
	was := lab.Object("lab_thing", id).AsValueMap()
	if r.IntN(3) == 0 {
		lab.Drop("lab_thing", id)
	} else {
		lab.Edit("lab_thing", id, map[string]cty.Value{"color": cty.StringVal("drifted")})
	}
	return func() { lab.Edit("lab_thing", id, was) }
}

const affectedLab = `
provider
  region string optional
  token  string optional
resource lab_thing
  id     string computed keep
  name   string optional
  color  string optional
  secret string optional writeonly
  serial number computed keep
data lab_info
  name  string optional
  value string computed
ephemeral lab_token
  value string computed
action lab_notify
  text string optional
`

// chainOf is a chain of things, each of which refers to the one before.
const chainOf = `
resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "b" { color = lab_thing.a.color }
resource "lab_thing" "c" { name = lab_thing.b.id }
resource "lab_thing" "d" { name = lab_thing.c.id }
resource "lab_thing" "e" { name = lab_thing.d.id }
resource "lab_thing" "alone" {}
`

// TestAffectedReads is the table of what is read. Both configurations are applied or planned in turn.
func TestAffectedReads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after string
		options       func(*engine.PlanOptions)
		between       func(*affecting)
		want          string // the names of the things that are read; "all"
		why           string // part of the reason why everything is read
	}{
		{name: "nothing changes", before: chainOf, after: chainOf, want: ""},
		{name: "a change in the middle reads its neighbours", before: chainOf,
			after: strings.Replace(chainOf, `"c" { name = lab_thing.b.id`, "\"c\" {\n color = \"new\"\n name = lab_thing.b.id\n", 1), want: "b c d"},
		{name: "a value that reaches another object changes it", before: chainOf, after: strings.Replace(chainOf, `color = "1"`, `color = "2"`, 1), want: "a b c"},
		{name: "a new object reads what it refers to", before: chainOf, after: chainOf + `resource "lab_thing" "new" { name = lab_thing.d.id }`, want: "d"},
		{name: "an object without a block", before: chainOf, after: strings.Replace(chainOf, `resource "lab_thing" "e" { name = lab_thing.d.id }`, "", 1), want: "a b c d e"},
		{name: "one instance of many", before: `resource "lab_thing" "n" {
  count = 5
  color = count.index == 2 ? "x" : "y"
}`, after: `resource "lab_thing" "n" {
  count = 5
  color = count.index == 2 ? "z" : "y"
}`, want: "n[2]"},
		{name: "an instance that goes", before: `resource "lab_thing" "n" { count = 5 }`, after: `resource "lab_thing" "n" { count = 4 }`, want: "n[4]"},
		{name: "a literal key is one instance", before: `resource "lab_thing" "n" { count = 3 }
resource "lab_thing" "user" { name = lab_thing.n[1].id }`, after: `resource "lab_thing" "n" { count = 3 }
resource "lab_thing" "user" {
  color = "new"
  name  = lab_thing.n[1].id
}`, want: "n[1] user"},
		{name: "through a module", before: `resource "lab_thing" "a" { color = "1" }
module "m" {
  source = "./m"
  in     = lab_thing.a.id
}
-- m/main.tf --
variable "in" {}
resource "lab_thing" "inner" { name = var.in }
resource "lab_thing" "other" {}
`, after: `resource "lab_thing" "a" { color = "2" }
module "m" {
  source = "./m"
  in     = lab_thing.a.id
}
-- m/main.tf --
variable "in" {}
resource "lab_thing" "inner" { name = var.in }
resource "lab_thing" "other" {}
`, want: "a module.m.inner"},
		{name: "through a data source", before: `resource "lab_thing" "a" {}
data "lab_info" "i" { name = lab_thing.a.id }
resource "lab_thing" "user" { name = data.lab_info.i.value }`, after: `resource "lab_thing" "a" {}
data "lab_info" "i" { name = lab_thing.a.id }
resource "lab_thing" "user" {
  color = "new"
  name  = data.lab_info.i.value
}`, want: "a user"},
		{name: "to the roots of the provider configuration", before: `
resource "lab_thing" "root" { provider = lab.plain }
resource "lab_thing" "root2" {
  provider = lab.plain
  name     = lab_thing.root.id
}
provider "lab" { alias = "plain" }
provider "lab" { region = lab_thing.root2.id }
resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "b" {}
`, after: `
resource "lab_thing" "root" { provider = lab.plain }
resource "lab_thing" "root2" {
  provider = lab.plain
  name     = lab_thing.root.id
}
provider "lab" { alias = "plain" }
provider "lab" { region = lab_thing.root2.id }
resource "lab_thing" "a" { color = "2" }
resource "lab_thing" "b" {}
`, want: "a root root2"},
		{name: "another value in the provider block", before: `provider "lab" { region = "eu" }
` + chainOf, after: `provider "lab" { region = "us" }
` + chainOf, want: "a alone b c d e"},
		{name: "an ephemeral value in the provider block is no change", before: `ephemeral "lab_token" "t" { provider = lab.plain }
provider "lab" { token = ephemeral.lab_token.t.value }
provider "lab" { alias = "plain" }
resource "lab_thing" "a" {}`, after: `ephemeral "lab_token" "t" { provider = lab.plain }
provider "lab" { token = ephemeral.lab_token.t.value }
provider "lab" { alias = "plain" }
resource "lab_thing" "a" {}`, want: ""},
		{name: "an ephemeral variable in the provider block may be anything", before: `variable "token" {
  ephemeral = true
  default   = "x"
}
provider "lab" { token = var.token }
resource "lab_thing" "a" {}`, after: `variable "token" {
  ephemeral = true
  default   = "x"
}
provider "lab" { token = var.token }
resource "lab_thing" "a" {}`, want: "a"},
		{name: "a moved object", before: `resource "lab_thing" "a" {}
resource "lab_thing" "z" {}`, after: `resource "lab_thing" "b" {}
resource "lab_thing" "z" {}
moved {
  from = lab_thing.a
  to   = lab_thing.b
}`, want: "b"},
		{name: "ignore_changes", before: chainOf, after: strings.Replace(chainOf, `"alone" {}`, `"alone" {
  lifecycle { ignore_changes = [color] }
}`, 1), want: "alone"},
		{name: "a tainted object", before: chainOf, after: chainOf, between: func(s *affecting) { s.taint("lab_thing.alone", true) }, want: "alone"},
		{name: "-replace", before: chainOf, after: chainOf, want: "alone", options: func(o *engine.PlanOptions) {
			a, _ := addrs.ParseAbsResourceInstance("lab_thing.alone")
			o.ForceReplace = []addrs.AbsResourceInstance{a}
		}},
		{name: "-target reads no more than it selects", before: chainOf, after: strings.Replace(chainOf, `"alone" {}`, `"alone" { color = "2" }`, 1), want: "alone", options: func(o *engine.PlanOptions) {
			a, _ := addrs.ParseTarget("lab_thing.alone")
			o.Targets = []addrs.Target{a}
		}},
		{name: "a write-only value, which only the provider knows", before: `resource "lab_thing" "a" { secret = "1" }`, after: `resource "lab_thing" "a" { secret = "2" }`, want: ""},
		{name: "an unknown value", before: `resource "lab_thing" "a" { color = uuid() }
resource "lab_thing" "z" {}`, after: `resource "lab_thing" "a" { color = uuid() }
resource "lab_thing" "z" {}`, want: "a"},
		{name: "a provider of an unknown version", before: chainOf, after: chainOf, between: func(s *affecting) { delete(s.versions, addrs.DefaultProvider("lab")) }, want: "a alone b c d e"},
		{name: "another version", before: chainOf, after: chainOf, between: func(s *affecting) { s.versions[addrs.DefaultProvider("lab")] = "2.0.0" }, want: "a alone b c d e"},
		{name: "no digests", before: chainOf, after: chainOf, between: func(s *affecting) { s.record, s.why = nil, "the state was written by another tool" }, want: "a alone b c d e", why: "another tool"},
		{name: "drift of what a change refers to plans again", before: chainOf, after: strings.Replace(chainOf, `"c" { name = lab_thing.b.id`, "\"c\" {\n color = \"new\"\n name = lab_thing.b.id\n", 1),
			between: func(s *affecting) { s.drifts("lab_thing.b") }, want: "a b c d"},
		{name: "drift that nothing looks at", before: chainOf, after: chainOf, between: func(s *affecting) { s.drifts("lab_thing.b") }, want: ""},
		{name: "a removed block", before: chainOf, after: strings.Replace(chainOf, `resource "lab_thing" "alone" {}`, `removed {
  from = lab_thing.alone
  lifecycle { destroy = false }
}`, 1), want: ""},
		{name: "an action reads what it refers to", before: chainOf + `action "lab_notify" "n" {
  config { text = lab_thing.d.id }
}
resource "lab_thing" "x" {
  color = "1"
  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.lab_notify.n]
    }
  }
}`, after: chainOf + `action "lab_notify" "n" {
  config { text = lab_thing.d.id }
}
resource "lab_thing" "x" {
  color = "2"
  lifecycle {
    action_trigger {
      events  = [after_update]
      actions = [action.lab_notify.n]
    }
  }
}`, want: "d x"},
		{name: "replace_triggered_by", before: `resource "lab_thing" "a" { color = "1" }
resource "lab_thing" "b" {
  lifecycle { replace_triggered_by = [lab_thing.a] }
}`, after: `resource "lab_thing" "a" { color = "2" }
resource "lab_thing" "b" {
  lifecycle { replace_triggered_by = [lab_thing.a] }
}`, want: "a b"},
		{name: "-destroy reads everything", before: chainOf, after: chainOf, options: func(o *engine.PlanOptions) { o.Mode = plans.DestroyMode }, want: "a alone b c d e"},
		{name: "-refresh-only reads everything", before: chainOf, after: chainOf, options: func(o *engine.PlanOptions) { o.Mode = plans.RefreshOnlyMode }, want: "a alone b c d e"},
		{name: "-refresh=false reads nothing", before: chainOf, after: strings.Replace(chainOf, `color = "1"`, `color = "2"`, 1), options: func(o *engine.PlanOptions) { o.SkipRefresh = true }, want: ""},
	} {
		for _, settled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", c.name, settled), func(t *testing.T) {
				t.Parallel()
				s := newAffecting(t, affectedLab)
				s.applied(archive(c.before))
				if settled {
					s.applied(archive(c.before))
				}
				if c.between != nil {
					c.between(s)
				}
				clear(s.files)
				for name, text := range archive(c.after) {
					s.files[name] = []byte(text)
				}
				some, all := s.make(false, c.options), s.make(true, c.options)
				var names []string
				for _, n := range some.read {
					names = append(names, strings.Replace(n, "lab_thing.", "", 1))
				}
				if got := strings.Join(names, " "); got != c.want {
					t.Errorf("%s: read %q, want %q\n%s", c.name, got, c.want, s.sheetOf(some))
				}
				if c.name != "drift that nothing looks at" {
					s.same(c.name, all, some)
				}
				if why := some.everything(); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
					t.Errorf("why: %q, want %q", why, c.why)
				}
			})
		}
	}
}

// drifts changes the object of an instance, as somebody does outside of the engine.
func (s *affecting) drifts(name string) {
	s.t.Helper()
	ids := s.things(func(n string) bool { return n == name })
	if len(ids) != 1 {
		s.t.Fatalf("%s has the objects %q", name, ids)
	}
	s.fakes["lab"].Edit("lab_thing", ids[0], map[string]cty.Value{"color": cty.StringVal("drifted")})
}

// everything returns the reason why everything was read.
func (m made) everything() string {
	if m.Plan == nil || m.Affected == nil {
		return ""
	}
	return m.Affected.Everything
}

// archive reads files: main.tf, then others after a line with their names.
func archive(text string) map[string]string {
	a := txtar.Parse([]byte(text))
	files := map[string]string{"main.tf": string(a.Comment)}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// count returns how many calls of an operation were made.
func (m made) count(op string) (n int) {
	for _, c := range m.calls {
		if strings.HasPrefix(c, op+" ") {
			n++
		}
	}
	return n
}

// TestSettledObjects counts the calls for a thousand objects. Once an apply has found them unchanged, a plan of one change
// makes a hundredth of the calls: for the change, and for a sample of one.
func TestSettledObjects(t *testing.T) {
	t.Parallel()
	for shape, text := range map[string]func(int) string{
		"count": func(color int) string {
			return fmt.Sprintf("resource \"lab_thing\" \"n\" {\n count = 1000\n color = count.index == 7 ? \"%d\" : \"y\"\n}\n", color)
		},
		"flat": func(color int) string {
			var b strings.Builder
			for i := range 1000 {
				if fmt.Fprintf(&b, "resource \"lab_thing\" \"n%d\" {\n color = \"%d\"\n}\n", i, i); i == 7 {
					fmt.Fprintf(&b, "resource \"lab_thing\" \"changed\" {\n color = \"c%d\"\n}\n", color)
				}
			}
			return b.String()
		},
	} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			s := newAffecting(t, affectedLab)
			s.applied(map[string]string{"main.tf": text(1)})
			fresh := s.make(false, nil)
			n := len(fresh.Changes)
			if fresh.count("read") != 0 || fresh.Affected.Unread != n {
				t.Errorf("after the creation: %d reads, %+v", fresh.count("read"), fresh.Affected)
			}
			s.fatal(s.carryOut(fresh))
			s.files["main.tf"] = []byte(text(2))
			all, change := s.make(true, nil), s.make(false, nil)
			s.same("a change", all, change)
			if len(change.calls)*100 > len(all.calls) || change.count("read") != 1 {
				t.Errorf("%d calls instead of %d: %q", len(change.calls), len(all.calls), change.calls)
			}
			if a := change.Affected; a.Unread != n-1 || a.Everything != "" || !a.Since.Equal(s.record.FullRead) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestLyingDigests forges records that hide a change, as somebody could who can write the state. A sample of the
// settled objects shows it, and everything is read.
func TestLyingDigests(t *testing.T) {
	t.Parallel()
	files := map[string]string{"main.tf": `resource "lab_thing" "a" { color = "1" }`}
	s := newAffecting(t, affectedLab)
	s.applied(files)
	s.files["main.tf"] = []byte(`resource "lab_thing" "a" { color = "2" }`)
	all := s.make(true, nil)
	s.fatal(s.carryOut(s.make(false, nil))) // the digest of the new configuration ...
	liar := s.record.Entries["lab_thing.a"]
	s.applied(files) // ... beside the object of the old one
	for _, settled := range []bool{false, true} {
		liar.Settled = settled
		s.record.Entries["lab_thing.a"] = liar
		s.files["main.tf"] = []byte(`resource "lab_thing" "a" { color = "2" }`)
		got := s.make(false, nil)
		s.same(fmt.Sprint("a lie, settled: ", settled), all, got)
		if len(got.read) != 1 {
			t.Errorf("settled %v: a change of an object that was read %d times", settled, len(got.read))
		}
		if why := got.everything(); settled != strings.Contains(why, "the digests beside the state are wrong: the provider plans a change for lab_thing.a") {
			t.Errorf("settled %v: %q", settled, why)
		}
	}
	// An entry that no object has, or another object's, is of no use.
	s.record.Entries = map[string]digests.Entry{"lab_thing.b": liar, "": liar, "lab_thing.a[0]": liar}
	s.same("entries of others", all, s.make(false, nil))
}

// TestWarningsAreNotSettled keeps asking a provider that warns, so that every plan has the warning.
func TestWarningsAreNotSettled(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"validate", "plan"} {
		s := newAffecting(t, affectedLab)
		files := map[string]string{"main.tf": `resource "lab_thing" "a" { color = "1" }`}
		s.applied(files)
		for range 3 {
			s.fakes["lab"].On(op + ` lab_thing warn "old"`)
			plan := s.make(false, nil)
			if len(plan.ds) != 1 || len(plan.read) != 0 {
				t.Errorf("%s: %v, read %s", op, plan.ds, plan.read)
			}
			s.fatal(s.carryOut(plan))
			s.fakes["lab"].Off()
		}
	}
}

// TestAffectedData reads data sources again only if they are asked for with refresh_data, and are affected.
func TestAffectedData(t *testing.T) {
	t.Parallel()
	text := func(a, b string) map[string]string {
		return map[string]string{"main.tf": fmt.Sprintf(`
resource "lab_thing" "a" { color = %q }
data "lab_info" "of" { name = lab_thing.a.color }
data "lab_info" "other" { name = %q }
data "lab_info" "waits" {
  name       = "fixed"
  depends_on = [lab_thing.a]
}
`, a, b)}
	}
	for _, c := range []struct {
		name       string
		data       bool
		a, b       string
		want, left int // data sources that are read, and not read
	}{
		{"as ever", false, "1", "1", 3, 0},
		{"nothing changes", true, "1", "1", 0, 3},
		{"its own argument", true, "1", "2", 1, 2},
		{"what it refers to", true, "2", "1", 0, 1}, // two of them are read by the apply
	} {
		s := newAffecting(t, affectedLab)
		s.data = c.data
		s.applied(text("1", "1"))
		for name, x := range text(c.a, c.b) {
			s.files[name] = []byte(x)
		}
		got := s.make(false, nil)
		if n := got.count("data"); n != c.want || got.Affected.UnreadData != c.left {
			t.Errorf("%s: %d data sources are read, %d not", c.name, n, got.Affected.UnreadData)
		}
		s.same(c.name, s.make(true, nil), got)
		s.fatal(s.carryOut(got))
		if left := s.make(false, nil); left.Applyable || c.data && left.Affected.UnreadData != 3 {
			t.Errorf("%s, after the apply: %+v\n%s", c.name, left.Affected, s.sheetOf(left))
		}
	}
}

// TestFullRead follows the time that plans name: it is that of the last plan that read everything.
func TestFullRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newAffecting(t, affectedLab)
		s.applied(archive(chainOf))
		first := s.record.FullRead
		change := func(color string) made {
			time.Sleep(time.Hour)
			s.files["main.tf"] = []byte(strings.Replace(chainOf, `"alone" {}`, fmt.Sprintf(`"alone" { color = %q }`, color), 1))
			return s.make(false, nil)
		}
		for _, color := range []string{"1", "2"} {
			plan := change(color)
			if !plan.Affected.Since.Equal(first) || plan.Affected.Unread != 5 {
				t.Errorf("%s: %+v, want %s", color, plan.Affected, first)
			}
			s.fatal(s.carryOut(plan))
		}
		s.record, s.why = nil, "because"
		plan := change("3")
		if a := plan.Affected; !a.Since.IsZero() || a.Unread != 0 || a.Everything != "because" {
			t.Errorf("%+v", a)
		}
		s.fatal(s.carryOut(plan))
		if !s.record.FullRead.Equal(plan.Timestamp) {
			t.Errorf("%s, want %s", s.record.FullRead, plan.Timestamp)
		}
		// A plan with -target keeps the digests of what it leaves out, and is no full read.
		target, _ := addrs.ParseTarget("lab_thing.alone")
		time.Sleep(time.Hour)
		s.files["main.tf"] = []byte(strings.Replace(chainOf, `"alone" {}`, `"alone" { color = "4" }`, 1))
		partial := s.make(false, func(o *engine.PlanOptions) { o.Targets = []addrs.Target{target} })
		s.fatal(s.carryOut(partial))
		if !s.record.FullRead.Equal(plan.Timestamp) || len(s.record.Entries) != 2*6 { // a digest of each instance, and of each block

			t.Errorf("after a part: %s with %d entries", s.record.FullRead, len(s.record.Entries))
		}
		if after := s.make(false, nil); after.Affected.Unread != 6 {
			t.Errorf("after a part: %+v", after.Affected)
		}
	})
}

// TestFailedChanges applies a change that fails. The next plan reads the object.
func TestFailedChanges(t *testing.T) {
	t.Parallel()
	s := newAffecting(t, affectedLab)
	s.applied(archive(chainOf))
	for _, how := range []string{"fail", "partial"} {
		s.files["main.tf"] = []byte(strings.Replace(chainOf, `"alone" {}`, fmt.Sprintf(`"alone" { color = %q }`, how), 1))
		plan := s.make(false, nil)
		s.fakes["lab"].On("update lab_thing " + how + ` "no"`)
		if ds := s.carryOut(plan); !ds.HasErrors() {
			t.Error("it did not fail")
		}
		s.fakes["lab"].Off()
		if next := s.make(false, nil); strings.Join(next.read, " ") != "lab_thing.alone" {
			t.Errorf("%s: read %q", how, next.read)
		}
	}
}

// TestPlannedOnce makes a plan again because of drift. Its listener hears of each change once.
func TestPlannedOnce(t *testing.T) {
	t.Parallel()
	s := newAffecting(t, affectedLab)
	s.applied(archive(chainOf))
	s.files["main.tf"] = []byte(strings.Replace(chainOf, `"c" { name = lab_thing.b.id`, "\"c\" {\n color = \"new\"\n name = lab_thing.b.id\n", 1))
	s.drifts("lab_thing.b")
	var mu sync.Mutex
	heard := map[string]int{}
	s.hear = func(e events.Event) {
		if e.Kind == events.Planned || e.Kind == events.RefreshStart {
			mu.Lock()
			defer mu.Unlock()
			heard[fmt.Sprint(e.Kind, e.Addr)]++
		}
	}
	plan := s.make(false, nil)
	for what, n := range heard {
		if n != 1 {
			t.Errorf("%s: %d times", what, n)
		}
	}
	if len(heard) < 6 || len(plan.Drift) != 1 {
		t.Errorf("%v\n%s", heard, s.sheetOf(plan))
	}
}
