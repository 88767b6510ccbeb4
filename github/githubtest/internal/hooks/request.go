package hooks

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/lockstep-iac/lockstep/github"
)

// request sends a webhook and returns the answer.
func (d *delivery) request(ctx context.Context, client *http.Client, url string, secret github.Secret) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(d.body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range d.headers() {
		req.Header.Set(name, value)
	}
	req.Header.Set(github.SignatureHeader, github.Sign(secret, d.body))
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	return res.StatusCode, string(answer), err
}

func (d *delivery) headers() map[string]string {
	return map[string]string{
		"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/githubtest",
		github.EventHeader: d.Event, github.DeliveryHeader: d.guid,
	}
}
