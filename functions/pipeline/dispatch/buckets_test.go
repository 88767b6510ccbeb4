package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/github/githubtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// buckets are the states of S3 backends, by their addresses, which are not made of the names of projects.
type buckets map[string]*statebackendtest.Fake

func (b buckets) open(_ context.Context, j jobs.Job, _ *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
	k := j.State.String()
	if b[k] == nil {
		b[k] = &statebackendtest.Fake{}
	}
	return b[k], nil
}

// objects are the names of the resources of a state.
func (b buckets) objects(t *testing.T, place string) string {
	t.Helper()
	if b[place] == nil {
		return ""
	}
	w, _ := b[place].Open(statebackend.DefaultWorkspace)
	state, err := w.Get(t.Context())
	if err != nil || state.Bytes == nil {
		return ""
	}
	var has struct{ Resources []struct{ Name string } }
	if err := json.Unmarshal(state.Bytes, &has); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range has.Resources {
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

// inBuckets adds a backend "s3" to each directory with a main.tf, whose key is the directory.
func inBuckets(files githubtest.Files) githubtest.Files {
	out := maps.Clone(files)
	for name := range files {
		if path.Base(name) == "main.tf" {
			out[path.Join(path.Dir(name), "backend.tf")] = fmt.Sprintf("terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key    = %q\n    region = \"eu-west-1\"\n  }\n}\n", path.Dir(name))
		}
	}
	return out
}

// newBuckets is a stage with its states in S3.
func newBuckets(t *testing.T, files githubtest.Files) (*stage, buckets) {
	t.Helper()
	s := newStage(t, githubtest.Files{"README.md": "x"})
	s.repo.Push("alice", "main", "Base", inBuckets(files))
	s.settle()
	b := buckets{}
	s.pipeline.Engine = &executor.Engine{Version: "test", Backend: b.open}
	return s, b
}
