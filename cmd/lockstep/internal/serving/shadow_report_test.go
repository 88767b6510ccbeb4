package serving

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/shadow"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// compared returns a record of a plan, made n hours after a fixed time. kind is a project's number.
func compared(n, kind int, verdict shadow.Verdict) shadow.Record {
	at := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
	r := shadow.Record{
		Repo: "acme/infra", Pull: n + 1, Project: fmt.Sprintf("net-%03d", kind), Dir: "net", Workspace: "default", Head: strings.Repeat("abcdef01", 5), Tool: shadow.Atlantis,
		Pushed: at, Queued: at, Began: at.Add(3 * time.Second), Planned: at.Add(time.Duration(20+kind%7) * time.Second), Requests: 3,
		Agreement: shadow.Agreement{Verdict: verdict},
	}
	switch verdict {
	case shadow.Unknown:
		r.Why = "waiting for a comment of the other tool, or for the merge"
		return r
	case shadow.Differ:
		theirs := shadow.Claim{Plan: shadow.Plan{Counted: true, Counts: shadow.Counts{Add: 1}, Changes: []shadow.Change{{Address: "aws_subnet.b\x1b[31m", Action: "create"}}}}
		r.Agreement = shadow.Compare(shadow.Plan{Counted: true, Counts: shadow.Counts{Change: 1}, Changes: []shadow.Change{{Address: "aws_subnet.a", Action: "update"}}}, theirs)
	}
	r.Theirs = at.Add(time.Duration(150+kind%11) * time.Second)
	return r
}

// TestShadowReport is the report about 1, 30 and 300 projects.
func TestShadowReport(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, projects := range []int{1, 30, 300} {
		var all []shadow.Record
		for i := range projects * 3 {
			verdict := shadow.Agree
			switch {
			case i%13 == 5:
				verdict = shadow.Differ
			case i%17 == 2:
				verdict = shadow.Unknown
			}
			all = append(all, compared(i, i%projects, verdict))
		}
		all = append(all, shadow.Record{Repo: "acme/infra", Project: "not-planned-yet"})
		fmt.Fprintf(&b, "# %d projects\n\n", projects)
		writeShadowReport(&b, shadow.Summarize(all, time.Time{}))
		b.WriteString("\n")
	}
	fmt.Fprint(&b, "# nothing to compare with\n\n")
	writeShadowReport(&b, shadow.Summarize([]shadow.Record{compared(1, 1, shadow.Unknown), compared(400, 2, shadow.Unknown)}, time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)))
	golden.File(t, "testdata/shadow_report.txt", b.String())
}
