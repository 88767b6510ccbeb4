//go:build linux

package lambdatest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// MaxPayload is the maximum size of the event and of the answer of a synchronous invocation, in bytes.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const MaxPayload = 6 << 20

// URL returns the handler of a function URL. The handler turns HTTP requests into events in format 2.0. It
// turns the function's results into HTTP answers.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
func (f *Function) URL() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		event := urlEvent(r, body)
		if payload, err := json.Marshal(event); err != nil || len(payload) > MaxPayload {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		f.tell(isAsked)
		got, err := f.Invoke(event)
		var answer events.LambdaFunctionURLResponse
		if err == nil && got.Error == nil {
			err = json.Unmarshal(got.Payload, &answer)
		}
		if err != nil || got.Error != nil {
			http.Error(w, "Internal Server Error", http.StatusBadGateway)
			return
		}
		writeAnswer(w, answer)
	})
}

func urlEvent(r *http.Request, body []byte) events.LambdaFunctionURLRequest {
	now := time.Now().UTC()
	host := "abcdefghijklmnopqrstuvwxyz012345"
	e := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery, Headers: map[string]string{},
		RequestContext: events.LambdaFunctionURLRequestContext{
			AccountID: "anonymous", RequestID: "url", APIID: host, DomainPrefix: host,
			DomainName: host + ".lambda-url." + Region + ".on.aws",
			Time:       now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: "192.0.2.1", UserAgent: r.UserAgent(),
			},
		},
	}
	for name, values := range r.Header {
		if name != "Cookie" {
			e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	for _, c := range r.Cookies() {
		e.Cookies = append(e.Cookies, c.Name+"="+c.Value)
	}
	e.Body = string(body)
	if !isText(r.Header.Get("Content-Type")) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e
}

// isText reports whether a body with the given content type goes into the event unchanged. Other bodies go into
// the event in base64.
func isText(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (strings.HasPrefix(kind, "text/") || kind == "application/json" || kind == "application/xml" || kind == "application/javascript")
}

func writeAnswer(w http.ResponseWriter, answer events.LambdaFunctionURLResponse) {
	body := []byte(answer.Body)
	if answer.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
			http.Error(w, "Internal Server Error", http.StatusBadGateway)
			return
		}
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	for _, c := range answer.Cookies {
		w.Header().Add("Set-Cookie", c)
	}
	if answer.StatusCode == 0 {
		answer.StatusCode = http.StatusOK
	}
	w.WriteHeader(answer.StatusCode)
	w.Write(body)
}
