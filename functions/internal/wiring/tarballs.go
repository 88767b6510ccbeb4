package wiring

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// A tarballStore implements github.Tarballs: it stores archives of commits as artifacts, and records about
// them. It logs errors instead of returning them, because a missing archive is downloaded from GitHub.
type tarballStore struct {
	// Artifacts are the artifacts of all Apps. The archives of all Apps are in one directory. A lifecycle rule
	// of the bucket deletes them after a day.
	Artifacts pipeline.Artifacts
	// Records are the App's own records.
	Records pipeline.Records
	App     string // name of the App; "" for the first one
	Log     func(error)
}

// dir is the directory of archives among the artifacts.
const dir = "tarballs"

// tarballEntry is the content of the record for an archive.
type tarballEntry struct {
	SHA256 []byte `json:"sha256"` // of the archive
}

func recordKey(r github.Repo, sha string) string { return fmt.Sprintf("tarball/%d/%s", r.ID, sha) }

func (s tarballStore) artifact(r github.Repo, sha string) pipeline.Artifact {
	dir := dir
	if s.App != "" {
		dir += "/" + s.App
	}
	return pipeline.Artifact{Key: fmt.Sprintf("%s/%d/%s.tar.gz", dir, r.ID, sha), Repo: pipeline.Qualified(s.App, r.String()), SHA: sha}
}

// Get implements github.Tarballs.
func (s tarballStore) Get(ctx context.Context, r github.Repo, sha string) []byte {
	data, err := s.get(ctx, r, sha)
	if err != nil {
		s.Log(fmt.Errorf("the stored archive of %s at %.7s is not usable, so Lockstep fetches it from GitHub again: %w", r, sha, err))
	}
	return data
}

func (s tarballStore) get(ctx context.Context, r github.Repo, sha string) ([]byte, error) {
	rec, err := s.Records.Get(ctx, recordKey(r, sha))
	if err != nil || rec.Version == "" {
		return nil, err
	}
	var e tarballEntry
	if err := json.Unmarshal(rec.Value, &e); err != nil {
		return nil, fmt.Errorf("its record: %w", err)
	}
	data, err := s.Artifacts.Get(ctx, s.artifact(r, sha))
	if errors.Is(err, pipeline.ErrNoArtifact) {
		return nil, nil // the bucket's rule has deleted it
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(e.SHA256) {
		return nil, errors.New("the artifact is not the one that was kept")
	}
	return data, nil
}

// Put implements github.Tarballs. It writes the record after the archive, so that a record never names an
// archive that does not exist.
func (s tarballStore) Put(ctx context.Context, r github.Repo, sha string, data []byte) {
	if err := s.put(ctx, r, sha, data); err != nil {
		s.Log(fmt.Errorf("could not store the archive of %s at %.7s; the next run fetches it again: %w", r, sha, err))
	}
}

func (s tarballStore) put(ctx context.Context, r github.Repo, sha string, data []byte) error {
	rec, err := s.Records.Get(ctx, recordKey(r, sha))
	if err != nil {
		return err
	}
	if err := s.Artifacts.Put(ctx, s.artifact(r, sha), data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	_, err = s.Records.Put(ctx, rec.Key, pipeline.Encode(tarballEntry{sum[:]}), rec.Version)
	if errors.Is(err, pipeline.ErrConflict) {
		return nil // another process has stored it
	}
	return err
}
