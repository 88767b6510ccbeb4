package engine

import (
	"context"
	"time"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/internal/querying"
)

// QueryOptions say what a query generates, and who gets its results.
type QueryOptions struct {
	// Generate asks for the resource and import blocks of each object.
	Generate bool
	// Tell is called for each step, one at a time, as soon as it is known. It returns false to end the query.
	Tell func(events.Query) bool
}

// Query finds existing objects with the list blocks of a configuration. The caller must have loaded the
// configuration together with its query files (*.tfquery.hcl and *.tfquery.json). Query needs no state and
// changes nothing.
func Query(ctx context.Context, r Run, o QueryOptions) (ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, 0)
	defer end()
	a, ds := r.valid(ctx, nil)
	if ds.HasErrors() {
		return ds
	}
	return append(ds, querying.Query(ctx, querying.Input{
		Environment: r.environment(ctx, a, r.functions(time.Now().UTC())), Variables: r.Variables, Generate: o.Generate, Tell: o.Tell,
	})...).Distinct()
}

// ValidateQuery is [Validate] for a configuration with query files. It also validates the list blocks.
func ValidateQuery(ctx context.Context, r Run) (ds diags.Diagnostics) {
	r, end := r.within(ctx, &ds, 0)
	defer end()
	a, ds := r.valid(ctx, nil)
	if a.refs.Cyclic() {
		return ds
	}
	return append(ds, querying.Validate(ctx, querying.Input{Environment: r.environment(ctx, a, r.functions(time.Now().UTC()))})...).Distinct()
}
