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
	chains  memory.Chains // of audit records
	numbers int
	locked  map[string]time.Time // the first write of a person's lock, by its key and content
	told    map[string]bool      // the applies of which nobody knows the end, as people were told, by jobs.Job.Run
}

// gate lets an effect of a process happen when its turn has come. A call that the process has begun happens, whatever becomes of
// its context.
func (p *process) gate(ctx context.Context, x memory.Effect, do func(context.Context) error) error {
	return p.do(ctx, x.Call, func() error { return do(context.WithoutCancel(ctx)) })
}

// Put implements [pipeline.Records].
func (r *records) Put(ctx context.Context, key string, value []byte, prev pipeline.Version) (pipeline.Version, error) {
	v, err := r.Store.Put(ctx, key, value, prev)
	if _, known := r.locked[key+string(value)]; err == nil && !known && strings.HasPrefix(key, "lock/") {
		r.locked[key+string(value)] = time.Now()
	}
	if err == nil && strings.HasPrefix(key, "run/") && bytes.Contains(value, []byte(`"Lost":true`)) {
		run, err := ledger.DecodeRun(pipeline.Record{Key: key, Value: value})
		r.told[fmt.Sprintf("%s/%d", run.Key(), run.Asked.Try)] = err == nil
	}
	return v, err
}
