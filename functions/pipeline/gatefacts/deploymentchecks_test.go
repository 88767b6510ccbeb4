package gatefacts

import (
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
	"github.com/lockstep-iac/lockstep/github"
)

// TestVoices is a table of check runs of the deployment ou-a, after others have been seen: whether it has nothing left, and whether it
// is there.
func TestVoices(t *testing.T) {
	t.Parallel()
	run := func(app int64, succeeded bool) github.Report {
		return github.Report{Name: "lockstep (ou-a)", AppID: app, Done: true, Passed: true, Succeeded: succeeded}
	}
	ours, project := run(1, true), run(2, true)
	ours.Ours, project.Name = true, "lockstep (ou-a)/net"
	type reports = []github.Report
	for name, test := range map[string]struct {
		before, now []github.Report
		done, here  bool
	}{
		"succeeded":                      {nil, reports{run(2, true)}, true, true},
		"seen before":                    {reports{run(2, false)}, reports{run(2, true)}, true, true},
		"not succeeded":                  {nil, reports{run(2, false)}, false, true},
		"none":                           {nil, nil, false, false},
		"our own":                        {nil, reports{ours}, false, false},
		"of one project":                 {nil, reports{project}, false, false},
		"by a workflow":                  {nil, reports{run(15368, true)}, false, false},
		"a commit status":                {nil, reports{run(0, true)}, false, false},
		"by a workflow beside it":        {nil, reports{run(2, false), run(15368, true)}, false, true},
		"a failed one beside it":         {nil, reports{run(2, true), run(15368, false)}, false, true},
		"by another App than before":     {reports{run(2, true)}, reports{run(3, true)}, false, false},
		"by another App beside it":       {reports{run(2, true)}, reports{run(3, true), run(2, false)}, false, true},
		"of two Apps at the first sight": {nil, reports{run(2, true), run(3, true)}, false, false},
	} {
		e := &Reader{Ledger: ledger.Ledger{Records: new(memory.Store)}, Message: pipeline.Message{Pull: pipeline.Pull{Repo: github.Repo{ID: 7}}}}
		if _, err := DeploymentChecksOf(t.Context(), e, []string{"ou-a"}, test.before); err != nil {
			t.Fatal(err)
		}
		v, err := DeploymentChecksOf(t.Context(), e, []string{"ou-a", "ou-a"}, test.now)
		if err != nil || v.Done("ou-a") != test.done || v.Has("ou-a") != test.here {
			t.Errorf("%s: done %t, here %t, %v", name, v.Done("ou-a"), v.Has("ou-a"), err)
		}
	}
}
