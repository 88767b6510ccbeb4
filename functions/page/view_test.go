package page

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The list is as short for three hundred projects as for three.
func TestChips(t *testing.T) {
	t.Parallel()
	var p Pull
	for i := range 300 {
		x := Project{Name: fmt.Sprint("svc-", i), Standing: "ready to apply", Tone: Waiting}
		if i == 7 {
			x.Standing, x.Tone = "failed", Bad
		}
		p.Projects = append(p.Projects, x)
	}
	want := []chip{{"299 projects", "ready to apply", Waiting}, {"svc-7", "failed", Bad}}
	if d := cmp.Diff(want, p.chips()); d != "" {
		t.Error(d)
	}
	p.Projects = p.Projects[:3]
	want = []chip{{"svc-0", "ready to apply", Waiting}, {"svc-1", "ready to apply", Waiting}, {"svc-2", "ready to apply", Waiting}}
	if d := cmp.Diff(want, p.chips()); d != "" {
		t.Error(d)
	}
}
