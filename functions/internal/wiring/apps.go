package wiring

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
)

// For returns the world of an App by its name, from that of the first one, w: w itself if it is that. The world of another App
// reaches the App's own part of the stores alone. It reads the App's key: keep the result.
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
	// Its repositories have names that are another's, too: no pattern makes states of these.
	x.OwnStates = nil
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

// An UnknownAppError is the reason why a message of an App is not handled: the deployment does not have it.
type UnknownAppError struct{ Name string }

// Error implements error.
func (e *UnknownAppError) Error() string {
	return fmt.Sprintf("the App %q is no longer in the parameter Apps of the stack: add it again, so that its remaining work is done", e.Name)
}

// intakeOf is the intake of an App beside the first one.
func (w *World) intakeOf(a applist.App) *intake.Intake {
	space := tenants.Space(a.Name)
	return &intake.Intake{Records: space.Records(w.Intake.Records), Queue: space.Queue(w.Intake.Queue), Serves: a.Owners(), Log: w.Intake.Log}
}
