package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// maxAnswer is the maximum length of an answer's body in an event, in bytes. An answer of a function may have 6 MB, with
// its headers and with the escapes of JSON.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
const maxAnswer = 5 << 20

// minCompressed is the length of a body from which on it is compressed, in bytes.
const minCompressed = 1 << 10

// An adapter answers events of a function URL with an HTTP handler.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
type adapter struct {
	handler http.Handler
	log     func(error)
}

func (a adapter) answer(ctx context.Context, e events.LambdaFunctionURLRequest) (events.LambdaFunctionURLResponse, error) {
	r, err := request(ctx, e)
	if err != nil {
		return plain(http.StatusBadRequest, "The request is not readable."), nil
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	out, err := response(w.Result(), strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"))
	if err != nil {
		a.log(err)
		return plain(http.StatusInternalServerError, "This page is too long for the server. Read the text on GitHub, or download it from the bucket of artifacts."), nil
	}
	return out, nil
}

func plain(status int, text string) events.LambdaFunctionURLResponse {
	return events.LambdaFunctionURLResponse{StatusCode: status, Headers: map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}, Body: text}
}

// request returns the HTTP request of an event. The host is the function's own, whatever the header says. A function URL leaves the
// path escaped; an HTTP API of API Gateway would not.
func request(ctx context.Context, e events.LambdaFunctionURLRequest) (*http.Request, error) {
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Body); err != nil {
			return nil, err
		}
	}
	path := e.RawPath
	if !strings.HasPrefix(path, "/") {
		return nil, errors.New("the path does not begin with a slash")
	}
	if e.RawQueryString != "" {
		path += "?" + e.RawQueryString
	}
	r, err := http.NewRequestWithContext(ctx, e.RequestContext.HTTP.Method, "https://"+e.RequestContext.DomainName+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	// Cookies are in a list of their own, or in the header.
	if len(e.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	r.Host, r.RemoteAddr, r.RequestURI = e.RequestContext.DomainName, e.RequestContext.HTTP.SourceIP, path
	return r, nil
}

// response returns an answer as a function returns it. A long body is compressed if the browser accepts
// that.
func response(res *http.Response, compress bool) (events.LambdaFunctionURLResponse, error) {
	out := events.LambdaFunctionURLResponse{StatusCode: res.StatusCode, Headers: map[string]string{}, Cookies: res.Header.Values("Set-Cookie")}
	for name := range res.Header {
		if name != "Set-Cookie" {
			out.Headers[name] = res.Header.Get(name)
		}
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return out, err
	}
	out.Body = string(body)
	if compress && len(body) >= minCompressed {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(body)
		if err = errors.Join(err, z.Close()); err != nil {
			return out, err
		}
		out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(b.Bytes()), true
		out.Headers["Content-Encoding"], out.Headers["Vary"] = "gzip", "Accept-Encoding"
	}
	if len(out.Body) > maxAnswer {
		return out, errors.New("an answer is too long")
	}
	return out, nil
}
