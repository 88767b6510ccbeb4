package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// TestServeRelease holds that whoever runs serve gives a state free, and no other one.
func TestServeRelease(t *testing.T) {
	t.Parallel()
	w := programtest.NewDir(t)
	data, err := localstore.Open(filepath.Join(w.Path, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	const mine, other = "s3://states/env:/blue/net", "s3://states/net"
	for _, place := range []string{mine, other} {
		value, err := json.Marshal(places.Claim{Place: place, RepoID: 1, Repo: "acme/infra", Project: "net", Workspace: "blue"})
		if err == nil {
			_, err = data.Records.Put(t.Context(), places.ClaimKey(place), value, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := w.Run("serve", "-data", "data", "-release", mine); r.Code != 0 || !strings.Contains(r.Out, "which belonged to the project net of acme/infra") {
		t.Errorf("%d\n%s%s", r.Code, r.Out, r.Stderr)
	}
	for place, want := range map[string]bool{mine: false, other: true} {
		rec, err := data.Records.Get(t.Context(), places.ClaimKey(place))
		if err != nil || (rec.Version != "") != want {
			t.Errorf("%s: %+v, %v", place, rec, err)
		}
	}
	if r := w.Run("serve", "-data", "data", "-release", mine); r.Code != 1 || !strings.Contains(r.Stderr, "no repository owns the state") {
		t.Errorf("again: %d\n%s", r.Code, r.Stderr)
	}
}
