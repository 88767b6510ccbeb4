package wiring

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
)

// For returns the World of the App with this name. For the first App, that is w itself. The World of any other
// App can use only that App's own part of the stores. For reads the App's private key, so the caller should
// keep the result.
func (w *World) For(ctx context.Context, name string) (*World, error) {
	if name == string(w.Space) {
		return w, nil
	}
	a, ok := w.Apps.Named(name)
	if !ok {
		return nil, &UnknownAppError{name}
	}
	x := *w
	x.Space = tenants.Space(a.Name)
	x.AppID, x.GitHubURL, x.AppKeySecret = a.ID, a.URL, applist.KeySecret(w.AppsSecrets, a.Name)
	x.Serves, x.Intake, x.Artifacts = a.Owners(), w.intakeOf(a), x.Space.Artifacts(w.Artifacts)
	// This App may belong to a different GitHub server than the first App, with repositories of the same names.
	// So the first App's patterns for states that repositories own do not apply to it.
	x.OwnStates = nil
	x.PageURL = "" // the page shows the first App only
	if w.tarballs != nil {
		own := *w.tarballs
		own.Records, own.App = x.Intake.Records, a.Name
		x.tarballs = &own
	}
	x.Secrets = slices.Clone(w.Secrets)
	if err := x.openApp(ctx); err != nil {
		return nil, fmt.Errorf("the App %q: %w", name, err)
	}
	return &x, nil
}

// An UnknownAppError reports that a message is for an App that this deployment does not have. The message is
// not handled.
type UnknownAppError struct{ Name string }

// Error implements error.
func (e *UnknownAppError) Error() string {
	return fmt.Sprintf("the App %q is no longer in the parameter Apps of the stack: add it again, so that its remaining work is done", e.Name)
}

// intakeOf returns the intake of an additional App. It is not called for the first App.
func (w *World) intakeOf(a applist.App) *intake.Intake {
	space := tenants.Space(a.Name)
	return &intake.Intake{Records: space.Records(w.Intake.Records), Queue: space.Queue(w.Intake.Queue), Serves: a.Owners(), Log: w.Intake.Log}
}
