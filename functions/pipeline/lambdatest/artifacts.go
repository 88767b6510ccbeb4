package lambdatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// TestArtifacts tests the contract of pipeline.Artifacts. open returns Artifacts that contain nothing of
// earlier tests. The tests run in parallel.
func TestArtifacts(t *testing.T, open func(t *testing.T) pipeline.Artifacts) {
	hold(t, open, []contract[pipeline.Artifacts]{
		{"life", artifactLife},
		{"contents", artifactContents},
		{"keys", artifactKeys},
		{"racing writers", artifactRace},
		{"cancelled", artifactCancelled},
	})
}

// artifact returns an artifact with the given key, which belongs to a pull request.
func artifact(key string) pipeline.Artifact {
	return pipeline.Artifact{Key: key, Repo: "acme/infra", Number: 7, SHA: strings.Repeat("0a", 20)}
}

func wantArtifact(t *testing.T, a pipeline.Artifacts, x pipeline.Artifact, data string) {
	t.Helper()
	got, err := a.Get(t.Context(), x)
	if err != nil || string(got) != data {
		t.Errorf("Get(%.80s): %d bytes %.40q, %v; want %d bytes %.40q", x.Key, len(got), got, err, len(data), data)
	}
}

func wantNoArtifact(t *testing.T, a pipeline.Artifacts, x pipeline.Artifact) {
	t.Helper()
	if data, err := a.Get(t.Context(), x); !errors.Is(err, pipeline.ErrNoArtifact) {
		t.Errorf("Get(%.80s): %d bytes, %v; want none", x.Key, len(data), err)
	}
}

func artifactLife(t *testing.T, a pipeline.Artifacts) {
	ctx, x := t.Context(), artifact("plan/5/7/x")
	wantNoArtifact(t, a, x)
	if err := a.Delete(ctx, x); err != nil {
		t.Errorf("nothing, deleted: %v", err)
	}
	for _, data := range []string{"one", "two, and longer", "3"} {
		if err := a.Put(ctx, x, []byte(data)); err != nil {
			t.Fatal(err)
		}
		wantArtifact(t, a, x, data)
	}
	for range 2 {
		if err := a.Delete(ctx, x); err != nil {
			t.Fatal(err)
		}
		wantNoArtifact(t, a, x)
	}
	if err := a.Put(ctx, x, []byte("again")); err != nil {
		t.Fatal(err)
	}
	wantArtifact(t, a, x, "again")
}

func artifactContents(t *testing.T, a pipeline.Artifacts) {
	for name, data := range map[string]string{
		"empty": "", "binary": "\x00\xff\r\n\x1a", "large": strings.Repeat("0123456789abcdef", 12<<20/16),
	} {
		x := artifact("plan/" + name)
		if err := a.Put(t.Context(), x, []byte(data)); err != nil {
			t.Fatal(err)
		}
		wantArtifact(t, a, x, data)
	}
}

func artifactKeys(t *testing.T, a pipeline.Artifacts) {
	keys := []string{
		"plan/a@b", "plan/a@c", "plan/A@b2", "plan/a%2Fb", "plan/a%252Fb", "plan/a+b", "plan/...", "plan/.a", "plan/'\"", "plan/?x=1&y", "plan/#1",
		"plan/a~b", "plan/ä🦊", "plan/run/5/7/a/b/c.md", "report/a@b", strings.Repeat("d/", 60) + "x",
	}
	for _, key := range keys {
		if err := a.Put(t.Context(), artifact(key), []byte(key)); err != nil {
			t.Fatalf("Put(%s): %v", key, err)
		}
	}
	for _, key := range keys {
		wantArtifact(t, a, artifact(key), key)
	}
	if err := a.Delete(t.Context(), artifact(keys[0])); err != nil {
		t.Fatal(err)
	}
	wantNoArtifact(t, a, artifact(keys[0]))
	wantArtifact(t, a, artifact(keys[1]), keys[1])
	for _, key := range []string{"../x", "/x", "a//b", "a/../b", "", "."} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the key %q was taken", key)
				}
			}()
			a.Get(t.Context(), artifact(key))
		}()
	}
}

// artifactRace checks that a reader always gets the complete value of one writer, even while several write at
// the same time.
func artifactRace(t *testing.T, a pipeline.Artifacts) {
	x := artifact("plan/race")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for range 4 {
				if err := a.Put(t.Context(), x, bytes.Repeat(fmt.Append(nil, w), 100<<10)); err != nil {
					t.Error(err)
				}
				got, err := a.Get(t.Context(), x)
				if err != nil || len(got) != 100<<10 || len(bytes.Trim(got, string(got[0]))) != 0 {
					t.Errorf("%d bytes %.20q, %v", len(got), got, err)
				}
			}
		})
	}
	wg.Wait()
}

func artifactCancelled(t *testing.T, a pipeline.Artifacts) {
	x := artifact("plan/x")
	if err := a.Put(t.Context(), x, []byte("x")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Get(ctx, x)
	for what, err := range map[string]error{"Get": err, "Put": a.Put(ctx, x, []byte("y")), "Delete": a.Delete(ctx, x)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantArtifact(t, a, x, "x")
}
