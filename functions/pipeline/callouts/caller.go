package callouts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/functions/project/endpoints"
)

// A Caller calls the functions, webhooks, topics and programs that base branches name. It is safe for
// concurrent use.
type Caller struct {
	// Invoke invokes a function, by its ARN, and returns its result. nil means that functions are not
	// available.
	Invoke func(ctx context.Context, arn string, payload []byte) ([]byte, error)
	// Publish publishes a message on an SNS topic, by its ARN. nil means that topics are not available.
	Publish func(ctx context.Context, arn string, message []byte) error
	// Secret reads a secret of Secrets Manager, by its ARN. nil means that webhooks are not available.
	Secret func(ctx context.Context, arn string) (string, error)
	// Program runs a program by its name, with a request as its input, and returns its output. nil means that
	// programs are not available.
	Program func(ctx context.Context, name string, input []byte) ([]byte, error)
	// Transport makes the connections to webhooks. If it is nil, only https to public addresses is possible.
	Transport http.RoundTripper
	// Hide removes Lockstep's secrets from a text; nil if there are none.
	Hide func(string) string
}

// These are the limits of a request and an answer in bytes. Source:
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html (invocation payload)
const (
	maxRequest = 6 << 20
	maxAnswer  = 64 << 10
)

// minKey is the minimum length of a key for signatures, in base64. It stands for 24 bytes. Source:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme
const minKey = 32

// attempts is the maximum number of calls to a webhook that is busy or unreachable. pause is the time between
// the first and the second call. Each later pause is twice as long as the one before.
const (
	attempts = 3
	pause    = 300 * time.Millisecond
)

// call sends a request to an endpoint, and returns the answer. id identifies the request; it is the same in all
// attempts.
func (c *Caller) call(ctx context.Context, e endpoints.Endpoint, id string, now time.Time, body []byte) ([]byte, error) {
	if len(body) > maxRequest {
		return nil, fmt.Errorf("the plan as JSON has %d bytes, and a request has at most %d", len(body), maxRequest)
	}
	timeout := e.Timeout
	if timeout <= 0 || timeout > endpoints.MaxTimeout {
		timeout = endpoints.DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("there was no answer within %.0f s", timeout.Seconds()))
	defer cancel()
	answer, err := c.ask(ctx, e, id, now, body)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && len(answer) > maxAnswer {
		err = fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return answer, err
}

func (c *Caller) ask(ctx context.Context, e endpoints.Endpoint, id string, now time.Time, body []byte) ([]byte, error) {
	switch {
	case e.Function != "" && c.Invoke == nil:
		return nil, errors.New("functions of AWS Lambda cannot be invoked here")
	case e.Function != "":
		return c.Invoke(ctx, e.Function, body)
	case e.Program != "" && c.Program == nil:
		return nil, errors.New("programs are run by lockstep serve only, in the directory that its option -hook-programs names")
	case e.Program != "":
		return c.Program(ctx, e.Program, body)
	case e.Topic != "" && c.Publish == nil:
		return nil, errors.New("topics of Amazon SNS cannot be used here")
	case e.Topic != "":
		return nil, c.Publish(ctx, e.Topic, body)
	case c.Secret == nil:
		return nil, errors.New("secrets of AWS Secrets Manager cannot be read here, and requests to webhooks need one")
	case e.Slack != "":
		to, err := c.Secret(ctx, e.Slack)
		if err != nil {
			return nil, fmt.Errorf("the secret %s cannot be read: %w", e.Slack, err)
		}
		to = strings.TrimSpace(to)
		if u, err := url.Parse(to); err != nil || u.Scheme != "https" || u.Host == "" {
			// The error does not contain the URL, because everybody who has the URL may write to the channel.
			return nil, fmt.Errorf("the secret %s is not the URL of an incoming webhook: https://...", e.Slack)
		}
		answer, err := c.posts(ctx, to, http.Header{"Content-Type": {"application/json"}, "User-Agent": {"lockstep"}}, body)
		if err != nil {
			err = fmt.Errorf("the webhook of Slack in the secret %s: %w", e.Slack, err)
		}
		return answer, err
	}
	key, err := c.Secret(ctx, e.Secret)
	if err != nil {
		return nil, fmt.Errorf("the secret %s cannot be read: %w", e.Secret, err)
	}
	key = strings.TrimPrefix(strings.TrimSpace(key), "whsec_")
	hook, err := standardwebhooks.NewWebhook(key)
	if err != nil || len(key) < minKey {
		return nil, fmt.Errorf("the secret %s is not a key as Standard Webhooks has them: \"whsec_\", and at least 24 random bytes in base64", e.Secret)
	}
	signature, err := hook.Sign(id, now, body)
	if err != nil {
		return nil, fmt.Errorf("sign the request: %w", err)
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"lockstep"},
		standardwebhooks.HeaderWebhookID:        {id},
		standardwebhooks.HeaderWebhookTimestamp: {fmt.Sprint(now.Unix())},
		standardwebhooks.HeaderWebhookSignature: {signature},
	}
	return c.posts(ctx, e.URL, header, body)
}

// posts sends a request, and returns the answer. If there is no answer, it repeats the request: see [attempts].
func (c *Caller) posts(ctx context.Context, to string, header http.Header, body []byte) ([]byte, error) {
	for n := 1; ; n++ {
		answer, again, err := c.post(ctx, to, header, body)
		if err == nil || !again || n == attempts {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause << (n - 1)):
		}
	}
}

// post sends a request once. again is set if a repetition may succeed.
func (c *Caller) post(ctx context.Context, to string, header http.Header, body []byte) (answer []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, false, errors.New("its URL is none")
	}
	policy := hosts.Policy{PublicOnly: true}
	if err := policy.CheckURL(req.URL); err != nil {
		return nil, false, err
	}
	transport := c.Transport
	if transport == nil {
		transport = policy.Transport()
	}
	req.Header = map[string][]string{}
	for name, v := range header {
		req.Header[http.CanonicalHeaderKey(name)] = v
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if wrapped := new(url.Error); errors.As(err, &wrapped) {
			err = wrapped.Err // wrapped.Err does not contain the URL, which may contain a token.
		}
		return nil, true, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, true, err
	}
	if resp.StatusCode/100 != 2 { // Standard Webhooks: a success is any 2xx
		again := resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
		return nil, again, fmt.Errorf("its answer is %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return answer, false, nil
}

// hide removes Lockstep's secrets from a text.
func (c *Caller) hide(text string) string {
	if c.Hide == nil {
		return text
	}
	return c.Hide(text)
}
