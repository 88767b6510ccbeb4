package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/github"
)

// TestPutDeployment follows a deployment: made once, however often it is reported, and refused without the permission.
func TestPutDeployment(t *testing.T) {
	s := newSetting(t)
	sha := s.repo.Push("alice", "b", "B", nil)
	d := github.Deployment{Task: "lockstep:1", SHA: sha, Environment: "production", Description: strings.Repeat("é", 100), URL: "https://example.com/x", State: github.DeploymentRuns}
	err := s.client.PutDeployment(t.Context(), d)
	if final := (*github.FinalError)(nil); !errors.As(err, &final) || !strings.Contains(final.Remedy, "write deployments") {
		t.Fatalf("without the permission: %v", err)
	}
	s.hub.Accepts("deployments", "write")
	other := d
	other.Task, other.State = "lockstep:2", github.DeploymentFailed
	done := d
	done.State = github.DeploymentDone
	for _, x := range []github.Deployment{d, d, other, done} {
		if err := s.client.PutDeployment(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, x := range s.repo.Deployments() {
		got = append(got, x.Task+" "+x.Environment+" "+x.SHA+": "+strings.Join(x.States, " "))
		if len(x.Description) > 140 || !strings.HasSuffix(x.Description, "é…") {
			t.Errorf("the description is %q", x.Description)
		}
	}
	if want := "lockstep:1 production " + sha + ": in_progress in_progress success; lockstep:2 production " + sha + ": failure"; strings.Join(got, "; ") != want {
		t.Errorf("the deployments are %q", got)
	}
}
