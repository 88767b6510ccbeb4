package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/github"
)

// event returns an event of a function URL.
func event(method, path, query string, headers map[string]string, cookies ...string) events.LambdaFunctionURLRequest {
	e := events.LambdaFunctionURLRequest{RawPath: path, RawQueryString: query, Headers: headers, Cookies: cookies}
	e.RequestContext.DomainName, e.RequestContext.HTTP.Method, e.RequestContext.HTTP.SourceIP = "abc.lambda-url.eu-central-1.on.aws", method, "192.0.2.1"
	return e
}

// TestRequest holds that the handler gets the request as the browser sent it, but for its host.
func TestRequest(t *testing.T) {
	t.Parallel()
	seen := ""
	a := adapter{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		seen = fmt.Sprintf("%s %s %s %s %v %s %v", r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Host, r.Cookies(), body, err)
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.WriteHeader(http.StatusTeapot)
	})}
	for name, test := range map[string]struct {
		e    events.LambdaFunctionURLRequest
		want string
	}{
		"a page":           {event("GET", "/acme/infra%2Fx", "page=2", map[string]string{"host": "evil.example"}), "GET /acme/infra%2Fx page=2 abc.lambda-url.eu-central-1.on.aws []  <nil>"},
		"cookies":          {event("GET", "/", "", nil, "x=1", "y=2"), "GET /  abc.lambda-url.eu-central-1.on.aws [x=1 y=2]  <nil>"},
		"cookies, as text": {event("GET", "/", "", map[string]string{"cookie": "x=1; y=2"}), "GET /  abc.lambda-url.eu-central-1.on.aws [x=1 y=2]  <nil>"},
	} {
		got, err := a.answer(t.Context(), test.e)
		if err != nil || seen != test.want || got.StatusCode != http.StatusTeapot || len(got.Cookies) != 2 {
			t.Errorf("%s: %q, want %q; %+v, %v", name, seen, test.want, got, err)
		}
	}
	for name, e := range map[string]events.LambdaFunctionURLRequest{
		"another server": event("GET", "@evil.example/", "", nil), "no path": event("GET", "", "", nil), "a zero": event("GET", "/\x00", "", nil),
		"no method": event("GET /", "/", "", nil), "a broken body": {RawPath: "/", Body: "%", IsBase64Encoded: true},
	} {
		seen = ""
		if got, err := a.answer(t.Context(), e); err != nil || got.StatusCode != http.StatusBadRequest || seen != "" {
			t.Errorf("%s: %+v, %v, %q", name, got, err, seen)
		}
	}
}

// TestResponse holds that a long answer is compressed for browsers that read that, and that one that is too long for AWS
// becomes a message.
func TestResponse(t *testing.T) {
	t.Parallel()
	random := make([]byte, maxAnswer)
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	var logged []error
	for name, test := range map[string]struct {
		body   string
		gzip   bool
		status int
	}{
		"short": {"hello", true, 200}, "long": {strings.Repeat("hello", 1<<20), true, 200}, "long, not compressed": {strings.Repeat("hello", 1<<19), false, 200},
		"too long, not compressed": {strings.Repeat("x", maxAnswer+1), false, 500}, "too long": {string(random), true, 500},
	} {
		a := adapter{log: func(err error) { logged = append(logged, err) }, handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, test.body) })}
		headers := map[string]string{}
		if test.gzip {
			headers["accept-encoding"] = "br, gzip"
		}
		got, err := a.answer(t.Context(), event("GET", "/", "", headers))
		if err != nil || got.StatusCode != test.status || len(got.Body) > maxAnswer {
			t.Fatalf("%s: %d, %d bytes, %v", name, got.StatusCode, len(got.Body), err)
		}
		body := got.Body
		if got.Headers["Content-Encoding"] == "gzip" {
			data, err := base64.StdEncoding.DecodeString(body)
			if err != nil || !test.gzip {
				t.Fatal(name, err)
			}
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			body = string(plain)
		}
		if test.status == 200 && body != test.body {
			t.Errorf("%s: another body of %d bytes", name, len(body))
		}
	}
	if len(logged) != 2 {
		t.Errorf("%v", logged)
	}
}

// TestPageSecret is a table of contents of the page's secret, and of what the log says when the function starts.
func TestPageSecret(t *testing.T) {
	t.Parallel()
	const key = "swordfish-swordfish-swordfish-swordfish"
	for content, want := range map[string]string{
		`{"key": "` + key + `"}`: "", `{"key": "` + key + `", "client_id": "Iv1", "client_secret": "hush"}`: "",
		`{"key": "` + key + `", "client_id": "Iv1"}`: "it needs client_id and client_secret", `{"key": "` + key + `", "client_secret": "hush"}`: "it needs client_id and client_secret",
		`{"key": "swordfish"}`: "shorter than 32", `{}`: "shorter than 32", key: "it is not a JSON object", `{"key": 7}`: "its key is not a text",
	} {
		w := &wiring.World{Log: slog.New(slog.DiscardHandler), Intake: &intake.Intake{}, PageSecrets: github.NewSecret(content)}
		w.PageSecret, w.GitHubURL = "arn:page", github.DefaultURL
		_, err := handler(w)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "arn:page") || strings.Contains(err.Error(), "swordfish")) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}
