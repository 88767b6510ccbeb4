// Package tenants lets several GitHub Apps share the stores of one deployment, for example the Apps of several
// organizations and servers.
//
// The IDs of repositories, installations and comments are unique on one server only; another server can have
// the same IDs. So each App except the first has a separate [Space], under a name that the operator chooses.
// The keys of the App's records, artifacts and messages contain this name. So no App can access those of
// another App by mistake. Only the claims on addresses of states are common to all Apps, because states are
// common, too. Each claim names the App of its owner.
//
// The first App has no name, and uses the stores directly. This package does not know what is stored. Start
// reading at [Space].
package tenants

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/places"
)

// A Space is the name of an App other than the first.
type Space string

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Check returns an error, a sentence for people, if a text is not a valid name of an App.
func (s Space) Check() error {
	if !namePattern.MatchString(string(s)) {
		return fmt.Errorf("%q is not the name of an App: small letters, digits and -, at most 40, a letter or digit first", string(s))
	}
	return nil
}

// Records returns the App's part of the records.
func (s Space) Records(all pipeline.Records) pipeline.Records { return records{all, s} }

// Artifacts returns the App's part of the artifacts.
func (s Space) Artifacts(all pipeline.Artifacts) pipeline.Artifacts { return artifacts{all, s} }

// Queue returns a queue for the App's messages. The handlers recognize these messages by Pull.App.
func (s Space) Queue(all pipeline.Queue) pipeline.Queue { return queue{all, s} }

// mark is the prefix of the segment with the App's name. That segment is the second one of a key. No ID and no
// name of a repository begins with mark.
const mark = "~"

type records struct {
	all pipeline.Records
	s   Space
}

// key returns a key, or the directory of one, in the records of all Apps. The first segment is the collection.
func (r records) key(key string) string {
	if places.IsClaim(key) {
		return key
	}
	collection, rest, deeper := strings.Cut(key, "/")
	key = collection + "/" + mark + string(r.s)
	if deeper {
		key += "/" + rest
	}
	return key
}

// Get implements pipeline.Records.
func (r records) Get(ctx context.Context, key string) (pipeline.Record, error) {
	rec, err := r.all.Get(ctx, r.key(key))
	rec.Key = key
	return rec, err
}

// Put implements pipeline.Records.
func (r records) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	return r.all.Put(ctx, r.key(key), value, prev)
}

// Delete implements pipeline.Records.
func (r records) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	return r.all.Delete(ctx, r.key(key), prev)
}

// List implements pipeline.Records.
func (r records) List(ctx context.Context, dir string) ([]pipeline.Record, error) {
	list, err := r.all.List(ctx, r.key(dir))
	for i := range list {
		list[i].Key = dir + strings.TrimPrefix(list[i].Key, r.key(dir))
	}
	return list, err
}

type artifacts struct {
	all pipeline.Artifacts
	s   Space
}

// Artifact returns the artifact with the key and the owner that it has among the artifacts of all Apps.
// Artifacts of the first App are returned unchanged.
func (s Space) Artifact(a pipeline.Artifact) pipeline.Artifact {
	if s == "" {
		return a
	}
	a.Key = mark + string(s) + "/" + a.Key
	a.Repo = pipeline.Qualified(string(s), a.Repo)
	return a
}

// Put implements pipeline.Artifacts.
func (x artifacts) Put(ctx context.Context, a pipeline.Artifact, data []byte) error {
	return x.all.Put(ctx, x.s.Artifact(a), data)
}

// Get implements pipeline.Artifacts.
func (x artifacts) Get(ctx context.Context, a pipeline.Artifact) ([]byte, error) {
	return x.all.Get(ctx, x.s.Artifact(a))
}

// Delete implements pipeline.Artifacts.
func (x artifacts) Delete(ctx context.Context, a pipeline.Artifact) error {
	return x.all.Delete(ctx, x.s.Artifact(a))
}

type queue struct {
	all pipeline.Queue
	s   Space
}

// Ahead returns how many of the App's plans come before a plan that is sent now. [pipeline.Ahead] calls this
// method.
func (q queue) Ahead(ctx context.Context, about pipeline.Pull) (int, error) {
	about.App = string(q.s)
	return pipeline.Ahead(ctx, q.all, about)
}

// Send implements pipeline.Queue.
func (q queue) Send(ctx context.Context, m pipeline.Message) error {
	m.Pull.App = string(q.s)
	return q.all.Send(ctx, m)
}
