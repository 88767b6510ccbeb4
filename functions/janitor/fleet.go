package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/assembly"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
)

// A fleet has the janitors of all Apps. If the janitor of one App cannot be made, the others still work.
type fleet struct {
	world *wiring.World
	known map[string]*reconcile.Janitor // by the names of Apps
}

// janitorOf returns the janitor of an App. The App's key is read only at the first call.
func (f *fleet) janitorOf(ctx context.Context, name string) (*reconcile.Janitor, error) {
	if j := f.known[name]; j != nil {
		return j, nil
	}
	w, err := f.world.For(ctx, name)
	if err != nil {
		return nil, err
	}
	parts := assembly.Parts{App: w.App, Intake: w.Intake, Artifacts: w.Artifacts, Where: w.Where, Secrets: w.Secrets, Deployment: w.Deployment}
	f.known[name] = parts.Janitor(parts.Pipeline())
	return f.known[name], nil
}

// abandon gives up a dead letter, with the rights of its App. If the deployment no longer has that App, it only
// logs the message, because nobody can be informed.
func (f *fleet) abandon(ctx context.Context, m pipeline.Message) error {
	j, err := f.janitorOf(ctx, m.Pull.App)
	if errors.As(err, new(*wiring.UnknownAppError)) {
		f.world.Log.Error("dropped a dead letter without a report", "id", m.ID, "error", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return j.Pipeline.Abandon(ctx, m, dispatch.Exhausted)
}

// one makes the round of one App's janitor. left is the number of Apps that still have to share the remaining
// time, including this one.
func (f *fleet) one(ctx context.Context, name string, left int) (reconcile.Found, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	j, err := f.janitorOf(ctx, name)
	if err != nil {
		return reconcile.Found{}, err
	}
	return j.Round(ctx, time.Now())
}

// round makes the rounds of all Apps. Each App gets an equal share of the remaining time, so a server that does
// not answer delays only its own App.
func (f *fleet) round(ctx context.Context) (all reconcile.Found, err error) {
	names := []string{""}
	for _, a := range f.world.Apps {
		names = append(names, a.Name)
	}
	var errs []error
	for i, name := range names {
		found, err := f.one(ctx, name, len(names)-i)
		all.Add(found)
		if err != nil && name != "" {
			err = fmt.Errorf("the App %q: %w", name, err)
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}
