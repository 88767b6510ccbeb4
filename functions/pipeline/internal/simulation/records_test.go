package simulation

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/ledger"
	"github.com/lockstep-iac/lockstep/functions/pipeline/internal/memory"
)

// records are the table and the bucket of all processes.
type records struct {
	memory.Store
	numbers int
	locked  map[string]time.Time // the first write of a person's lock, by its key and content
	told    map[string]bool      // the applies of which nobody knows the end, as people were told, by jobs.Job.Run
}

// A call that a process has begun happens, whatever becomes of its context.
var kept = context.WithoutCancel

// table is the pipeline.Records of one process.
type table struct{ *process }

func (t table) Get(ctx context.Context, key string) (r pipeline.Record, err error) {
	err = t.do(ctx, "get "+key, func() (err error) {
		r, err = t.s.records.Get(kept(ctx), key)
		return err
	})
	return r, err
}

func (t table) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (v pipeline.Version, err error) {
	err = t.do(ctx, "put "+key, func() (err error) {
		v, err = t.s.records.Put(kept(ctx), key, value, prev)
		if _, known := t.s.records.locked[key+string(value)]; err == nil && !known && strings.HasPrefix(key, "lock/") {
			t.s.records.locked[key+string(value)] = time.Now()
		}
		if err == nil && strings.HasPrefix(key, "run/") && bytes.Contains(value, []byte(`"Lost":true`)) {
			r, err := ledger.DecodeRun(pipeline.Record{Key: key, Value: value})
			t.s.records.told[fmt.Sprintf("%s/%d", r.Key(), r.Asked.Try)] = err == nil
		}
		return err
	})
	if err != nil {
		v = ""
	}
	return v, err
}

func (t table) Delete(ctx context.Context, key string, prev pipeline.Version) error {
	return t.do(ctx, "delete "+key, func() error { return t.s.records.Delete(kept(ctx), key, prev) })
}

func (t table) List(ctx context.Context, dir string) (out []pipeline.Record, err error) {
	err = t.do(ctx, "list "+dir, func() (err error) {
		out, err = t.s.records.List(kept(ctx), dir)
		return err
	})
	return out, err
}

// bucket is the pipeline.Artifacts of one process.
type bucket struct{ *process }

func (b bucket) Put(ctx context.Context, a pipeline.Artifact, data []byte) error {
	return b.do(ctx, "put artifact "+a.Key, func() error { return b.s.Artifacts().Put(kept(ctx), a, data) })
}

func (b bucket) Get(ctx context.Context, a pipeline.Artifact) (data []byte, err error) {
	err = b.do(ctx, "get artifact "+a.Key, func() (err error) {
		data, err = b.s.Artifacts().Get(kept(ctx), a)
		return err
	})
	return data, err
}

func (b bucket) Delete(ctx context.Context, a pipeline.Artifact) error {
	return b.do(ctx, "delete artifact "+a.Key, func() error { return b.s.Artifacts().Delete(kept(ctx), a) })
}
