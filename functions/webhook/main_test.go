package main

import (
	"context"
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// TestHandler holds that the bytes which were signed are those that arrive, and that no
// request is an error of the function, which AWS would tell GitHub in its own words.
func TestHandler(t *testing.T) {
	const payload = "{\"text\":\"ünï\xff\"}"
	for name, test := range map[string]struct {
		method, body string
		encoded      bool
		status       int
		arrives      string
	}{
		"plain":          {"POST", payload, false, 202, payload},
		"base64":         {"POST", base64.StdEncoding.EncodeToString([]byte(payload)), true, 202, payload},
		"broken base64":  {"POST", "%%%", true, 400, ""},
		"another method": {"GET", "", false, 405, ""},
	} {
		arrived := ""
		handle := handler(func(ctx context.Context, path string, h http.Header, body []byte) (int, string) {
			if _, ok := ctx.Deadline(); !ok || h.Get("X-GitHub-Event") != "pull_request" || path != "/webhook/ghes" {
				t.Errorf("%s: %s, headers %v", name, path, h)
			}
			arrived = string(body)
			return 202, "queued"
		}, nil)
		e := events.LambdaFunctionURLRequest{RawPath: "/webhook/ghes", Headers: map[string]string{"x-github-event": "pull_request"}, Body: test.body, IsBase64Encoded: test.encoded}
		e.RequestContext.HTTP.Method = test.method
		got, err := handle(t.Context(), e)
		if err != nil || got.StatusCode != test.status || arrived != test.arrives {
			t.Errorf("%s: %+v, %v; %q arrived", name, got, err, arrived)
		}
	}
}
