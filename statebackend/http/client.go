package http

import (
	"bytes"
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/lockstep-iac/lockstep/statebackend"
)

// maxState is the largest accepted answer, in bytes.
const maxState = 1 << 30

// client makes requests with the credentials and the retry settings of the backend block.
type client struct {
	settings
	http *retryablehttp.Client
}

func newClient(s settings) *client {
	c := &client{s, retryablehttp.NewClient()}
	c.http.Logger = nil
	c.http.RetryMax, c.http.RetryWaitMin, c.http.RetryWaitMax = s.retries, s.shortest, s.longest
	// After the last attempt, return the server's answer instead of an error with the number of attempts.
	c.http.ErrorHandler = retryablehttp.PassthroughErrorHandler
	// Credentials and states may only be sent to the address of the block.
	c.http.HTTPClient.CheckRedirect = func(next *nethttp.Request, before []*nethttp.Request) error {
		if next.URL.Host != before[0].URL.Host || before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return fmt.Errorf("it redirects to %s, another address than the block's", next.URL.Host)
		}
		if len(before) >= 10 {
			return fmt.Errorf("it redirects %d times", len(before))
		}
		return nil
	}
	if s.tls != nil {
		t := c.http.HTTPClient.Transport.(*nethttp.Transport).Clone()
		t.TLSClientConfig = s.tls
		c.http.HTTPClient.Transport = t
	}
	return c
}

// answer is a response of the server.
type answer struct {
	status int
	header nethttp.Header
	body   []byte
}

// do makes one request; body may be nil. An error means that no complete response arrived.
func (c *client) do(ctx context.Context, method string, address *url.URL, body []byte) (answer, error) {
	var content any
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, method, address.String(), content)
	if err != nil {
		return answer{}, err
	}
	if c.username != "" || c.password != "" {
		req.SetBasicAuth(c.username, c.password)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Content-MD5", md5Of(body))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, address.Redacted(), cause(err))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxState+1))
	if err == nil && len(data) > maxState {
		err = fmt.Errorf("the answer is larger than %d bytes", maxState)
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, address.Redacted(), err)
	}
	return answer{res.StatusCode, res.Header, data}, nil
}

// refusal returns the error for a status that has no meaning in the protocol.
func (a answer) refusal(method string, address *url.URL) error {
	at := fmt.Sprintf("%s %s", method, address.Redacted())
	switch a.status {
	case nethttp.StatusUnauthorized:
		return fmt.Errorf("%s: the server asks for credentials, or refuses those of username and password: %w", at, statebackend.ErrDenied)
	case nethttp.StatusForbidden:
		return fmt.Errorf("%s: the server refuses the credentials the right to do this: %w", at, statebackend.ErrDenied)
	case nethttp.StatusInternalServerError:
		return fmt.Errorf("%s: internal error of the server", at)
	}
	return fmt.Errorf("%s: unexpected HTTP status %d", at, a.status)
}
