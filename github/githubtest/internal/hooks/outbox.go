package hooks

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// An Outbox stores all webhooks, delivered or waiting. It is safe for concurrent use.
type Outbox struct {
	now    func() time.Time
	secret github.Secret
	client *http.Client
	// Lean leaves addresses that nobody uses out of payloads. It is set before the first webhook.
	Lean bool

	mu         sync.Mutex
	url        string
	deliveries []*delivery
	attempts   []*attempt
	lose       int // webhooks
	others     []address
}

// An address is the webhook URL of another App, with its secret.
type address struct {
	url    string
	secret github.Secret
}

// Also makes the Outbox send each later webhook to one more App. It is sent to the App's URL and signed with
// its secret. Webhooks about check runs are not sent there: they are for the App that made the check run. The
// API's lists of deliveries do not have these deliveries.
func (o *Outbox) Also(url string, secret github.Secret) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.others = append(o.others, address{url, secret})
}

// New returns an empty Outbox that sends to a URL and signs with a secret. now is the clock for attempts.
// transport makes the requests; nil means http.DefaultTransport.
func New(url string, secret github.Secret, now func() time.Time, transport http.RoundTripper) *Outbox {
	return &Outbox{now: now, secret: secret, url: url, client: &http.Client{Transport: transport}}
}

// A delivery is one webhook, with at least one attempt to deliver it.
type delivery struct {
	Subject
	guid     string
	body     []byte
	attempts []*attempt
	to       *address // nil for the first App
}

// A Subject is the part of a webhook that lists of deliveries show.
type Subject struct {
	Event        string
	Action       string
	Installation int64
	Repository   int64 // ID, 0 if the event concerns none
}

// An attempt is one attempt to deliver a webhook. It waits until Deliver makes it.
type attempt struct {
	id     int64
	of     *delivery
	again  bool // it was requested
	made   bool
	at     time.Time
	status int // of the answer, 0 if there was none
	answer string
}

// SetURL changes the URL that receives the webhooks.
func (o *Outbox) SetURL(url string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.url = url
}

// Post adds a webhook, which waits for [Outbox.Deliver]. It panics if the payload is not JSON.
func (o *Outbox) Post(s Subject, payload rest.Object) {
	body := rest.Encode(rest.Lean(o.Lean, payload))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.post(&delivery{Subject: s, body: body})
	for i := range o.others {
		if !strings.HasPrefix(s.Event, "check_") {
			o.post(&delivery{Subject: s, body: body, to: &o.others[i]})
		}
	}
}

func (o *Outbox) post(d *delivery) {
	d.guid = fmt.Sprintf("00000000-0000-4000-8000-%012x", len(o.deliveries)+1)
	o.deliveries = append(o.deliveries, d)
	o.try(d, false)
}

// try adds a waiting attempt. requested is set if somebody asked for the attempt by the API.
func (o *Outbox) try(d *delivery, requested bool) *attempt {
	a := &attempt{id: int64(len(o.attempts) + 1), of: d, again: requested}
	d.attempts = append(d.attempts, a)
	o.attempts = append(o.attempts, a)
	return a
}

// Deliver sends the waiting webhooks, in order, and returns their number. An answer other than 2xx is an error
// and ends the delivery; like GitHub, Deliver makes only one attempt.
func (o *Outbox) Deliver(ctx context.Context) (int, error) {
	for n := 0; ; n++ {
		if sent, err := o.DeliverOne(ctx, 0); !sent || err != nil {
			return n, err
		}
	}
}

// DeliverOne sends one of the waiting webhooks, and reports whether there was one. The parameter which is
// the webhook's index, from 0 for the oldest; a larger index starts at 0 again.
func (o *Outbox) DeliverOne(ctx context.Context, which int) (bool, error) {
	o.mu.Lock()
	waiting := o.waiting()
	if len(waiting) == 0 {
		o.mu.Unlock()
		return false, nil
	}
	a := waiting[which%len(waiting)]
	a.made, a.at = true, o.now()
	o.mu.Unlock()
	return true, o.perform(ctx, a)
}

// Waiting returns the number of waiting attempts.
func (o *Outbox) Waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting())
}

// waiting returns the waiting attempts, the oldest first.
func (o *Outbox) waiting() []*attempt {
	var out []*attempt
	for _, a := range o.attempts {
		if !a.made {
			out = append(out, a)
		}
	}
	return out
}

// Lose makes the next n attempts get lost: each counts as made, but nobody receives it.
func (o *Outbox) Lose(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lose = n
}

// GUIDs returns the GUIDs of all webhooks so far, waiting ones included.
func (o *Outbox) GUIDs() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, d := range o.deliveries {
		out = append(out, d.guid)
	}
	return out
}

// Redeliver sends a webhook again, under the same GUID, and returns the body of the answer.
func (o *Outbox) Redeliver(ctx context.Context, guid string) (string, error) {
	o.mu.Lock()
	var a *attempt
	if d := o.find(guid); d != nil {
		a = o.try(d, true)
		a.made, a.at = true, o.now()
	}
	o.mu.Unlock()
	if a == nil {
		return "", fmt.Errorf("there is no delivery %s", guid)
	}
	err := o.perform(ctx, a)
	return a.answer, err
}

func (o *Outbox) find(guid string) *delivery {
	if i := slices.IndexFunc(o.deliveries, func(d *delivery) bool { return d.guid == guid }); i >= 0 {
		return o.deliveries[i]
	}
	return nil
}

// Replay sends the body and the signature of an earlier webhook, as an eavesdropper could: under another GUID
// (as) and event name; "" keeps the original. It returns the answer.
func (o *Outbox) Replay(ctx context.Context, guid, as, event string) (status int, answer string, err error) {
	o.mu.Lock()
	url, secret, seen := o.url, o.secret, o.find(guid)
	o.mu.Unlock()
	if seen == nil {
		return 0, "", fmt.Errorf("there is no delivery %s", guid)
	}
	again := delivery{Subject: seen.Subject, guid: cmp.Or(as, seen.guid), body: seen.body}
	again.Event = cmp.Or(event, seen.Event)
	return again.request(ctx, o.client, url, secret)
}

// perform makes a waiting attempt, and records the answer.
func (o *Outbox) perform(ctx context.Context, a *attempt) error {
	o.mu.Lock()
	url, secret, lost := o.url, o.secret, o.lose > 0
	if lost {
		o.lose--
	}
	if a.of.to != nil {
		url, secret = a.of.to.url, a.of.to.secret
	}
	o.mu.Unlock()
	if lost {
		return nil
	}
	status, answer, err := a.of.request(ctx, o.client, url, secret)
	o.mu.Lock()
	a.status, a.answer = status, answer
	o.mu.Unlock()
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("the answer is %d: %s", status, answer)
	}
	if err != nil {
		return fmt.Errorf("deliver %s %s: %w", a.of.Event, a.of.guid, err)
	}
	return nil
}
