package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// A Look is the result of the last look at the head of a pull request: the contents of the status
// beside the runs.
type Look struct {
	Pull              pipeline.Pull
	Head, Base, Merge string
	// Conflict is set if Head cannot be merged into Base. Problem, in Markdown, is the reason that
	// the projects are unknown. Checked is set if a check run of Head shows a problem, present or
	// solved.
	Conflict bool   `json:",omitempty"`
	Problem  string `json:",omitempty"`
	Checked  bool   `json:",omitempty"`
	// Notes are sentences for people, in Markdown.
	Notes []string `json:",omitempty"`
}

func lookKey(p pipeline.Pull) string { return fmt.Sprintf("pull/%d/%d", p.Repo.ID, p.Number) }

// SaveLook writes a look. Looks at a pull request are made one after the other: the last one is the
// newest.
func (ld Ledger) SaveLook(ctx context.Context, l Look) error {
	_, err := ld.Change(ctx, lookKey(l.Pull), func(old []byte) ([]byte, error) {
		if old != nil {
			was, err := decodeLook(pipeline.Record{Key: lookKey(l.Pull), Value: old})
			if err != nil {
				return nil, err
			}
			l.Checked = l.Checked || was.Checked && was.Head == l.Head
		}
		return pipeline.Encode(l), nil
	})
	return err
}

// LastLook returns the last look, zero if there was none.
func (ld Ledger) LastLook(ctx context.Context, pull pipeline.Pull) (Look, error) {
	rec, err := ld.Records.Get(ctx, lookKey(pull))
	if err != nil || rec.Version == "" {
		return Look{}, err
	}
	return decodeLook(rec)
}

func decodeLook(rec pipeline.Record) (Look, error) {
	var l Look
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return l, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return l, nil
}
