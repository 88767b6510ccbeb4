package decisionlog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/decisionlog"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/requirementrules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/github"
)

// TestKeep holds that the last question of each project and command is kept, and one that is too large without its facts.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	repo := github.Repo{ID: 4, Owner: "Acme", Name: "infra"}
	r := runs.Run{ID: runs.ID{Pull: pipeline.Pull{Repo: repo, Number: 7}, Project: "net/a", Workspace: "default"}, Spec: runs.Spec{Dir: "net/a", Head: "abc"}}
	question := func(command, actor string, paths int) requirementrules.Question {
		q := requirementrules.Question{Command: command, Requirements: []requirements.Requirement{{Command: command, At: "lockstep.hcl:1", Rules: requirements.Rules{Codeowners: true, Approvals: 2}}}}
		q.Facts = requirementrules.Facts{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Actor: actor, Reviews: requirementrules.Known([]requirementrules.Review{{Author: "bob", State: "approved", SHA: "abc"}})}
		var owned []requirementrules.Owned
		for i := range paths {
			owned = append(owned, requirementrules.Owned{Path: fmt.Sprintf("a/file%d", i), Owners: []requirements.Party{{Login: "bob"}}})
		}
		q.Facts.Owned = requirementrules.Known(owned)
		return q
	}
	for _, q := range []requirementrules.Question{question("apply", "alice", 1), question("plan", "alice", 1), question("apply", "carol", 2), question("recover", "zoe", 10_000)} {
		if err := decisionlog.Keep(t.Context(), dir.Records, r, q); err != nil {
			t.Fatal(err)
		}
	}
	got, err := decisionlog.Of(t.Context(), dir.Records, github.Repo{Owner: "acme", Name: "Infra"}, 7)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v: %+v", err, got)
	}
	want := decisionlog.Asked{Repo: "Acme/infra", Number: 7, Project: "net/a", Dir: "net/a", Workspace: "default", SHA: "abc", Question: question("apply", "carol", 2)}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(requirementrules.Decide(want.Question), requirementrules.Decide(got[0].Question)); diff != "" {
		t.Errorf("the decision: %s", diff)
	}
	if got[1].Command != "plan" || !got[2].TooLarge || got[2].Facts.Actor != "zoe" || got[2].Requirements != nil {
		t.Errorf("%+v", got[1:])
	}
	other, err := decisionlog.Of(t.Context(), dir.Records, repo, 8)
	if err != nil || len(other) > 0 {
		t.Errorf("another pull request: %v %v", other, err)
	}
}
