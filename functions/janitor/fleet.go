package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-iac/lockstep/functions/assembly"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
)

// A fleet has the janitors of all Apps. If one App's janitor cannot be created, the other janitors still work.
type fleet struct {
	world *wiring.World
	known map[string]*reconcile.Janitor // by the names of Apps
}

// janitorOf returns the janitor of an App. At the first call for an App, it reads the App's private key.
func (f *fleet) janitorOf(ctx context.Context, name string) (*reconcile.Janitor, error) {
	if j := f.known[name]; j != nil {
		return j, nil
	}
	w, err := f.world.For(ctx, name)
	if err != nil {
		return nil, err
	}
	parts := assembly.Parts{App: w.App, Intake: w.Intake, Artifacts: w.Artifacts, Where: w.Where, PageURL: w.PageURL, Secrets: w.Secrets, Deployment: w.Deployment}
	f.known[name] = parts.Janitor(parts.Pipeline())
	return f.known[name], nil
}

// abandon gives up a message whose handling failed too often. It uses the rights of the message's App. If the
// deployment no longer has this App, abandon only logs the message, because nobody can be informed.
func (f *fleet) abandon(ctx context.Context, m pipeline.Message) error {
	j, err := f.janitorOf(ctx, m.Pull.App)
	if errors.As(err, new(*wiring.UnknownAppError)) {
		f.world.Log.Error("dropped a dead letter without a report", "id", m.ID, "error", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	f.world.Measure.Observe(metrics.DeadLetters, 1, string(m.Kind))
	return j.Pipeline.Abandon(ctx, m, dispatch.Exhausted)
}

// one runs the janitor of one App once. left is the number of Apps, including this one, among which the
// remaining time is divided.
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

// round runs the janitor of each App once. The remaining time is divided equally. So a GitHub server that does
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
