package order

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// Whatever the changes, the configuration, and what the state remembers of
// another: the steps are there, they have no circle, what must be is, and what
// should be is unless it cannot.
func TestRandom(t *testing.T) {
	cases := 200_000
	if testing.Short() {
		cases = 20_000
	}
	const workers = 4
	for w := range workers {
		t.Run(strconv.Itoa(w), func(t *testing.T) {
			t.Parallel()
			yielded := 0
			for seed := w; seed < cases; seed += workers {
				changes := random(rand.New(rand.NewPCG(uint64(seed), 1)))
				lost, err := check(changes)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, show(changes))
				}
				if lost {
					yielded++
				}
			}
			// Else the interesting part is not tested any more.
			if yielded < cases/workers/100 {
				t.Errorf("something yields in %d of %d cases only", yielded, cases/workers)
			}
		})
	}
}

func FuzzSteps(f *testing.F) {
	f.Add([]byte("create before destroy"))
	f.Add(make([]byte, 200))
	f.Fuzz(func(t *testing.T, data []byte) {
		changes := random(rand.New(&bytesSource{data}))
		if _, err := check(changes); err != nil {
			t.Errorf("%v\n%s", err, show(changes))
		}
	})
}

// bytesSource turns what the fuzzer gives into random numbers. The lower bits are there
// for math/rand: it asks again where all are zero.
type bytesSource struct{ data []byte }

func (s *bytesSource) Uint64() uint64 {
	var b [8]byte
	n := copy(b[:2], s.data) // two bytes are plenty for our small choices
	s.data = s.data[n:]
	return binary.BigEndian.Uint64(b[:]) | 1<<47 - 1
}

// random makes up changes of a few resources: instances, module instances,
// deposed objects; dependencies of the configuration along one random order, of the
// state along another.
func random(r *rand.Rand) []Change {
	n := 2 + r.IntN(5)
	config, prior := r.Perm(n), r.Perm(n) // dependencies lead to resources with a lower rank
	density := 1 + r.IntN(4)
	pick := func(below func(int) bool) []addrs.ConfigResource {
		var deps []addrs.ConfigResource
		for d := range n {
			if below(d) && r.IntN(4) < density {
				deps = append(deps, resource(d))
			}
		}
		return deps
	}
	actions := []plans.Action{
		plans.NoOp, plans.Create, plans.Read, plans.Update, plans.DeleteThenCreate,
		plans.CreateThenDelete, plans.Delete, plans.Delete, plans.Update, plans.DeleteThenCreate, plans.Forget,
	}
	var changes []Change
	for x := range n {
		deps := pick(func(d int) bool { return config[d] < config[x] })
		needs := pick(func(d int) bool { return config[d] < config[x] && r.IntN(4) == 0 })
		only := map[addrs.ConfigResource][]addrs.InstanceKey{}
		for _, d := range deps {
			if r.IntN(4) == 0 {
				only[d] = []addrs.InstanceKey{addrs.IntKey(r.IntN(2))}
			}
		}
		for i := range 1 + r.IntN(3)/2 {
			c := Change{Config: resource(x), Action: actions[r.IntN(len(actions))], CreateBeforeDestroy: r.IntN(3) == 0}
			c.Object.Instance = instance(x, i, r.IntN(3))
			c.Provider.Alias = "p" + strconv.Itoa(r.IntN(2))
			c.StoredDeps = pick(func(d int) bool { return prior[d] < prior[x] })
			if r.IntN(8) == 0 {
				c.Object.Deposed, c.Action = "00000001", plans.Delete
			}
			switch c.Action {
			case plans.Delete: // whatever its provider needs
				c.ConfigDeps = pick(func(int) bool { return r.IntN(4) == 0 })
				c.ProviderDeps = pick(func(int) bool { return r.IntN(4) == 0 })
			case plans.Create:
				c.StoredDeps = nil
				fallthrough
			default:
				c.ConfigDeps, c.ProviderDeps, c.OnlyInstances = deps, needs, only
			}
			changes = append(changes, c)
		}
	}
	return changes
}

// resource returns the resource of a number; some are in a module.
func resource(x int) addrs.ConfigResource {
	c := addrs.ConfigResource{Resource: addrs.Resource{Mode: addrs.Managed, Type: "t", Name: string(rune('a' + x))}}
	if x%2 == 1 {
		c.Module = addrs.NewModule("m")
	}
	return c
}

// instance returns an instance of resource x, in a module instance if it is in a module.
func instance(x, i, module int) addrs.AbsResourceInstance {
	c := resource(x)
	a := addrs.AbsResourceInstance{Resource: addrs.ResourceInstance{Resource: c.Resource, Key: addrs.IntKey(i)}}
	if !c.Module.IsRoot() {
		a.Module = addrs.RootModuleInstance.Child("m", addrs.IntKey(module))
	}
	return a
}

// show prints changes for who has to understand a failure.
func show(changes []Change) string {
	var s strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&s, "%s %c cbd=%v %s config=%v of %v needs=%v stored=%v\n",
			c.Object, c.Action, c.CreateBeforeDestroy, c.Provider.Alias, c.ConfigDeps, c.OnlyInstances, c.ProviderDeps, c.StoredDeps)
	}
	return s.String()
}

// before is a relation between up to 64 steps: before[y] are those before y.
type before [64]uint64

// close makes the relation transitive and reports whether it has no circle.
func (b *before) close(n int) bool {
	for k := range n {
		for y := range n {
			if b[y]>>k&1 == 1 {
				b[y] |= b[k]
			}
		}
	}
	for y := range n {
		if b[y]>>y&1 == 1 {
			return false
		}
	}
	return true
}

// check holds what Steps returns against the rules, taken by the letter and pair by pair.
func check(changes []Change) (yielded bool, err error) {
	g := Steps(changes)
	var real []Step
	for i, s := range g.Steps {
		if s.Verb != Barrier {
			if real = append(real, s); len(real) != i+1 {
				return false, fmt.Errorf("a step stands behind a barrier")
			}
		}
	}
	if err := checkSteps(changes, real); err != nil {
		return false, err
	}
	var got before
	if len(g.Steps) > len(got) {
		return false, fmt.Errorf("%d steps are too many for this test", len(g.Steps))
	}
	for y, list := range g.After {
		for _, x := range list {
			got[y] |= 1 << x
		}
	}
	if !got.close(len(g.Steps)) {
		return false, fmt.Errorf("the steps have a cycle")
	}
	wishes := wanted(changes, real)
	var all before
	possible := true
	for w, list := range wishes {
		for _, p := range list {
			all[p[1]] |= 1 << p[0]
		}
		closed := all
		possible = possible && closed.close(len(real))
		if strength(w) == must && !possible {
			return false, fmt.Errorf("the test asks for the impossible")
		}
		yielded = yielded || !possible
		for _, p := range list {
			held, opposite := got[p[1]]>>p[0]&1 == 1, got[p[0]]>>p[1]&1 == 1
			if possible && !held || !held && !opposite {
				return false, fmt.Errorf("strength %d: %s %s is not before %s %s", w,
					real[p[0]].Verb, changes[real[p[0]].Change].Object, real[p[1]].Verb, changes[real[p[1]].Change].Object)
			}
		}
	}
	return yielded, nil
}

// checkSteps compares the steps with the actions.
func checkSteps(changes []Change, steps []Step) error {
	var want []Step
	for i, c := range changes {
		for _, v := range map[plans.Action][]Verb{
			plans.NoOp: {Verify}, plans.Create: {Create}, plans.Read: {Read}, plans.Update: {Update}, plans.Delete: {Delete},
			plans.Forget: {Forget}, plans.DeleteThenCreate: {Delete, Create}, plans.CreateThenDelete: {Create, Delete},
		}[c.Action] {
			want = append(want, Step{i, v})
		}
	}
	if fmt.Sprint(steps) != fmt.Sprint(want) {
		return fmt.Errorf("got steps %v, want %v", steps, want)
	}
	return nil
}

// wanted returns, by strength, the pairs of steps of which the first should be before the
// second: the essay's rules by the letter, and quadratic.
func wanted(changes []Change, steps []Step) [weakest + 1][][2]int {
	var out [weakest + 1][][2]int
	has := func(list []addrs.ConfigResource, x addrs.ConfigResource) bool {
		for _, y := range list {
			if x == y {
				return true
			}
		}
		return false
	}
	providers := map[addrs.ConfigResource]addrs.AbsProviderConfig{} // of the first, or the last that is made
	made := map[addrs.ConfigResource]bool{}
	for _, c := range changes {
		if c.Action != plans.Delete && c.Action != plans.Forget {
			made[c.Config] = true
		}
		if _, ok := providers[c.Config]; c.Action != plans.Forget && (!ok || c.Action != plans.Delete) {
			providers[c.Config] = c.Provider
		}
	}
	for i, sx := range steps {
		for j, sy := range steps {
			x, y := &changes[sx.Change], &changes[sy.Change]
			add := func(w strength, first, second int) { out[w] = append(out[w], [2]int{first, second}) }
			if x.Object.Instance == y.Object.Instance && real(sx) && sy.Verb == Delete {
				switch { // rule 2, and 5 for deposed objects
				case y.Object.Deposed != "":
					add(letGo, i, j)
				case x.Action == plans.CreateThenDelete:
					add(must, i, j)
				case x.Action == plans.DeleteThenCreate:
					add(must, j, i)
				}
			}
			if x.Config == y.Config || sx.Verb == Forget {
				continue
			}
			if sy.Verb == Forget { // 9
				if near(x, y) && has(x.StoredDeps, y.Config) && sx.Verb == Delete {
					add(deleteDown, i, j)
				}
				continue
			}
			needs := has(x.ProviderDeps, y.Config) ||
				x.Action == plans.Delete && !made[x.Config] && has(x.ConfigDeps, y.Config) && x.Provider != providers[y.Config]
			configures := has(x.ConfigDeps, y.Config) || has(x.ProviderDeps, y.Config)
			stored := near(x, y) && has(x.StoredDeps, y.Config) && sx.Verb != Verify
			config := near(x, y) && has(x.ConfigDeps, y.Config) && !stored
			if !stored && !config && !needs && !configures {
				continue
			}
			eight := strength(0) // what rule 8 takes off
			if !stored {
				eight = deleteDown8 - deleteDown
			}
			switch {
			case sx.Verb != Delete && sy.Verb != Delete: // 1
				if configures && (has(x.ProviderDeps, y.Config) || meant(changes, x, y)) {
					add(must, j, i)
				}
			case sx.Verb == Delete && needs: // 3, 4
				if sy.Verb == Delete {
					add(deleteDown, i, j)
				} else {
					add(must, j, i)
				}
			case !stored && !config:
			case sx.Verb == Delete && sy.Verb == Delete: // 4
				add(deleteDown+eight, i, j)
			case sx.Verb == Delete && real(sy): // 6, 7
				if late(x) {
					add(formerFirst+eight, j, i)
				} else {
					add(deleteFirst+eight, i, j)
				}
			case sx.Verb == Delete:
			case sx.Verb == Verify: // 8
				if config && !late(y) {
					add(formerFirst8, j, i)
				}
			case late(y): // 5
				add(letGo+eight, i, j)
			default: // 7
				add(formerFirst+eight, j, i)
			}
		}
	}
	return out
}

// meant reports whether x depends on the instance of y rather than on other instances alone.
func meant(changes []Change, x, y *Change) bool {
	keys := x.OnlyInstances[y.Config]
	for _, k := range keys {
		made := func(c Change) bool {
			return c.Config == y.Config && c.Object.Instance.Resource.Key == k && c.Object.Deposed == "" && c.Action != plans.Delete && c.Action != plans.Forget
		}
		if !slices.ContainsFunc(changes, made) {
			return true
		}
	}
	return len(keys) == 0 || slices.Contains(keys, y.Object.Instance.Resource.Key)
}

// near reports whether objects are in different modules, or in the same instance of one.
func near(x, y *Change) bool {
	return x.Config.Module != y.Config.Module || x.Object.Instance.Module == y.Object.Instance.Module
}

// real reports whether a step makes something.
func real(s Step) bool { return s.Verb == Create || s.Verb == Update || s.Verb == Read }

// late reports whether the deletion of a change is create-before-destroy.
func late(c *Change) bool {
	return c.Action == plans.CreateThenDelete || c.Object.Deposed != "" || c.Action == plans.Delete && c.CreateBeforeDestroy
}

// Where state and configuration agree about the direction of dependencies, what a
// create-before-destroy object depends on is so too, and no provider depends on
// a resource, nothing has to yield.
func TestHarmony(t *testing.T) {
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		changes := random(r)
		for i := range changes {
			c := &changes[i]
			c.ProviderDeps = nil
			if c.Action == plans.Delete {
				c.ConfigDeps = nil
			}
			c.ConfigDeps, c.StoredDeps = downwards(c.Config, c.ConfigDeps), downwards(c.Config, c.StoredDeps)
		}
		force(changes)
		yielded, err := check(changes)
		if err != nil || yielded {
			t.Fatalf("seed %d: yielded %v, %v\n%s", seed, yielded, err, show(changes))
		}
	}
}

// downwards leaves out of deps what does not come before x in the alphabet.
func downwards(x addrs.ConfigResource, deps []addrs.ConfigResource) []addrs.ConfigResource {
	var out []addrs.ConfigResource
	for _, d := range deps {
		if d.Resource.Name < x.Resource.Name {
			out = append(out, d)
		}
	}
	return out
}

// force spreads create-before-destroy to dependencies, as planning does.
func force(changes []Change) {
	for again := true; again; {
		again = false
		for _, x := range changes {
			if !late(&x) && !x.CreateBeforeDestroy {
				continue
			}
			for i := range changes {
				d := &changes[i]
				depends := false
				for _, y := range append(downwards(x.Config, x.ConfigDeps), x.StoredDeps...) {
					depends = depends || y == d.Config
				}
				if depends && !d.CreateBeforeDestroy {
					d.CreateBeforeDestroy, again = true, true
				}
				if depends && d.Action == plans.DeleteThenCreate {
					d.Action, again = plans.CreateThenDelete, true
				}
			}
		}
	}
}
