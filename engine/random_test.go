package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/providertest"
)

const randomLab = `
resource lab_thing
  id    string computed keep
  name  string required replace
  kind  string optional replace
  color string optional
  refs  list(string) optional
  tier  string computed
`

// TestRandomConfigurations applies random configurations, one after another on the same
// state, with failures and interruptions on the way. Whatever they are:
//
//   - a plan after an apply is empty;
//   - what is created or updated mentions only what exists;
//   - an apply that failed or was interrupted is completed by the next one;
//   - the state holds exactly what exists;
//   - a destruction deletes nothing that something left depends on, and leaves nothing.
func TestRandomConfigurations(t *testing.T) {
	t.Parallel()
	n := 60
	if testing.Short() {
		n = 20
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			playRandom(t, uint64(seed))
		})
	}
}

func playRandom(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	s := (&scenario{providers: map[string]string{"lab": randomLab}}).stage(t)
	w := &watchful{t: t, lab: s.fakes["lab"]}
	s.wrap = w.client
	s.inMemory = r.IntN(3) > 0
	s.parallelism = 1 + r.IntN(4)*3
	defer func() {
		if t.Failed() {
			for name, text := range s.files {
				t.Logf("-- %s --\n%s", name, text)
			}
		}
	}()
	for round := range 3 {
		clear(s.files)
		for name, text := range randomConfig(seed*3 + uint64(round)) {
			s.files[name] = text
		}
		o := &order{verb: "apply"}
		disturbed := r.IntN(3)
		switch disturbed {
		case 1:
			o.stopAfter = 1 + r.IntN(5)
		case 2:
			s.fakes["lab"].On(fmt.Sprintf("%s lab_thing %s \"no\"",
				[]string{"create", "update", "delete"}[r.IntN(3)], []string{"once fail", "once partial"}[r.IntN(2)]))
		}
		first := s.run(o)
		s.rulesOff()
		o.stopAfter = 0
		if !first.applied {
			if disturbed == 0 {
				t.Fatalf("round %d fails:\n%s", round, first)
			}
			if second := s.run(o); !second.applied {
				t.Fatalf("round %d cannot be completed:\n%s\nthen\n%s", round, first, second)
			}
		}
		s.sameAsWorld()
		if t.Failed() {
			return
		}
	}
	w.destroying = true
	o := &order{verb: "apply"}
	o.options.Mode = plans.DestroyMode
	if gone := s.run(o); !gone.applied || !s.state.IsEmpty() {
		t.Errorf("after the destruction:\n%s", gone)
	}
	s.sameAsWorld()
}

// sameAsWorld makes sure that the state holds what exists, and nothing else.
func (s *stage) sameAsWorld() {
	s.t.Helper()
	w := &sheet{stage: s}
	w.state()
	for _, line := range w.lines {
		if strings.Contains(line, "exists, but") || strings.Contains(line, "does not exist") {
			s.t.Errorf("%s", line)
		}
		if strings.Contains(line, " deposed ") || strings.Contains(line, " tainted") {
			s.t.Errorf("left over: %s", line)
		}
	}
}

// watchful looks at what the engine asks of the provider.
type watchful struct {
	t          *testing.T
	lab        *providertest.Provider
	destroying bool
}

func (w *watchful) client(c provider.Client) provider.Client { return watched{c, w} }

type watched struct {
	provider.Client
	w *watchful
}

func (c watched) Apply(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diags.Diagnostics) {
	if !req.Planned.IsNull() {
		for _, id := range texts(req.Planned.GetAttr("refs")) {
			if c.w.lab.Object("lab_thing", id) == cty.NilVal {
				c.w.t.Errorf("%s is made to mention %s, which does not exist", show(req.Planned.GetAttr("name")), id)
			}
		}
	} else if c.w.destroying {
		id := req.Prior.GetAttr("id").AsString()
		for _, line := range c.w.lab.Objects() {
			if refs := line[strings.Index(line, "{"):]; strings.Contains(refs, fmt.Sprintf("%q", id)) {
				c.w.t.Errorf("%s is deleted before %s", id, line)
			}
		}
	}
	return c.Client.Apply(ctx, req)
}

// texts returns the strings of a list, sorted.
func texts(v cty.Value) []string {
	var out []string
	if v.IsNull() || !v.IsKnown() {
		return nil
	}
	for it := v.ElementIterator(); it.Next(); {
		_, x := it.Element()
		if x.IsKnown() && !x.IsNull() {
			out = append(out, x.AsString())
		}
	}
	slices.Sort(out)
	return out
}
