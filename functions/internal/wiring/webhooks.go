package wiring

import (
	"context"
	"net/http"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/roster"
)

// Webhooks are the addresses for webhooks of all Apps. At each the signatures of its own App count, and no other: a
// delivery is of the App whose address it came to, whatever is in it. It may be used by many goroutines.
type Webhooks struct {
	apps  roster.Roster
	first intake.Webhook
	// open makes that of another App, for which it reads the App's secret.
	open  func(context.Context, roster.App) (intake.Webhook, error)
	log   func(error)
	mu    sync.Mutex
	known map[string]intake.Webhook
}

// Webhooks returns the addresses.
func (w *World) Webhooks() *Webhooks {
	log := func(err error) { w.Log.Error("not received", "error", err.Error()) }
	return &Webhooks{
		apps: w.Apps, log: log, first: intake.Webhook{Intake: w.Intake, Secrets: w.WebhookSecrets, Log: log},
		open: func(ctx context.Context, a roster.App) (intake.Webhook, error) {
			secrets, err := webhookSecrets(ctx, w.AWS, roster.HookSecret(w.AppsSecrets, a.Name))
			return intake.Webhook{Intake: w.intakeOf(a), Secrets: secrets, Log: log}, err
		},
	}
}

// Answer answers a webhook that came to a path, as intake.Webhook does. A secret is read at the first webhook of its App:
// one that cannot be read is in no other App's way.
func (x *Webhooks) Answer(ctx context.Context, path string, header http.Header, body []byte) (status int, text string) {
	name, ok := x.apps.HookOf(path)
	if !ok {
		return http.StatusNotFound, "there is no App of this name here"
	}
	h, err := x.of(ctx, name)
	if err != nil {
		x.log(err)
		return http.StatusServiceUnavailable, "it cannot be checked now; deliver it again"
	}
	return h.Answer(ctx, header, body)
}

func (x *Webhooks) of(ctx context.Context, name string) (intake.Webhook, error) {
	if name == "" {
		return x.first, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if h, ok := x.known[name]; ok {
		return h, nil
	}
	a, _ := x.apps.Named(name)
	h, err := x.open(ctx, a)
	if err != nil {
		return h, err
	}
	if x.known == nil {
		x.known = map[string]intake.Webhook{}
	}
	x.known[name] = h
	return h, nil
}
