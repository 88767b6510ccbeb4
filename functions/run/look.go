package run

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Look is what was found when the head of a pull request was looked at last: what the
// status says of it beside its runs.
type Look struct {
	Pull              Pull
	Head, Base, Merge string
	// Conflict says that Head cannot be merged into Base; Problem, in Markdown, why the
	// projects are not known.
	Conflict bool   `json:",omitempty"`
	Problem  string `json:",omitempty"`
	// Notes are sentences for people, in Markdown.
	Notes []string `json:",omitempty"`
}

func lookKey(p Pull) string { return fmt.Sprintf("pull/%d/%d", p.Repo.ID, p.Number) }

// saveLook writes what was found. Those who look at a pull request do so one after the
// other, and the last one has seen the newest.
func (t *task) saveLook(ctx context.Context, l Look) error {
	_, err := t.change(ctx, lookKey(l.Pull), func([]byte) ([]byte, error) { return encode(l), nil })
	return err
}

// LastLook returns what was found last; the zero value if nobody looked.
func (p *Pipeline) LastLook(ctx context.Context, pull Pull) (Look, error) {
	rec, err := p.Records.Get(ctx, lookKey(pull))
	if err != nil || rec.Version == "" {
		return Look{}, err
	}
	return decodeLook(rec)
}

func decodeLook(rec Record) (Look, error) {
	var l Look
	if err := json.Unmarshal(rec.Value, &l); err != nil {
		return l, fmt.Errorf("read %s: the record is damaged: %w", rec.Key, err)
	}
	return l, nil
}
