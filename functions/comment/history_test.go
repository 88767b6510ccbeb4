package comment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestHistory shows what people read of earlier plans: of one, thirty and three hundred projects.
func TestHistory(t *testing.T) {
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	head := func(i int) string { return fmt.Sprintf("%07d", i) + someSHA[7:] }
	past := func(project string, i int, p ProjectStatus, comment int64) Past {
		p.Name = project
		out, ok := PastOf(p, head(i), comment, noon.Add(time.Duration(i)*time.Hour))
		if !ok {
			t.Fatalf("%s has no outcome", project)
		}
		return out
	}
	planned := ProjectStatus{Standing: Ready, PlanSummary: PlanSummary{Counts: counting.Counts{Add: 2, Change: 1}, Hash: someHash}}
	applied := planned
	applied.Standing, applied.By, applied.Done, applied.Approved = Applied, "alice", counting.Counts{Add: 2, Change: 1}, []string{"bob", "carol"}
	part := planned
	part.By, part.Options = "dave", grammar.Parse("lockstep plan -target=terraform_data.a")[0].Command.Options
	broken := ProjectStatus{Standing: PlanFailed}
	for n, projects := range map[int]int{1: 1, 30: 30, 300: 300} {
		s := Status{Head: someSHA, Projects: []ProjectStatus{{Name: "a0", Standing: NoChanges, Texts: Texts{Body: "**No changes.**\n"}}}}
		for i := range projects {
			name := fmt.Sprintf("a%d", i)
			s.History = append(s.History, past(name, 1, broken, 0), past(name, 2, planned, 0), past(name, 3, part, 18), past(name, 4, applied, 19))
			if n > 1 {
				s.History = append(s.History, past(name, 5+i, planned, 0)) // each at another time
			}
		}
		text := s.Markdown(65_000)
		golden.File(t, fmt.Sprintf("testdata/status-history-%d.md", n), text)
		if len(text) > 65_000 || len(s.past) > 65_000/8 {
			t.Errorf("%d: %d bytes", n, len(text))
		}
	}
	if _, ok := PastOf(ProjectStatus{Standing: Planning}, someSHA, 0, noon); ok {
		t.Error("a plan that is being made is an outcome")
	}
	evil := past("a|b`</details>", 1, applied, 0)
	if text := (Status{History: []Past{evil}}).history(8000); strings.Count(text, "</details>") != 2 || strings.Contains(text, "| a|b") || !strings.Contains(text, "``a\\|b`</details>``") {
		t.Errorf("a name breaks the table:\n%s", text)
	}
}
