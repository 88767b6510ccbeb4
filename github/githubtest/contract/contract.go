// Package contract checks requests to GitHub, and the answers of the fake GitHub (package githubtest), against
// GitHub's own description of its API. It checks the fake's webhooks against the community's schemas of
// GitHub's webhooks.
//
// The description, api.github.com.json, is a part of @octokit/openapi 23.0.2. The schema of GraphQL,
// github.graphql, is a part of @octokit/graphql-schema 15.26.1. The schemas of webhooks, webhooks.json, are a
// part of @octokit/webhooks-schemas 7.6.1. All are MIT, see LICENSE. To update these files, run
// testdata/cut.go, testdata/cutgraphql.go and testdata/cutwebhooks.go.
//
// The package does not know what Lockstep does with GitHub, and is for tests only. Start at [Transport] and
// [CheckWebhook].
package contract

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

//go:embed api.github.com.json
var description []byte

// An operation is an operation in GitHub's description of its API.
type operation struct {
	method string
	path   *regexp.Regexp
	*openapi3.Operation
}

// byID matches the beginning of an address with a repository's ID. GitHub redirects to such addresses after a
// rename, but describes only addresses with names.
var byID = regexp.MustCompile(`^/repositories/(\d+)`)

var parameter = regexp.MustCompile(`\\\{[^}]*\\\}`)

// segments returns the regular expression for a parameter in a path. Only {ref} and {path} may contain slashes.
func segments(parameter string) string {
	switch parameter {
	case `\{ref\}`, `\{path\}`:
		return ".+"
	}
	return "[^/]+"
}

// load parses GitHub's description of its API, once a process, and returns the operations in it.
var load = sync.OnceValues(func() ([]operation, error) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		return nil, fmt.Errorf("read the description of GitHub's API: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, fmt.Errorf("the description of GitHub's API is not valid: %w", err)
	}
	var all []operation
	for path, item := range doc.Paths.Map() {
		pattern := "^" + parameter.ReplaceAllStringFunc(regexp.QuoteMeta(path), segments) + "$"
		for method, o := range item.Operations() {
			all = append(all, operation{method, regexp.MustCompile(pattern), o})
		}
	}
	// issues/comments comes before issues/{issue_number}, which matches the same path.
	slices.SortFunc(all, func(a, b operation) int {
		return strings.Count(a.path.String(), "[^/]") - strings.Count(b.path.String(), "[^/]")
	})
	return all, nil
})

// Transport makes requests, and checks each request and its answer against GitHub's description.
type Transport struct {
	Base http.RoundTripper
	// Report is called with every deviation from the description.
	Report func(error)
	// Ignore returns true for requests that are not to the API. It may be nil.
	Ignore func(*http.Request) bool
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			sent, _ = io.ReadAll(body)
		}
	}
	res, err := t.Base.RoundTrip(req)
	if err != nil || t.Ignore != nil && t.Ignore(req) {
		return res, err
	}
	answer, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(answer))
	if err := check(req.Method, req.URL, sent, res.StatusCode, answer); err != nil {
		t.Report(err)
	}
	return res, nil
}

// check returns an error that says how a request or its answer deviates from GitHub's description; nil if
// neither does. An answer with a status of 400 or more may have any content.
func check(method string, at *url.URL, sent []byte, status int, answer []byte) error {
	all, err := load()
	if err != nil {
		return err
	}
	path := byID.ReplaceAllString(at.EscapedPath(), "/repos/by-id/$1")
	if method == http.MethodPost && path == "/graphql" && status < 400 {
		if err := checkGraphQL(sent, answer); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		return nil
	}
	for _, o := range all {
		if o.method != method || !o.path.MatchString(path) {
			continue
		}
		if err := o.query(at.Query()); err != nil {
			return fmt.Errorf("%s %s: the query: %w", method, path, err)
		}
		if err := o.request(sent); err != nil {
			return fmt.Errorf("%s %s: the request: %w", method, path, err)
		}
		if err := o.answer(status, answer); err != nil {
			return fmt.Errorf("%s %s: the answer %d: %w", method, path, status, err)
		}
		return nil
	}
	return fmt.Errorf("%s %s: GitHub has no such operation, or the description was cut too short", method, path)
}

func (o operation) query(q url.Values) error {
	for name, values := range q {
		p := o.Parameters.GetByInAndName(openapi3.ParameterInQuery, name)
		if p == nil || p.Schema == nil {
			return fmt.Errorf("there is no %s", name)
		}
		for _, text := range values {
			var v any = text
			if n, err := strconv.ParseFloat(text, 64); err == nil && !p.Schema.Value.Type.Is("string") {
				v = n
			}
			if err := p.Schema.Value.VisitJSON(v); err != nil {
				return fmt.Errorf("%s: %s", name, brief(err))
			}
		}
	}
	return nil
}

func (o operation) request(sent []byte) error {
	if o.RequestBody == nil || o.RequestBody.Value == nil {
		if len(sent) > 0 {
			return fmt.Errorf("it has a body: %s", sent)
		}
		return nil
	}
	if len(sent) == 0 {
		if o.RequestBody.Value.Required {
			return fmt.Errorf("it has no body")
		}
		return nil
	}
	return visit(o.RequestBody.Value.Content, sent, openapi3.VisitAsRequest())
}

func (o operation) answer(status int, answer []byte) error {
	moved := status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect
	if status >= 400 || (moved || status == http.StatusNotModified) && len(answer) == 0 {
		return nil // GitHub can give these answers to any request, but describes them only for some
	}
	r := o.Responses.Value(strconv.Itoa(status))
	if r == nil || r.Value == nil {
		return fmt.Errorf("it is not one that GitHub gives")
	}
	if len(r.Value.Content) == 0 {
		if len(answer) > 0 {
			return fmt.Errorf("it has a body: %s", answer)
		}
		return nil
	}
	return visit(r.Value.Content, answer, openapi3.VisitAsResponse())
}

// A checked is the key of a text that was checked against a schema: once for requests, once for answers.
type checked struct {
	schema *openapi3.Schema
	sum    [sha256.Size]byte
}

// valid caches the texts that passed the check, because most answers occur many times.
var valid sync.Map

// visit checks a JSON text against a schema. It does not fill in default values.
func visit(content openapi3.Content, text []byte, as openapi3.SchemaValidationOption) error {
	media := content.Get("application/json")
	if media == nil || media.Schema == nil {
		return fmt.Errorf("it is not described as JSON")
	}
	key := checked{media.Schema.Value, sha256.Sum256(text)}
	if _, ok := valid.Load(key); ok {
		return nil
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	if err := media.Schema.Value.VisitJSON(v, as, openapi3.MultiErrors()); err != nil {
		return errors.New(brief(err))
	}
	valid.Store(key, nil)
	return nil
}

// brief returns the errors and their places, without the schemas and values that make the library's messages
// long.
func brief(err error) string {
	var many openapi3.MultiError
	if errors.As(err, &many) {
		var all []string
		for _, e := range many {
			all = append(all, brief(e))
		}
		return strings.Join(all, "; ")
	}
	var one *openapi3.SchemaError
	if !errors.As(err, &one) {
		return err.Error()
	}
	text := "/" + strings.Join(one.JSONPointer(), "/") + ": " + one.Reason
	if one.Origin != nil {
		text += " (" + brief(one.Origin) + ")"
	}
	return text
}
