package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/plans"
)

// TestScriptInParallel plays every scenario with many provider calls at a time. Only
// the order of calls may be another one.
func TestScriptInParallel(t *testing.T) {
	t.Parallel()
	for _, path := range scenarioPaths(t) {
		t.Run(scenarioName(path), func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, path)
			s := sc.stage(t)
			s.parallelism = 8
			for i := range sc.steps {
				st := &sc.steps[i]
				if slices.ContainsFunc(st.lines, cutsShort) {
					return // what happens before that is chance
				}
				got := s.play(st).String()
				if diff := cmp.Diff(withoutOrder(st.want), withoutOrder(got)); diff != "" {
					t.Fatalf("step %s (-one by one +in parallel):\n%s", st.name, diff)
				}
			}
		})
	}
}

// cutsShort reports whether a line of a step ends all calls at some moment.
func cutsShort(line string) bool {
	return strings.HasPrefix(line, "stop ") || strings.HasSuffix(line, " crash")
}

// withoutOrder sorts the calls within each section.
func withoutOrder(text string) string {
	lines := strings.Split(text, "\n")
	isCall := func(line string) bool { return strings.HasPrefix(line, "  > ") }
	for i := 0; i < len(lines); i++ {
		j := i
		for j < len(lines) && isCall(lines[j]) {
			j++
		}
		slices.Sort(lines[i:j])
		i = j
	}
	return strings.Join(lines, "\n")
}

// TestScriptResumed interrupts every apply of every scenario after each of its calls
// that change something. Planning and applying again must lead to the state that an
// apply without interruption leads to.
func TestScriptResumed(t *testing.T) {
	t.Parallel()
	for _, path := range scenarioPaths(t) {
		t.Run(scenarioName(path), func(t *testing.T) {
			t.Parallel()
			sc := readScenario(t, path)
			s := sc.stage(t)
			s.replay = true
			for i := range sc.steps {
				st := &sc.steps[i]
				whole := s.play(st)
				if !whole.applied || slices.Contains(st.lines, "again") {
					continue
				}
				for k := 1; k < whole.effects; k++ {
					sc.resume(t, i, k, whole.sections("state"))
				}
			}
		})
	}
}

// resume interrupts step i after k calls and carries on.
func (sc *scenario) resume(t *testing.T, i, k int, want string) {
	s := sc.stage(t)
	s.replay = true
	for j := range i {
		s.play(&sc.steps[j])
	}
	st := &sc.steps[i]
	for name, text := range st.files {
		s.files[name] = text
	}
	o := s.prepare(st)
	if o.options.ForceReplace != nil || o.options.Mode == plans.RefreshOnlyMode || o.momentary {
		return // carrying on would replace again, or would not know what to replace
	}
	defer s.rulesOff()
	o.stopAfter = k
	first := s.run(o)
	if first.applied {
		t.Errorf("step %s, interrupted at call %d, is complete:\n%s", st.name, k, first)
	}
	o.stopAfter = 0
	second := s.run(o)
	if left := s.deposed(); len(o.options.Targets) > 0 && len(left) > 0 {
		// The same targets leave alone what was left of the objects that they only depend on.
		o.options.Targets = append(left, o.options.Targets...)
		second = s.run(o)
	}
	if diff := cmp.Diff(want, second.sections("state")); diff != "" {
		t.Errorf("step %s, interrupted at call %d (-whole +resumed):\n%s\nfirst\n%s\nthen\n%s", st.name, k, diff, first, second)
	}
}

// deposed returns the instances that have deposed objects.
func (s *stage) deposed() []addrs.Target {
	var out []addrs.Target
	for abs, r := range s.state.Resources() {
		for k, in := range r.Instances {
			if len(in.Deposed) > 0 {
				out = append(out, addrs.Target{Module: abs.Module, Resource: abs.Resource, Key: k})
			}
		}
	}
	return out
}
