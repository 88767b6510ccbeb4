package github

import (
	"context"
	"errors"
	"fmt"
	"time"

	gh "github.com/google/go-github/v60/github"
)

// A DeliveryInfo is one attempt by GitHub to deliver a webhook to the App.
type DeliveryInfo struct {
	ID     int64  // of the attempt
	GUID   string // of the webhook; all attempts to deliver it share the GUID
	Event  string // GitHub's words
	Action string
	At     time.Time
	OK     bool   // the answer was a 2xx
	Status string // GitHub's words for the answer, such as "OK" or "failed to connect to host"
	RepoID int64  // 0 if the event concerns no repository
}

// Deliveries returns the attempts to deliver webhooks since a time, newest first.
// GitHub keeps them for three days.
// Source: https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) Deliveries(ctx context.Context, since time.Time) ([]DeliveryInfo, error) {
	var out []DeliveryInfo
	for o := (gh.ListCursorOptions{PerPage: 100}); ; {
		list, res, err := a.client.Apps.ListHookDeliveries(ctx, &o)
		if err != nil {
			return nil, failed("list the deliveries of webhooks", err)
		}
		for _, d := range list {
			if d.GetDeliveredAt().Before(since) {
				return out, nil
			}
			out = append(out, DeliveryInfo{
				ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), Action: d.GetAction(), At: d.GetDeliveredAt().Time,
				OK: d.GetStatusCode()/100 == 2, Status: d.GetStatus(), RepoID: d.GetRepositoryID(),
			})
		}
		if o.Cursor = res.Cursor; o.Cursor == "" {
			return out, nil
		}
	}
}

// ErrPayload is wrapped by the error for a delivery that cannot be read. Another attempt does not help.
var ErrPayload = errors.New("the payload cannot be read")

// Delivery returns the webhook of a delivery attempt, by the ID of the attempt. It checks no signature, because
// the webhook comes from GitHub's API. The error wraps ErrPayload if the webhook cannot be read.
func (a *App) Delivery(ctx context.Context, id int64) (Delivery, error) {
	what := fmt.Sprintf("read the delivery %d of a webhook", id)
	d, _, err := a.client.Apps.GetHookDelivery(ctx, id)
	if err != nil {
		return Delivery{}, failed(what, err)
	}
	if d.Request == nil || d.Request.RawPayload == nil {
		return Delivery{}, fmt.Errorf("%s: %w: there is none", what, ErrPayload)
	}
	out, err := newDelivery(d.GetGUID(), d.GetEvent(), *d.Request.RawPayload)
	if err != nil {
		return Delivery{}, fmt.Errorf("%s: %w: %w", what, ErrPayload, err)
	}
	return out, nil
}
