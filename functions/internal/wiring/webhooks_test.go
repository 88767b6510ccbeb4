package wiring

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/github"
)

// taken keeps messages.
type taken []pipeline.Message

func (q *taken) Send(_ context.Context, m pipeline.Message) error {
	*q = append(*q, m)
	return nil
}

// delivery is a webhook about a pull request of acme/infra with a signature.
func delivery(secret, guid string) (http.Header, []byte) {
	body := []byte(`{"action":"opened","number":7,"installation":{"id":1},"repository":{"id":5,"name":"infra","owner":{"login":"acme","id":2}},"sender":{"login":"alice"},"pull_request":{"number":7}}`)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("X-GitHub-Event", "pull_request")
	h.Set("X-GitHub-Delivery", guid)
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return h, body
}

// nowhere are records that are not kept.
type nowhere struct{ pipeline.Records }

func (nowhere) Get(_ context.Context, key string) (pipeline.Record, error) {
	return pipeline.Record{Key: key}, nil
}

func (nowhere) Put(context.Context, string, []byte, pipeline.Version) (pipeline.Version, error) {
	return "1", nil
}

// TestReplacedSecret carries out an attack: somebody goes on signing with a secret that was taken out of service, and keeps the process
// alive by it.
func TestReplacedSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		apps, err := applist.Parse("ghes 12 https://github.acme.example/api/v3/ acme")
		if err != nil {
			t.Fatal(err)
		}
		serves, err := intake.ParseServes("acme")
		if err != nil {
			t.Fatal(err)
		}
		var sent taken
		w := &World{Settings: Settings{Apps: apps, Serves: serves}, Log: logger(Webhook), WebhookSecrets: []github.Secret{github.NewSecret("leaked")}}
		w.Intake = &intake.Intake{Records: nowhere{}, Queue: &sent, Serves: serves}
		hooks, now := w.Webhooks(), "leaked"
		hooks.first = func(context.Context) (intake.Webhook, error) {
			return intake.Webhook{Intake: w.Intake, Secrets: []github.Secret{github.NewSecret(now)}}, nil
		}
		hooks.open = func(ctx context.Context, _ applist.App) (intake.Webhook, error) { return hooks.first(ctx) }
		answers := func(path, secret string) int {
			h, body := delivery(secret, "0b989ba4-242f-11e5-81e1-c7b6966d2517")
			status, _ := hooks.Answer(t.Context(), path, h, body)
			return status
		}
		for _, path := range []string{"/", "/webhook/ghes"} {
			now = "leaked"
			if got := answers(path, "leaked"); got != http.StatusAccepted {
				t.Errorf("%s before: %d", path, got)
			}
			now = "new"
			for range 6 {
				time.Sleep(time.Minute)
				answers(path, "leaked")
			}
			if got := answers(path, "leaked"); got != http.StatusUnauthorized {
				t.Errorf("%s: the old secret passes: %d", path, got)
			}
			if got := answers(path, "new"); got != http.StatusAccepted {
				t.Errorf("%s: the new secret: %d", path, got)
			}
		}
		hooks.first = func(context.Context) (intake.Webhook, error) { return intake.Webhook{}, errors.New("no access") }
		time.Sleep(time.Hour)
		if got := answers("/", "new"); got != http.StatusServiceUnavailable {
			t.Errorf("a secret that cannot be read: %d", got)
		}
	})
}

// TestWebhooks carries out an attack: whoever runs a GitHub Enterprise Server knows the secret of its own App, and sends
// deliveries about another's repository to every address. It holds that each address believes its own App alone, whose the
// message is then; and that a secret which cannot be read is in nobody else's way.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	data, err := localstore.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	apps, err := applist.Parse("ghes 12 https://github.acme.example/api/v3/ acme; emu 4711 https://api.github.com/ acme; lost 1 https://lost.example/ acme")
	if err != nil {
		t.Fatal(err)
	}
	serves, err := intake.ParseServes("acme")
	if err != nil {
		t.Fatal(err)
	}
	var sent taken
	w := &World{Settings: Settings{Apps: apps, Serves: serves}, Log: logger(Webhook)}
	w.Intake = &intake.Intake{Records: data.Records, Queue: &sent, Serves: serves}
	w.WebhookSecrets = []github.Secret{github.NewSecret("secret of the first")}
	hooks := w.Webhooks()
	opened := map[string]int{}
	hooks.open = func(_ context.Context, a applist.App) (intake.Webhook, error) {
		opened[a.Name]++
		if a.Name == "lost" {
			return intake.Webhook{}, errors.New("there is no such secret")
		}
		return intake.Webhook{Intake: w.intakeOf(a), Secrets: []github.Secret{github.NewSecret("secret of " + a.Name)}}, nil
	}
	paths := map[string]string{"the first": "/", "ghes": "/webhook/ghes", "emu": "/webhook/emu"}
	for signer := range paths {
		for app, path := range paths {
			if app == signer {
				continue
			}
			h, body := delivery("secret of "+signer, "0b989ba4-242f-11e5-81e1-c7b6966d2517")
			if status, text := hooks.Answer(t.Context(), path, h, body); status != http.StatusUnauthorized {
				t.Errorf("the signature of %s passes for %s: %d %s", signer, app, status, text)
			}
		}
	}
	if len(sent) > 0 {
		t.Fatalf("messages: %+v", sent)
	}
	for path, want := range map[string]int{"/webhook/none": http.StatusNotFound, "/webhook/": http.StatusNotFound, "/webhook/lost": http.StatusServiceUnavailable} {
		h, body := delivery("secret of the first", "0b989ba4-242f-11e5-81e1-c7b6966d2517")
		if status, text := hooks.Answer(t.Context(), path, h, body); status != want || strings.Contains(text, "secret") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	// The same GUID and body, by each App, is news to each.
	for _, signer := range []string{"the first", "ghes", "emu"} {
		h, body := delivery("secret of "+signer, "0b989ba4-242f-11e5-81e1-c7b6966d2516")
		if status, text := hooks.Answer(t.Context(), paths[signer], h, body); status != http.StatusAccepted || text != intake.Accepted {
			t.Errorf("%s: %d %s", signer, status, text)
		}
	}
	var of []string
	for _, m := range sent {
		of = append(of, m.Pull.App)
	}
	if got := strings.Join(of, ","); got != ",ghes,emu" {
		t.Errorf("messages are of %q", got)
	}
	if opened["ghes"] != 1 || opened["emu"] != 1 {
		t.Errorf("secrets were read %v times", opened)
	}
}
