package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/github"
)

// Served decides whether a repository is served. If it is served, the names of the repository and of its owner
// are recorded with their IDs, and are served only for these IDs from then on. Each message is checked before
// anything of its repository is read: on receipt by the names alone, and again when it is handled.
func (p *Intake) Served(ctx context.Context, r github.Repo) (Service, error) {
	if by := p.Serves.Decide(r, Known{}); !by.Allowed() {
		return by, nil // no records for repositories that are not served
	}
	owner := "served/" + strings.ToLower(r.Owner)
	name := owner + "/" + strings.ToLower(r.Name)
	for {
		var k Known
		wasOwner, err := p.known(ctx, owner, &k.Owner)
		if err != nil {
			return Service{}, err
		}
		wasName, err := p.known(ctx, name, &k.Repo)
		if err != nil {
			return Service{}, err
		}
		s := p.Serves.Decide(r, k)
		if !s.Allowed() || s.Known == k {
			return s, nil
		}
		if s.Known.Owner != k.Owner {
			_, err = p.Records.Put(ctx, owner, pipeline.Encode(s.Known.Owner), wasOwner)
		}
		if err == nil && s.Known.Repo != k.Repo {
			_, err = p.Records.Put(ctx, name, pipeline.Encode(s.Known.Repo), wasName)
		}
		if !errors.Is(err, pipeline.ErrConflict) { // the first process has recorded whose name it is
			return s, err
		}
	}
}

// known reads the ID that a name belongs to, if there is one.
func (p *Intake) known(ctx context.Context, key string, id *int64) (pipeline.Version, error) {
	rec, err := p.Records.Get(ctx, key)
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, id); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", key, err)
		}
	}
	return rec.Version, err
}

// NotServed returns the error for the log about a repository that is not served.
func NotServed(r github.Repo, s Service) error {
	return fmt.Errorf("%s is not served: %s", r, s.Refused.Reason())
}

func (p *Intake) log(err error) {
	if p.Log != nil {
		p.Log(err)
	}
}
