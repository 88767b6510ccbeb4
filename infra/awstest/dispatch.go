package awstest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A call is a request for an action: the service, the name of the action, and functions that read the
// request and write the answer.
type call struct {
	service, name string
	field         func(name string) string // of the request; "" without
	read          func(in any) error
	write         func(w http.ResponseWriter, out any)
	refuse        func(w http.ResponseWriter, p *problem)
}

// ServeHTTP implements http.Handler.
func (a *Account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIATEST/") {
		http.Error(w, "it is not signed", http.StatusForbidden)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Date", time.Now().Add(a.clock).UTC().Format(http.TimeFormat))
	form, err := url.ParseQuery(string(body))
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		a.answer(w, targeted(target, body))
	case err == nil && form.Get("Action") != "":
		a.answer(w, queried(form))
	case strings.HasPrefix(r.URL.Path, "/2015-03-31/"):
		functions{a}.serve(w, r)
	default:
		buckets{a}.serve(w, r, body)
	}
}

// answer finds the func for an action and calls it.
func (a *Account) answer(w http.ResponseWriter, c call) {
	action := c.service + ":" + c.name
	f := a.table()[action]
	p := a.may(action, resource(c))
	if p == nil && f == nil {
		p = &problem{http.StatusNotImplemented, "NotImplemented", action}
	}
	if p != nil {
		c.refuse(w, p)
		return
	}
	out, err := f(context.Background(), c)
	switch {
	case a.drop(action):
		hangUp(w)
	case err == nil:
		c.write(w, out)
	default:
		refusal, ok := err.(*problem)
		if !ok {
			refusal = &problem{http.StatusBadRequest, "MalformedInput", err.Error()}
		}
		c.refuse(w, refusal)
	}
}

type handler func(ctx context.Context, c call) (any, error)

// on makes a handler of f, a func with the SDK's types for a request and its answer.
func on[In, Out any](f func(in *In) (*Out, error)) handler {
	return func(_ context.Context, c call) (any, error) {
		in := new(In)
		if err := c.read(in); err != nil {
			return nil, err
		}
		return f(in)
	}
}

// table returns the handlers of all actions that a request names explicitly, as in the JSON and the query
// protocol.
func (a *Account) table() map[string]handler {
	return map[string]handler{
		"sts:GetCallerIdentity":                 on(secrets{a}.getCallerIdentity),
		"secretsmanager:DescribeSecret":         on(secrets{a}.describeSecret),
		"secretsmanager:CreateSecret":           on(secrets{a}.createSecret),
		"secretsmanager:PutSecretValue":         on(secrets{a}.putSecretValue),
		"secretsmanager:TagResource":            on(secrets{a}.tagSecret),
		"secretsmanager:GetSecretValue":         on(secrets{a}.getSecretValue),
		"cloudformation:DescribeStacks":         on(stacks{a}.describeStacks),
		"cloudformation:GetTemplate":            on(stacks{a}.getTemplate),
		"cloudformation:CreateChangeSet":        on(stacks{a}.createChangeSet),
		"cloudformation:DescribeChangeSet":      on(stacks{a}.describeChangeSet),
		"cloudformation:DeleteChangeSet":        on(stacks{a}.deleteChangeSet),
		"cloudformation:ExecuteChangeSet":       on(stacks{a}.executeChangeSet),
		"cloudformation:DeleteStack":            on(stacks{a}.deleteStack),
		"cloudformation:DescribeStackEvents":    on(stacks{a}.describeStackEvents),
		"cloudformation:DescribeStackResources": on(stacks{a}.describeStackResources),
		"iam:GetRole":                           on(functions{a}.getRole),
		"sqs:GetQueueAttributes":                on(functions{a}.getQueueAttributes),
	}
}

// resource returns the ARN that a call is for: "*" for none in particular.
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
func resource(c call) string {
	named := func(service, prefix, suffix, name string) string {
		if strings.HasPrefix(name, "arn:") {
			return name
		}
		region := Region
		if service == "iam" {
			region = ""
		}
		return "arn:aws:" + service + ":" + region + ":" + ID + ":" + prefix + name + suffix
	}
	switch c.service {
	case "secretsmanager":
		id := c.field("SecretId")
		if id == "" {
			id = c.field("Name")
		}
		return named(c.service, "secret:", "-AbCdEf", id)
	case "cloudformation":
		return named(c.service, "stack/", "/00000000-0000-4000-8000-000000000001", c.field("StackName"))
	case "iam":
		return named(c.service, "role/", "", c.field("RoleName"))
	case "sqs":
		url := c.field("QueueUrl")
		return named(c.service, "", "", url[strings.LastIndex(url, "/")+1:])
	}
	return "*"
}
