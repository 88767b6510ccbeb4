package wiring

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
)

// Webhooks answers the webhooks of all Apps. Each App has its own path, at which only signatures for this App
// are valid. So a webhook belongs to the App to whose path it was sent, whatever it contains. Webhooks is safe
// for concurrent use.
type Webhooks struct {
	apps applist.List
	// first returns the webhook handler of the first App, and open that of an additional App. Both read the
	// App's webhook secret.
	first func(context.Context) (intake.Webhook, error)
	open  func(context.Context, applist.App) (intake.Webhook, error)
	log   func(error)
	mu    sync.Mutex
	known map[string]known
}

// A known is the webhook handler of an App, with the time at which the App's secrets were read.
type known struct {
	intake.Webhook
	at time.Time
}

// secretAge is how long a webhook secret is used before it is read once more. Somebody may have replaced a
// secret because a stranger knows it. The old secret is useless after this time, however long the process
// lives.
const secretAge = 5 * time.Minute

// Webhooks returns the handler of all Apps' webhooks.
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

// Answer answers a webhook that was sent to the given path, as intake.Webhook does. It reads an App's webhook
// secret at the first webhook of the App, and once more after [secretAge]. If the secret of one App cannot be
// read, the other Apps still work.
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
