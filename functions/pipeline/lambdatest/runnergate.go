//go:build linux

package lambdatest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/internal/codebuild"
	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// gate is the one address under which a function finds all of AWS. It forwards a request to the server of the
// service if the function's role allows the request. If the request has the credentials of a session, both the
// session's role and the session's policy must allow the request.
type gate struct {
	stack    *Stack
	function string
	rights   templates.Rights // of its role
	services map[string]*httputil.ReverseProxy
}

// A Request is a request to AWS that a function made.
type Request struct {
	Function string
	// Session is the ARN of the role whose session made the request. It is "" if the function made the request
	// with its own role.
	Session string
	// Action is IAM's name of the action, such as "s3:PutObject". Resource is the ARN of what the action is
	// done to.
	Action, Resource string
	Key              string // the partition key of a DynamoDB item, up to the first "/"
	Header           http.Header
}

// String returns function, action and resource, separated by spaces.
func (r Request) String() string { return r.Function + " " + r.Action + " " + r.Resource }

// Services are the addresses of the servers that replace AWS. Account is the server of an [Account], which replaces all
// services but S3, DynamoDB, SQS, KMS and SNS. KMS and SNS may be "" if nothing uses them.
type Services struct{ S3, DynamoDB, SQS, Account, KMS, SNS, builds string }

func (s *Stack) newGate(function, role string) *gate {
	g := &gate{
		stack: s, function: function, rights: s.rightsOf(role), services: map[string]*httputil.ReverseProxy{},
	}
	for name, address := range map[string]string{"s3": s.Services.S3, "dynamodb": s.Services.DynamoDB, "sqs": s.Services.SQS, "account": s.Services.Account, "kms": s.Services.KMS, "sns": s.Services.SNS, "codebuild": s.Services.builds} {
		to, err := url.Parse(address)
		if err != nil {
			s.t.Fatal(err)
		}
		g.services[name] = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // the signature includes the host
		}, ModifyResponse: hide}
	}
	return g
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	service, calls := g.stack.read(r, body)
	who := g.rights
	by, err := g.by(r)
	if role, ok := strings.CutPrefix(r.Header.Get("X-Amz-Security-Token"), "token-of-"); ok && err != nil && (service == "account" || service == "s3") {
		g.other(w, r, role, service, calls)
		return
	}
	if err != nil {
		g.stack.denied(Request{Function: g.function, Action: "by unknown credentials", Resource: r.URL.String()})
		refuse(w, service, http.StatusForbidden, "InvalidAccessKeyId", err.Error())
		return
	}
	if by != nil {
		who = by.rights
	}
	if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") == "AssumeRole" && g.stack.roleOf(form.Get("RoleArn")) != "" {
		g.assumeRole(w, form)
		return
	}
	for _, c := range calls {
		q := Request{Function: g.function, Action: c.Action, Resource: c.Resource, Header: r.Header}
		if keys := c.Context[leadingKeys]; len(keys) > 0 {
			q.Key, _, _ = strings.Cut(keys[0], "/")
		}
		if by != nil {
			q.Session = by.Role
		}
		if !g.may(who, c, r.Header) {
			g.stack.denied(q)
			refuse(w, service, http.StatusForbidden, "AccessDenied", "not authorized to perform "+c.Action)
			return
		}
		if status := g.stack.note(q); status != 0 {
			refuse(w, service, status, "InternalError", "the test says no")
			return
		}
	}
	if service == "s3" {
		bucket := templates.Call{Action: "s3:ListBucket", Resource: bucketOf(calls[0].Resource), Context: calls[0].Context}
		r = r.WithContext(context.WithValue(r.Context(), mayList{}, func() bool { return g.stack.ask(who, bucket) }))
	}
	if by != nil && service != "account" {
		if err := resign(r, body, service); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	g.count(w, r, service, calls, body)
}

// mayList is a context key of a request to S3. Its value is a func that reports whether the caller may list the
// bucket.
type mayList struct{}

// hide changes the answer "no such object" to "access denied" if the caller may not list the bucket.
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax
func hide(res *http.Response) error {
	listed, ok := res.Request.Context().Value(mayList{}).(func() bool)
	if !ok || res.StatusCode != http.StatusNotFound || listed() {
		return nil
	}
	w := httptest.NewRecorder()
	refuse(w, "s3", http.StatusForbidden, "AccessDenied", "not authorized to perform s3:ListBucket")
	res.Body.Close()
	refused := w.Result()
	res.StatusCode, res.Header, res.Body = refused.StatusCode, refused.Header, refused.Body
	res.ContentLength = int64(w.Body.Len())
	return nil
}

// may reports whether the caller may make a call and the other calls that follow from it. It records each
// decision.
func (g *gate) may(who templates.Rights, c templates.Call, header http.Header) bool {
	if !g.stack.ask(who, c) {
		return false
	}
	for _, next := range g.stack.follow(c, header) {
		if !g.stack.ask(who, next) {
			return false
		}
	}
	return true
}

// other answers a request of a role that does not belong to the stack. The account itself decides who may read
// its secrets.
func (g *gate) other(w http.ResponseWriter, r *http.Request, role, service string, calls []templates.Call) {
	if service == "s3" {
		for _, c := range calls {
			if g.stack.OtherRoles == nil || !g.stack.OtherRoles(role, c.Action, c.Resource) {
				refuse(w, service, http.StatusForbidden, "AccessDenied", role+" is not authorized to perform "+c.Action)
				return
			}
		}
		if err := resign(r, nil, service); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	g.services[service].ServeHTTP(w, r)
}

// read returns the AWS service that a request is for. It also returns the API calls that IAM must allow for the
// request.
func (s *Stack) read(r *http.Request, body []byte) (string, []templates.Call) {
	target := r.Header.Get("X-Amz-Target")
	protocol, operation, _ := strings.Cut(target, ".")
	var in struct {
		TableName, QueueUrl, SecretId, Name, KeyId string
		Key, Item                                  map[string]map[string]any
		ExpressionAttributeValues                  map[string]map[string]any
	}
	if target != "" {
		json.Unmarshal(body, &in) // a body without JSON names no resource, and is refused
	}
	switch {
	case strings.HasPrefix(protocol, "DynamoDB"):
		c := templates.Call{Action: "dynamodb:" + operation, Resource: arn("dynamodb", "table/"+in.TableName), Context: map[string][]string{}}
		for _, item := range []map[string]map[string]any{in.Key, in.Item} {
			if key, ok := item[s.hashKeys[in.TableName]]["S"].(string); ok {
				c.Context[leadingKeys] = []string{key}
			}
		}
		if dir, ok := in.ExpressionAttributeValues[":dir"]["S"].(string); ok && operation == "Query" {
			c.Context[leadingKeys] = []string{dir}
		}
		return "dynamodb", []templates.Call{c}
	case protocol == "AmazonSQS":
		return "sqs", []templates.Call{{Action: "sqs:" + operation, Resource: s.queues[in.QueueUrl[strings.LastIndex(in.QueueUrl, "/")+1:]], Context: tls()}}
	case protocol == "CodeBuild_20161006":
		return "codebuild", []templates.Call{{Action: "codebuild:" + operation, Resource: arn("codebuild", "project/"+codebuild.Read(body).Of())}}
	case protocol == "AmazonSSM":
		return "account", []templates.Call{{Action: "ssm:" + operation, Resource: in.Name}}
	case protocol == "TrentService":
		return "kms", []templates.Call{{Action: "kms:" + operation, Resource: cmp.Or(s.Aliases[in.KeyId], in.KeyId)}}
	case protocol == "secretsmanager":
		return "account", []templates.Call{{Action: "secretsmanager:" + operation, Resource: templates.SecretARN(in.SecretId)}}
	}
	if name, ok := invoked(r); ok {
		return "account", []templates.Call{{Action: "lambda:InvokeFunction", Resource: name}}
	}
	form, err := url.ParseQuery(string(body))
	if err == nil && form.Get("Action") == "GetCallerIdentity" {
		return "account", nil // everybody may do that
	}
	if err == nil && form.Get("Action") == "Publish" {
		return "sns", []templates.Call{{Action: "sns:Publish", Resource: form.Get("TopicArn")}}
	}
	if err == nil && form.Get("Action") == "AssumeRole" {
		return "account", callsToAssume(form)
	}
	return "s3", []templates.Call{readS3(r)}
}

// leadingKeys is the condition key with the partition keys of the items in a DynamoDB request.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
const leadingKeys = "dynamodb:LeadingKeys"

func arn(service, resource string) string {
	return strings.Join([]string{"arn:aws", service, Region, AccountID, resource}, ":")
}

// readS3 returns the call of an S3 request, whose address is in path style.
func readS3(r *http.Request) templates.Call {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if key == "" {
		return templates.Call{Action: "s3:ListBucket", Resource: "arn:aws:s3:::" + bucket, Context: s3Context(r.Header)}
	}
	action := map[string]string{"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "POST": "s3:PutObject", "DELETE": "s3:DeleteObject"}[r.Method]
	return templates.Call{Action: action, Resource: "arn:aws:s3:::" + bucket + "/" + key, Context: s3Context(r.Header)}
}

// refuse answers with an error in the service's format.
func refuse(w http.ResponseWriter, service string, status int, code, message string) {
	if service == "s3" || service == "account" {
		type failure struct {
			XMLName       xml.Name `xml:"Error"`
			Code, Message string
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		xml.NewEncoder(w).Encode(failure{Code: code, Message: message})
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"__type":%q,"message":%q}`, code+"Exception", message)
}
