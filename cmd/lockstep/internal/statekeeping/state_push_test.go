package statekeeping

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/states"
)

// Which state may take the place of which.
func TestPushable(t *testing.T) {
	t.Parallel()
	state := func(lineage string, serial uint64, content string) *states.State {
		e := states.Empty().Edit()
		if content != "" {
			e.SetOutput("o", states.Output{Value: cty.StringVal(content)})
		}
		return e.State().With(lineage, serial)
	}
	for _, c := range []struct {
		name     string
		is, next *states.State
		want     string // part of the reason against it
	}{
		{"nothing stored", states.Empty(), state("a", 1, "x"), ""},
		{"stored is empty", state("a", 9, ""), state("b", 1, "x"), ""},
		{"newer", state("a", 1, "x"), state("a", 2, "y"), ""},
		{"newer, and empty", state("a", 1, "x"), state("a", 2, ""), ""},
		{"the same", state("a", 1, "x"), state("a", 1, "x"), ""},
		{"without a lineage", state("a", 1, "x"), state("", 2, "y"), ""},
		{"older", state("a", 2, "x"), state("a", 1, "x"), "newer"},
		{"other content", state("a", 1, "x"), state("a", 1, "y"), "another content"},
		{"other lineage", state("a", 1, "x"), state("b", 2, "x"), "unrelated"},
	} {
		err := pushable(c.is, c.next)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
