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

// Served decides whether Lockstep works for a repository. If so, it records the names of the repository and of
// its owner together with their IDs. From then on, these names count only with these IDs. Each message is
// checked before anything of its repository is read: when the webhook arrives (only the names), and once more
// when the message is handled.
func (p *Intake) Served(ctx context.Context, r github.Repo) (Service, error) {
	if by := p.Serves.Decide(r, Known{}); !by.Allowed() {
		return by, nil // no records for repositories that are not served
	}
	owner, name := servedKeys(r.Owner, r.Name)
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

// servedKeys returns the keys of the records with the IDs of an owner and of a repository.
func servedKeys(owner, name string) (ownerKey, repoKey string) {
	ownerKey = "served/" + strings.ToLower(owner)
	return ownerKey, ownerKey + "/" + strings.ToLower(name)
}

// KnownID returns the ID of the repository that had a name when Lockstep first worked for it; 0 if there is none. owner
// and name must be valid names of GitHub.
func (p *Intake) KnownID(ctx context.Context, owner, name string) (id int64, err error) {
	_, key := servedKeys(owner, name)
	_, err = p.known(ctx, key, &id)
	return id, err
}

// known reads the ID that is recorded for a name into id. If there is no record, id stays unchanged.
func (p *Intake) known(ctx context.Context, key string, id *int64) (pipeline.Version, error) {
	rec, err := p.Records.Get(ctx, key)
	if err == nil && rec.Version != "" {
		if err = json.Unmarshal(rec.Value, id); err != nil {
			err = fmt.Errorf("read %s: the record is damaged: %w", key, err)
		}
	}
	return rec.Version, err
}

// NotServed returns an error for the log: Lockstep does not work for the repository, for the reason in s.
func NotServed(r github.Repo, s Service) error {
	return fmt.Errorf("%s is not served: %s", r, s.Refused.Reason())
}

func (p *Intake) log(err error) {
	if p.Log != nil {
		p.Log(err)
	}
}
