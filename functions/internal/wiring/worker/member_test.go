package worker

import (
	"errors"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
)

// TestHandleOfNobody holds that a message of an App that the deployment does not have comes to no other one.
func TestHandleOfNobody(t *testing.T) {
	t.Parallel()
	w := &Worker{World: &wiring.World{}, members: map[string]*member{"": nil}}
	err := w.Handle(t.Context(), pipeline.Message{ID: "x", Pull: pipeline.Pull{App: "gone"}})
	if !errors.As(err, new(*wiring.UnknownAppError)) {
		t.Error(err)
	}
}

// TestRescue holds that the states of repositories with the same name, of two Apps, are kept apart and say whose they are.
func TestRescue(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	w := &Worker{World: &wiring.World{Artifacts: data.Artifacts}}
	w.Bucket = "plans"
	for app, want := range map[string]string{"": "s3://plans/rescued/x.tfstate", "ghes": "s3://plans/rescued/ghes/x.tfstate"} {
		j := jobs.Job{App: app, Repo: github.Repo{ID: 5, Owner: "acme", Name: "infra"}, Number: 7, Head: "c0ffee"}
		where, err := w.rescue(t.Context(), j, "x.tfstate", []byte("of "+app))
		if err != nil || where != want {
			t.Errorf("%s: %s, %v", app, where, err)
		}
	}
	for app, key := range map[string]string{"": "rescued/x.tfstate", "ghes": "rescued/ghes/x.tfstate"} {
		a := pipeline.Artifact{Key: key, Repo: pipeline.Qualified(app, "acme/infra"), Number: 7, SHA: "c0ffee"}
		if got, err := data.Artifacts.Get(t.Context(), a); err != nil || string(got) != "of "+app {
			t.Errorf("%s: %q, %v", app, got, err)
		}
	}
}
