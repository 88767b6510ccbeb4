package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
)

// PutAddress records the address of the state of a run as that of its project in the base branch, or of its last apply. One that is
// not in a bucket is not recorded: it is made of the project's name.
func PutAddress(ctx context.Context, ld Ledger, r runs.Run) error {
	if len(runs.StateNames(r.Place, r.Target())) == 1 {
		return nil
	}
	former, err := addressOf(ctx, ld, r.Pull.Repo.ID, r.Target())
	if err != nil || former == r.Place {
		return err
	}
	if err := moveLast(ctx, ld, r, former); err != nil {
		return err
	}
	_, err = ld.Change(ctx, runs.AddressKey(r.Pull.Repo.ID, r.Target()), func([]byte) ([]byte, error) {
		return pipeline.Encode(r.Place), nil
	})
	return err
}

// addressOf returns the recorded address of the state of a target's project; "" if there is none.
func addressOf(ctx context.Context, ld Ledger, repo int64, target string) (place string, err error) {
	rec, err := ld.Records.Get(ctx, runs.AddressKey(repo, target))
	if err != nil || rec.Version == "" {
		return "", err
	}
	if err := json.Unmarshal(rec.Value, &place); err != nil {
		return "", fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return place, nil
}

// moveLast has an apply that is not merged count for a project's new address, too: its objects are in the state that was brought
// there. Whether it is settled by now is looked up where it is in the way.
func moveLast(ctx context.Context, ld Ledger, r runs.Run, former string) error {
	if former == "" {
		return nil
	}
	last, err := lastOf(ctx, ld, r.Pull.Repo.ID, runs.StateNames(former, r.Target())[:1])
	if err != nil || last == nil || last.Settled {
		return err
	}
	_, err = ld.Change(ctx, r.StateKey(), func(old []byte) ([]byte, error) {
		if old != nil {
			return nil, ErrAsIs
		}
		return pipeline.Encode(last), nil
	})
	return err
}

// namesOf returns the names of the state of a run: see [runs.StateNames]. That of a run without a plan is where its project's was.
func namesOf(ctx context.Context, ld Ledger, r runs.Run) ([]string, error) {
	return namesAt(ctx, ld, r.Pull.Repo.ID, r.Place, r.Target())
}

// namesAt returns the names of the state at a place, by places.Place.String; "" is that of a target's project.
func namesAt(ctx context.Context, ld Ledger, repo int64, place, target string) ([]string, error) {
	if place == "" {
		var err error
		if place, err = addressOf(ctx, ld, repo, target); err != nil {
			return nil, err
		}
	}
	return runs.StateNames(place, target), nil
}

// keysOf returns the keys of records about the state of a run, that of new ones first.
func keysOf(ctx context.Context, ld Ledger, r runs.Run, key func(repo int64, name string) string) ([]string, error) {
	names, err := namesOf(ctx, ld, r)
	for i, name := range names {
		names[i] = key(r.Pull.Repo.ID, name)
	}
	return names, err
}
