package wiring

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
)

// troubled are stores that can fail.
type troubled struct {
	pipeline.Artifacts
	pipeline.Records
	artifact, record error
}

func (x *troubled) Get(ctx context.Context, key string) (pipeline.Record, error) {
	if x.record != nil {
		return pipeline.Record{}, x.record
	}
	return x.Records.Get(ctx, key)
}

func (x *troubled) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	return x.Records.Put(ctx, key, value, prev)
}

func (x *troubled) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	return x.Records.Delete(ctx, key, prev)
}

type troubledArtifacts struct{ *troubled }

func (x troubledArtifacts) Get(ctx context.Context, a pipeline.Artifact) ([]byte, error) {
	if x.artifact != nil {
		return nil, x.artifact
	}
	return x.Artifacts.Get(ctx, a)
}

func (x troubledArtifacts) Put(ctx context.Context, a pipeline.Artifact, data []byte) error {
	if x.artifact != nil {
		return x.artifact
	}
	return x.Artifacts.Put(ctx, a, data)
}

func (x troubledArtifacts) Delete(ctx context.Context, a pipeline.Artifact) error {
	return x.Artifacts.Delete(ctx, a)
}

const sha = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

var repo = github.Repo{ID: 5, Owner: "acme", Name: "infra"}

// TestStore holds that an archive comes back as it was kept, or not at all: never another repository's, commit's or App's,
// and never one that was cut or exchanged.
func TestStore(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	var said []string
	stores := &troubled{Artifacts: data.Artifacts, Records: data.Records}
	s := tarballStore{Artifacts: troubledArtifacts{stores}, Records: stores, Log: func(err error) { said = append(said, err.Error()) }}
	get := func(what string, s tarballStore, r github.Repo, sha, want, words string) {
		t.Helper()
		said = nil
		if got := string(s.Get(t.Context(), r, sha)); got != want {
			t.Errorf("%s: %q", what, got)
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, words) || words == "" && all != "" {
			t.Errorf("%s: the log has %q", what, all)
		}
	}
	get("nothing", s, repo, sha, "", "")
	s.Put(t.Context(), repo, sha, []byte("the archive"))
	get("the archive", s, repo, sha, "the archive", "")
	get("under another name", s, github.Repo{ID: 5, Owner: "acme", Name: "renamed"}, sha, "the archive", "")
	get("another repository", s, github.Repo{ID: 6, Owner: "acme", Name: "infra"}, sha, "", "")
	s.Put(t.Context(), github.Repo{ID: 6, Owner: "acme", Name: "infra"}, sha, []byte("of the next repository of the name"))
	get("beside another repository's", s, repo, sha, "the archive", "")
	get("another commit", s, repo, strings.Repeat("0b", 20), "", "")
	ghes := s
	ghes.App = "ghes"
	ghes.Put(t.Context(), repo, sha, []byte("of ghes")) // with records of its own it would not even know the first one's
	if got, err := data.Artifacts.Get(t.Context(), s.artifact(repo, sha)); err != nil || string(got) != "the archive" {
		t.Errorf("another App has written %q, %v", got, err)
	}

	s.Put(t.Context(), repo, sha, []byte("the archive"))
	for what, forged := range map[string]string{"exchanged": "another one", "cut": "the arch", "empty": ""} {
		if err := data.Artifacts.Put(t.Context(), s.artifact(repo, sha), []byte(forged)); err != nil {
			t.Fatal(err)
		}
		get(what, s, repo, sha, "", "the stored archive of acme/infra at 0a0a0a0 is not usable, so Lockstep fetches it from GitHub again: the artifact is not the one that was kept")
	}
	s.Put(t.Context(), repo, sha, []byte("a newer one"))
	get("put again", s, repo, sha, "a newer one", "")
	if err := data.Artifacts.Delete(t.Context(), s.artifact(repo, sha)); err != nil {
		t.Fatal(err)
	}
	get("its day is over", s, repo, sha, "", "")

	stores.artifact = errors.New("access denied")
	get("a bucket that is closed", s, repo, sha, "", "again: access denied")
	said = nil
	s.Put(t.Context(), repo, sha, []byte("x"))
	if len(said) != 1 || !strings.Contains(said[0], "the next run fetches it again: access denied") {
		t.Errorf("%q", said)
	}
	stores.record = errors.New("no table")
	get("no table", s, repo, sha, "", "again: no table")
}
