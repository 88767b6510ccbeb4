package simulation

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
)

// records are the table and the bucket of all processes.
type records struct {
	table     map[string]pipeline.Record
	bucket    map[string][]byte
	lastWrite int
}

// table is the pipeline.Records of one process.
type table struct{ *process }

func (t table) Get(ctx context.Context, key string) (r pipeline.Record, err error) {
	err = t.do(ctx, "get "+key, func() error {
		r = t.s.table[key]
		r.Key = key
		return nil
	})
	return r, err
}

func (t table) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (v pipeline.Version, err error) {
	err = t.do(ctx, "put "+key, func() error {
		if t.s.table[key].Version != prev {
			return fmt.Errorf("put %s: %w", key, pipeline.ErrConflict)
		}
		t.s.lastWrite++
		v = pipeline.Version(strconv.Itoa(t.s.lastWrite))
		t.s.table[key] = pipeline.Record{Key: key, Value: slices.Clone(value), Version: v}
		return nil
	})
	if err != nil {
		v = ""
	}
	return v, err
}

func (t table) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	return t.do(ctx, "delete "+key, func() error {
		if t.s.table[key].Version != prev {
			return fmt.Errorf("delete %s: %w", key, pipeline.ErrConflict)
		}
		delete(t.s.table, key)
		return nil
	})
}

func (t table) List(ctx context.Context, dir string) (out []pipeline.Record, err error) {
	err = t.do(ctx, "list "+dir, func() error {
		out = t.s.list(dir)
		return nil
	})
	return out, err
}

// list returns the records of a directory, sorted by key.
func (r *records) list(dir string) []pipeline.Record {
	var out []pipeline.Record
	for key, rec := range r.table {
		if path.Dir(key) == dir {
			out = append(out, rec)
		}
	}
	slices.SortFunc(out, func(a, b pipeline.Record) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// bucket is the pipeline.Artifacts of one process.
type bucket struct{ *process }

func (b bucket) Put(ctx context.Context, a pipeline.Artifact, data []byte) error {
	return b.do(ctx, "put artifact "+a.Key, func() error {
		b.s.bucket[a.Key] = slices.Clone(data)
		return nil
	})
}

func (b bucket) Get(ctx context.Context, a pipeline.Artifact) (data []byte, err error) {
	err = b.do(ctx, "get artifact "+a.Key, func() error {
		var ok bool
		if data, ok = b.s.bucket[a.Key]; !ok {
			return fmt.Errorf("get %s: %w", a.Key, pipeline.ErrNoArtifact)
		}
		return nil
	})
	return data, err
}

func (b bucket) Delete(ctx context.Context, a pipeline.Artifact) error {
	return b.do(ctx, "delete artifact "+a.Key, func() error {
		delete(b.s.bucket, a.Key)
		return nil
	})
}
