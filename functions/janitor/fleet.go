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

// A fleet is the janitors of all Apps. One that cannot be had is in no other's way.
type fleet struct {
	world *wiring.World
	known map[string]*reconcile.Janitor // by the names of Apps
}

// of returns the janitor of an App, which reads the App's key once.
func (f *fleet) of(ctx context.Context, name string) (*reconcile.Janitor, error) {
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

// abandon gives a dead letter up, with the App that it is of. Of an App that is not there any more nobody can be told.
func (f *fleet) abandon(ctx context.Context, m pipeline.Message) error {
	j, err := f.of(ctx, m.Pull.App)
	if errors.As(err, new(*wiring.UnknownAppError)) {
		f.world.Log.Error("dropped a dead letter without a report", "id", m.ID, "error", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return j.Pipeline.Abandon(ctx, m, dispatch.Exhausted)
}

// one goes round the installations of an App, the first of some that have to share the time that is left.
func (f *fleet) one(ctx context.Context, name string, left int) (reconcile.Found, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	j, err := f.of(ctx, name)
	if err != nil {
		return reconcile.Found{}, err
	}
	return j.Round(ctx, time.Now())
}

// round goes round the installations of all Apps: a server that does not answer takes its own part of the time.
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
