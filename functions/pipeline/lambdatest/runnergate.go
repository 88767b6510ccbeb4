//go:build linux

package lambdatest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// gate is all of AWS for a function, under one address. It passes a request on to the server of its
// service if the function's role allows it or, with the credentials of a session, if the session's
// role and policy do.
type gate struct {
	stack      *Stack
	function   string
	role       string // its logical name
	arn        string // the role's
	statements []statement
	services   map[string]*httputil.ReverseProxy
}

// A Request is a request of a function to AWS.
type Request struct {
	Function string
	// Session is the ARN of the role that was assumed for it; "" for the function's own.
	Session string
	// Action is IAM's name of it, "s3:PutObject", and Resource the ARN that it is for.
	Action, Resource string
	Key              string // the partition key of a DynamoDB item, up to the first "/"
	Header           http.Header
}

// String returns function, action and resource.
func (r Request) String() string { return r.Function + " " + r.Action + " " + r.Resource }

// Services are the addresses of the servers that play AWS.
type Services struct{ S3, DynamoDB, SQS, Account string }

func (s *Stack) newGate(function, role string) *gate {
	g := &gate{
		stack: s, function: function, role: role, arn: s.resolver.atts[role+".Arn"], statements: s.rightsOf(role), services: map[string]*httputil.ReverseProxy{},
	}
	for name, address := range map[string]string{"s3": s.Services.S3, "dynamodb": s.Services.DynamoDB, "sqs": s.Services.SQS, "account": s.Services.Account} {
		to, err := url.Parse(address)
		if err != nil {
			s.t.Fatal(err)
		}
		g.services[name] = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // it is signed
		}}
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
	may := func(c call) bool { return allowed(g.statements, c) }
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
		may = by.allows
	}
	if form, err := url.ParseQuery(string(body)); err == nil && form.Get("Action") == "AssumeRole" && g.stack.roles[form.Get("RoleArn")] != nil {
		g.assumeRole(w, form)
		return
	}
	for _, c := range calls {
		q := Request{Function: g.function, Action: c.Action, Resource: c.Resource, Header: r.Header}
		if len(c.keys) > 0 {
			q.Key, _, _ = strings.Cut(c.keys[0], "/")
		}
		if by != nil {
			q.Session = by.Role
		}
		if !may(c) || g.stack.closed(g.role, c, r.Header) {
			g.stack.denied(q)
			refuse(w, service, http.StatusForbidden, "AccessDenied", "not authorized to perform "+c.Action)
			return
		}
		if status := g.stack.note(q); status != 0 {
			refuse(w, service, status, "InternalError", "the test says no")
			return
		}
	}
	if by != nil && service != "account" {
		if err := resign(r, body, service); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	g.services[service].ServeHTTP(w, r)
}

// other serves a role that is not the stack's. The account decides on its own secrets.
func (g *gate) other(w http.ResponseWriter, r *http.Request, role, service string, calls []call) {
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

// read returns the service of a request, and the actions in it.
func (s *Stack) read(r *http.Request, body []byte) (string, []call) {
	target := r.Header.Get("X-Amz-Target")
	protocol, operation, _ := strings.Cut(target, ".")
	var in struct {
		TableName, QueueUrl, SecretId, Name string
		Key, Item                           map[string]map[string]any
	}
	if target != "" {
		json.Unmarshal(body, &in) // a body without JSON names no resource, and is refused
	}
	switch {
	case strings.HasPrefix(protocol, "DynamoDB"):
		c := call{Action: "dynamodb:" + operation, Resource: arn("dynamodb", "table/"+in.TableName)}
		for _, item := range []map[string]map[string]any{in.Key, in.Item} {
			if key, ok := item[s.hashKeys[in.TableName]]["S"].(string); ok {
				c.keys = append(c.keys, key)
			}
		}
		return "dynamodb", []call{c}
	case protocol == "AmazonSQS":
		return "sqs", []call{{Action: "sqs:" + operation, Resource: s.queues[in.QueueUrl[strings.LastIndex(in.QueueUrl, "/")+1:]]}}
	case protocol == "AmazonSSM":
		return "account", []call{{Action: "ssm:" + operation, Resource: in.Name}}
	case protocol == "secretsmanager":
		return "account", []call{{Action: "secretsmanager:" + operation, Resource: in.SecretId}}
	}
	form, err := url.ParseQuery(string(body))
	if err == nil && form.Get("Action") == "GetCallerIdentity" {
		return "account", nil // which everybody may
	}
	if err == nil && form.Get("Action") == "AssumeRole" {
		calls := []call{{Action: "sts:AssumeRole", Resource: form.Get("RoleArn")}}
		if form.Has("Tags.member.1.Key") {
			calls = append(calls, call{Action: "sts:TagSession", Resource: form.Get("RoleArn")})
		}
		return "account", calls
	}
	return "s3", []call{readS3(r)}
}

func arn(service, resource string) string {
	return strings.Join([]string{"arn:aws", service, Region, AccountID, resource}, ":")
}

// readS3 reads a request in path style.
func readS3(r *http.Request) call {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if key == "" {
		return call{Action: "s3:ListBucket", Resource: "arn:aws:s3:::" + bucket}
	}
	action := map[string]string{"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "POST": "s3:PutObject", "DELETE": "s3:DeleteObject"}[r.Method]
	return call{Action: action, Resource: "arn:aws:s3:::" + bucket + "/" + key}
}

// refuse answers in the form of the service.
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
