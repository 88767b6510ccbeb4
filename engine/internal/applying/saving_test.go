package applying_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/applying"
	"github.com/lockstep-iac/lockstep/engine/internal/planning"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
	"github.com/lockstep-iac/lockstep/engine/refs"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// A slowWorld is a fake provider whose calls take time, and a record of what was saved
// when. It lives in a synctest bubble: seconds cost nothing.
type slowWorld struct {
	t     *testing.T
	fake  *providertest.Provider
	start time.Time
	takes map[string]time.Duration // by call
	// refuse says whether a save fails.
	refuse func(n int) error
	// saveTakes is how long a save takes.
	saveTakes time.Duration
	soon      bool // Input.SaveSoon
	journal   journaling.Writer

	saving atomic.Int32
	saves  []string // "3s: a b"
}

func newSlowWorld(t *testing.T, takes map[string]time.Duration) *slowWorld {
	w := &slowWorld{t: t, takes: takes, start: time.Now(), refuse: func(int) error { return nil }}
	w.fake = providertest.New(t, "resource t_x\n  id string computed keep\n  name string required replace\n  after string optional")
	w.fake.Hook = func(_ context.Context, call string) { time.Sleep(w.takes[call]) }
	return w
}

// save records which objects the state has.
func (w *slowWorld) save(_ context.Context, st *states.State) error {
	if w.saving.Add(1) > 1 {
		w.t.Error("two saves at once")
	}
	defer w.saving.Add(-1)
	time.Sleep(w.saveTakes)
	var names []string
	for abs := range st.Resources() {
		names = append(names, abs.Resource.Name)
	}
	slices.Sort(names)
	err := w.refuse(len(w.saves))
	line := fmt.Sprintf("%v: %s", time.Since(w.start), strings.Join(names, " "))
	if err != nil {
		line += " refused"
	}
	w.saves = append(w.saves, line)
	return err
}

// apply plans a configuration from nothing and applies the plan.
func (w *slowWorld) apply(ctx context.Context, text string, parallelism int) (*states.State, diags.Diagnostics) {
	w.t.Helper()
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(text)})})
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	rs, ds := refs.Analyze(cfg)
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	pool := func() *provider.Pool {
		return provider.NewPool(map[addrs.Provider]provider.Factory{
			addrs.DefaultProvider("t"): w.fake.Start,
			addrs.BuiltinTerraform:     func(context.Context, *schema.Provider) (provider.Client, error) { return builtin.New(nil), nil },
		})
	}
	first, second := pool(), pool()
	defer first.Close()
	defer second.Close()
	plan, ds := planning.Plan(w.t.Context(), planning.Input{Environment: environment(cfg, rs, first), State: states.Empty(), Mode: plans.NormalMode})
	if ds.HasErrors() {
		w.t.Fatal(ds)
	}
	env := environment(cfg, rs, second)
	env.Parallelism = parallelism
	in := applying.Input{Environment: env, Plan: plan, Save: w.save, SaveSoon: w.soon}
	if w.journal != nil {
		in.Journal = journaling.New("run", w.journal)
	}
	done, ds := applying.Apply(ctx, in)
	return done.State, ds
}

// nowhere stores records, and forgets them.
type nowhere struct{}

func (nowhere) Append(bool, ...[]byte) func(context.Context) error {
	return func(context.Context) error { return nil }
}

// environment is the least that a run needs.
func environment(cfg *config.Config, rs *refs.Refs, pool *provider.Pool) session.Environment {
	return session.Environment{Program: eval.Program{Config: cfg, Refs: rs}, Providers: pool}
}

// things is a configuration of things; "b<a" comes after a.
func things(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		name, after, _ := strings.Cut(n, "<")
		fmt.Fprintf(&b, "resource \"t_x\" %q {\n  name = %q\n", name, name)
		if after != "" {
			fmt.Fprintf(&b, "  after = t_x.%s.id\n", after)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// TestSaves lists when which objects are saved: nothing that is done waits for longer
// than 20 seconds, whatever else is under way.
func TestSaves(t *testing.T) {
	for _, c := range []struct {
		name        string
		config      string
		parallelism int
		takes       map[string]time.Duration
		rule        string
		saveTakes   time.Duration
		want        []string
		errors      string
	}{
		{
			name: "one after another", config: things("a", "b<a", "c<b", "d<c", "e<d"), parallelism: 10,
			takes: map[string]time.Duration{"create t_x.a": 7 * time.Second, "create t_x.b": 7 * time.Second,
				"create t_x.c": 7 * time.Second, "create t_x.d": 7 * time.Second, "create t_x.e": 7 * time.Second},
			want: []string{"10s: a", "20s: a b", "30s: a b c d", "35s: a b c d e"},
		},
		{
			name: "while another call takes long", config: things("a", "z"), parallelism: 2,
			takes: map[string]time.Duration{"create t_x.a": time.Second, "create t_x.z": time.Hour + time.Second},
			want:  []string{"10s: a", "1h0m1s: a z"},
		},
		{
			// The state that a plan has refreshed is new to who stores it.
			name: "nothing new, nothing more to save", config: things("a"), parallelism: 2,
			takes: map[string]time.Duration{"create t_x.a": time.Hour + time.Second},
			want:  []string{"10s: ", "1h0m1s: a"},
		},
		{
			name: "quick ones are saved at the end", config: things("a", "b", "c"), parallelism: 1,
			want: []string{"0s: a b c"},
		},
		{
			name: "at once after a failure", config: things("a", "bad<a", "z"), parallelism: 2,
			takes: map[string]time.Duration{"create t_x.a": time.Second, "create t_x.bad": time.Second, "create t_x.z": 63 * time.Second},
			rule:  `create t_x.bad fail "no"`,
			want:  []string{"2s: a", "1m3s: a z"}, errors: "Asked to fail",
		},
		{
			name: "what a failing creation has left, too", config: things("bad", "z"), parallelism: 2,
			takes: map[string]time.Duration{"create t_x.bad": time.Second, "create t_x.z": 63 * time.Second},
			rule:  `create t_x.bad partial "no"`,
			want:  []string{"1s: bad", "1m3s: bad z"}, errors: "Asked to fail",
		},
		{
			name: "a save that takes long", config: things("a", "b", "z"), parallelism: 3,
			takes:     map[string]time.Duration{"create t_x.a": time.Second, "create t_x.b": 12 * time.Second, "create t_x.z": 203 * time.Second},
			saveTakes: 25 * time.Second,
			want:      []string{"35s: a", "1m0s: a b", "3m48s: a b z"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newSlowWorld(t, c.takes)
				w.saveTakes = c.saveTakes
				if c.rule != "" {
					w.fake.On(c.rule)
				}
				_, ds := w.apply(t.Context(), c.config, c.parallelism)
				if diff := cmp.Diff(c.want, w.saves); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if got := headlines(ds); got != c.errors {
					t.Errorf("%q, want %q", got, c.errors)
				}
			})
		})
	}
}

// TestSavesSoon lists when which objects are saved where saving costs little: soon after
// they are made, and for at most a tenth of the time.
func TestSavesSoon(t *testing.T) {
	chain := things("a", "b<a", "c<b", "d<c")
	takes := map[string]time.Duration{"create t_x.a": 95 * time.Millisecond, "create t_x.b": 100 * time.Millisecond,
		"create t_x.c": 100 * time.Millisecond, "create t_x.d": 100 * time.Millisecond}
	for _, c := range []struct {
		name      string
		saveTakes time.Duration
		want      []string
	}{
		{"quick", time.Millisecond, []string{"11ms: ", "101ms: a", "201ms: a b", "301ms: a b c", "396ms: a b c d"}},
		{"slow", 20 * time.Millisecond, []string{"30ms: ", "230ms: a b", "415ms: a b c d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newSlowWorld(t, takes)
				w.soon, w.saveTakes = true, c.saveTakes
				if _, ds := w.apply(t.Context(), chain, 10); ds.HasErrors() {
					t.Error(ds)
				}
				if diff := cmp.Diff(c.want, w.saves); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// TestSavesOfTheJournaled lists how many objects each save has where a journal has everything: the next
// one has a quarter more.
func TestSavesOfTheJournaled(t *testing.T) {
	names := make([]string, 60)
	takes := map[string]time.Duration{}
	for i := range names {
		names[i] = fmt.Sprintf("a%d", i)
		takes["create t_x."+names[i]] = 490 * time.Millisecond
	}
	synctest.Test(t, func(t *testing.T) {
		w := newSlowWorld(t, takes)
		w.soon, w.journal = true, nowhere{}
		if _, ds := w.apply(t.Context(), things(names...), 1); ds.HasErrors() {
			t.Error(ds)
		}
		var sizes []string
		for _, s := range w.saves {
			at, names, _ := strings.Cut(s, ": ")
			sizes = append(sizes, fmt.Sprintf("%s %d", at, len(strings.Fields(names))))
		}
		want := []string{"1s 2", "2s 4", "3s 6", "4s 8", "5s 10", "7s 14", "9s 18", "12s 24", "15s 30", "19s 38", "24s 48", "29.4s 60"}
		if diff := cmp.Diff(want, sizes); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// intents is a writer that keeps which intents are to be durable.
type intents struct{ got []string }

func (w *intents) Append(durable bool, records ...[]byte) func(context.Context) error {
	for _, line := range records {
		var r struct{ Intent struct{ Address string } }
		if err := json.Unmarshal(line, &r); err == nil && r.Intent.Address != "" {
			w.got = append(w.got, fmt.Sprintf("%s %t", r.Intent.Address, durable))
		}
	}
	return func(context.Context) error { return nil }
}

// TestIntentsAreDurable: the intent of each call is durable before it, but where the object exists in the state
// only: a machine that stops loses nothing else.
func TestIntentsAreDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, written := newSlowWorld(t, nil), new(intents)
		w.journal = written
		config := things("a") + `
resource "terraform_data" "b" {
  input = t_x.a.id
}
resource "t_x" "c" {
  name = terraform_data.b.output
}
`
		if _, ds := w.apply(t.Context(), config, 1); ds.HasErrors() {
			t.Fatal(ds)
		}
		if want := []string{"t_x.a true", "terraform_data.b false", "t_x.c true"}; !slices.Equal(written.got, want) {
			t.Errorf("the intents are %q, want %q", written.got, want)
		}
	})
}

func headlines(ds diags.Diagnostics) string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Summary)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// TestSaveFails: what cannot be saved stops the apply, and is tried again when all is
// quiet.
func TestSaveFails(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name   string
		refuse func(n int) error
		want   []string
		errors string
	}{
		{"for good", func(int) error { return full },
			[]string{"10s: a refused", "10s: a refused", "11s: a b refused"}, "Apply was interrupted; Failed to save state"},
		{"once", func(n int) error {
			if n == 0 {
				return full
			}
			return nil
		}, []string{"10s: a refused", "10s: a", "11s: a b"}, "Apply was interrupted; Failed to save state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newSlowWorld(t, map[string]time.Duration{"create t_x.a": time.Second, "create t_x.b": 10 * time.Second})
				w.refuse = c.refuse
				st, ds := w.apply(t.Context(), things("a", "b<a", "c<b", "d"), 1)
				if got := headlines(ds); got != c.errors {
					t.Errorf("%q, want %q", got, c.errors)
				}
				if !strings.Contains(ds.Error(), "o space left on device") {
					t.Errorf("the reason is not told: %s", ds.Error())
				}
				if diff := cmp.Diff(c.want, w.saves); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				for _, call := range w.fake.Calls() {
					if call == "create t_x.c" || call == "create t_x.d" {
						t.Errorf("%s after the state could not be saved", call)
					}
				}
				b, _ := addrs.ParseAbsResourceInstance("t_x.b")
				if st.Instance(b) == nil {
					t.Error("what was under way is not in the state")
				}
			})
		})
	}
}

// TestInterrupted: when the run is asked to stop, what is done is saved at once, what is
// under way may finish, and is saved, too.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSlowWorld(t, map[string]time.Duration{"create t_x.a": time.Second, "create t_x.b": 63 * time.Second})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(errors.New("asked to stop")) })
		_, ds := w.apply(ctx, things("a", "b<a", "c<b"), 10)
		if diff := cmp.Diff([]string{"3s: a", "1m4s: a b"}, w.saves); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if headlines(ds) != "Apply was interrupted" || !strings.Contains(ds.Error(), "1 planned actions were not started: asked to stop") {
			t.Error(ds)
		}
		if n := len(w.fake.Objects()); n != 2 {
			t.Errorf("%d objects exist", n)
		}
	})
}

// TestNotSaved applies without a place to save in.
func TestNotSaved(t *testing.T) {
	t.Parallel()
	w := newSlowWorld(t, nil)
	cfg, _ := loading.Load(loading.Input{Tree: source.Files(map[string][]byte{"main.tf": []byte(things("a"))})})
	rs, _ := refs.Analyze(cfg)
	pool := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): w.fake.Start})
	defer pool.Close()
	plan, ds := planning.Plan(t.Context(), planning.Input{Environment: environment(cfg, rs, pool), State: states.Empty(), Mode: plans.NormalMode})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	again := provider.NewPool(map[addrs.Provider]provider.Factory{addrs.DefaultProvider("t"): w.fake.Start})
	defer again.Close()
	done, ds := applying.Apply(t.Context(), applying.Input{Environment: environment(cfg, rs, again), Plan: plan})
	if ds.HasErrors() || done.State.IsEmpty() {
		t.Errorf("%v %v", done.State, ds)
	}
}
