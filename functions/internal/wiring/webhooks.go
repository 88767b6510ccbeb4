package wiring

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
)

// Webhooks are the addresses for webhooks of all Apps. At each address only the signatures of its own App
// count: a delivery belongs to the App whose address it came to, whatever it contains. Many goroutines may use
// it.
type Webhooks struct {
	apps applist.List
	// first makes the webhook of the first App, and open that of another App. They read the App's secret.
	first func(context.Context) (intake.Webhook, error)
	open  func(context.Context, applist.App) (intake.Webhook, error)
	log   func(error)
	mu    sync.Mutex
	known map[string]known
}

// A known address is one whose secrets were read at a time.
type known struct {
	intake.Webhook
	at time.Time
}

// secretAge is how long a secret is used before it is read again. So a secret that was replaced, because
// somebody else knows it, is useless after that time, however long the process lives.
const secretAge = 5 * time.Minute

// Webhooks returns the addresses.
func (w *World) Webhooks() *Webhooks {
	log := func(err error) { w.Log.Error("not received", "error", err.Error()) }
	return &Webhooks{
		apps: w.Apps, log: log, known: map[string]known{"": {intake.Webhook{Intake: w.Intake, Secrets: w.WebhookSecrets, Log: log}, time.Now()}},
		first: func(ctx context.Context) (intake.Webhook, error) {
			secrets, err := webhookSecrets(ctx, w.AWS, w.WebhookSecret)
			return intake.Webhook{Intake: w.Intake, Secrets: secrets, Log: log}, err
		},
		open: func(ctx context.Context, a applist.App) (intake.Webhook, error) {
			secrets, err := webhookSecrets(ctx, w.AWS, applist.HookSecret(w.AppsSecrets, a.Name))
			return intake.Webhook{Intake: w.intakeOf(a), Secrets: secrets, Log: log}, err
		},
	}
}

// Answer answers a webhook that came to a path, as intake.Webhook does. A secret is read at the first webhook
// of its App, and again once it is [secretAge] old. A secret that cannot be read blocks no other App.
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
	x.mu.Lock()
	defer x.mu.Unlock()
	if h, ok := x.known[name]; ok && time.Since(h.at) < secretAge {
		return h.Webhook, nil
	}
	open := x.first
	if a, is := x.apps.Named(name); is && name != "" {
		open = func(ctx context.Context) (intake.Webhook, error) { return x.open(ctx, a) }
	}
	h, err := open(ctx)
	if err != nil {
		return h, err
	}
	x.known[name] = known{h, time.Now()}
	return h, nil
}
