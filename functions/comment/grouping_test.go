package comment

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
	"github.com/lockstep-iac/lockstep/functions/comment/rulings"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestAlike holds that replies about 300 projects that differ in nothing else have one text, with the first of them, and that the
// text tells the projects apart from those of other replies.
func TestAlike(t *testing.T) {
	t.Parallel()
	apply := grammar.Parse("lockstep apply")[0].Command
	draft := rulings.Ruling{Rule: rulings.AllOf, Outcome: rulings.Fails, Of: []rulings.Ruling{{Rule: rulings.Ready, Outcome: rulings.Fails}}}
	required := reasons.Required{Verb: Apply, Tree: draft}
	var all string
	for _, about := range []func(project string) Reply{
		func(p string) Reply { return Pending{Project: p, Verb: Plan} },
		func(p string) Reply { return Planned{Project: p, Counts: counting.Counts{Add: 1}} },
		func(p string) Reply { return Done{Project: p, Counts: counting.Counts{Add: 1}} },
		func(p string) Reply { return Failed{Project: p, Verb: Plan, Body: "```\nError: why\n```\n"} },
		func(p string) Reply { return Refused{apply, p, reasons.List{required}} },
		func(p string) Reply {
			return Refused{apply, p, reasons.List{reasons.Awaits{Project: p, On: []string{"net"}}}}
		},
		func(p string) Reply {
			return Overridden{Project: p, By: "zoe", Because: "the site is down", Target: p + "@default"}
		},
		func(p string) Reply { return Locked{Project: p, Because: "it moves"} },
		func(p string) Reply { return Unlocked{Project: p} },
		func(p string) Reply {
			return PlanRenewal{p, strings.Repeat(p, 20), reasons.List{reasons.OtherVersion{}}, false}
		},
		func(p string) Reply { return Stopping{Project: p, Verb: Plan, By: "alice"} },
	} {
		replies := []Reply{Broken{Reason: "it died"}, about("odd\"`one")}
		for i := range 299 {
			replies = append(replies, about(fmt.Sprintf("p%d", i)))
		}
		other := Pending{Project: "other", Verb: Apply}
		text := Answer{"33", append(replies, other)}.Markdown(1 << 20)
		all += strings.TrimPrefix(text, AnswerMarker("33")+"\n") + "=====\n"
		if !strings.Contains(text, "`p18`") || strings.Contains(text, "`p19`") || !strings.Contains(text, ", and 280 more") || strings.Contains(text, "`NAME`") || len(text) > 1200 {
			t.Errorf("%d bytes: %.2000s", len(text), text)
		}
	}
	golden.File(t, filepath.Join("testdata", "answer-alike.md"), all)
	few := Answer{"33", []Reply{Planned{Project: "a"}, Planned{Project: "b"}, Planned{Project: "c"}}}.Markdown(1 << 20)
	if strings.Count(few, "**Planned**") != 3 {
		t.Error(few)
	}
}

// TestUnlike holds that replies which differ in more than the project stay apart, and so do failed applies, whose changes stay.
func TestUnlike(t *testing.T) {
	t.Parallel()
	var replies []Reply
	for i := range 9 {
		name := fmt.Sprintf("p%d", i)
		replies = append(replies, Planned{Project: name, Counts: counting.Counts{Add: i}}, Failed{Project: name, Verb: Apply, Counts: counting.Counts{Add: 1}},
			Refused{Command{Verb: Apply}, name, reasons.List{reasons.AlreadyDone{}, reasons.OtherUnmerged{Number: i + 8}}})
	}
	if text := (Answer{"33", replies}).Markdown(1 << 20); strings.Contains(text, "`p0`, `p1`") || strings.Count(text, "`p8`") < 3 {
		t.Error(text)
	}
}

// TestNoteOnce holds that a note on the plans of many projects, whose plans differ, is told once, with the command for each.
func TestNoteOnce(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Rechecked{
		"the same":    {},
		"made again":  {Since: reasons.List{reasons.OtherVersion{}}},
		"not checked": {Problem: "```\nError: why\n```"},
	} {
		for _, n := range []int{3, 300} {
			s := Status{Head: someSHA}
			for i := range n {
				p := ProjectStatus{Name: fmt.Sprintf("p%d", i), Standing: Ready, Texts: Texts{Body: fmt.Sprintf("plan %d", i)}}
				r.Project = p.Name
				r.On(&p)
				s.Projects = append(s.Projects, p)
			}
			text := s.Markdown(1 << 20)
			want, command := 1, "`lockstep plan -p NAME`"
			if n == 3 {
				want, command = 3, "`lockstep plan -p p2`"
			}
			got := strings.Count(text, "Checked against") + strings.Count(text, "Planned again, because") + strings.Count(text, "could not check this plan")
			if many := strings.Contains(text, "`p4` and 295 more: "); got != want || many != (n > 3) || name == "not checked" && !strings.Contains(text, command) {
				t.Errorf("%s of %d: the note is there %d times:\n%.3000s", name, n, got, text)
			}
		}
	}
}
