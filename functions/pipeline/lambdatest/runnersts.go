//go:build linux

package lambdatest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// This file implements STS for the roles of the template. A caller gets credentials if a role trusts the
// caller. A request with these credentials must be allowed by both the role's policies and the session's own
// policy.

// A session has the rights of an assumed role.
type session struct {
	AssumedRole
	rights        templates.Rights
	secret, token string
}

// Limits of AssumeRole.
// Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const (
	maxSessionPolicy = 2048
	maxChained       = 3600 // seconds, where a role assumes a role
)

// roleOf returns the logical name of a role of the template; "" for another role.
func (s *Stack) roleOf(arn string) string {
	for name, r := range s.Template.Resources {
		if r.Type == "AWS::IAM::Role" && s.resolver.Atts[name+".Arn"] == arn {
			return name
		}
	}
	return ""
}

// Sessions returns all requests to assume the template's roles, in order, with the session policies.
func (s *Stack) Sessions() []AssumedRole {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.assumed)
}

// assume decides on a request by caller to assume a role of the template, and returns the new session.
func (s *Stack) assume(caller templates.Rights, form url.Values) (session, error) {
	x := session{AssumedRole: readAssumed(form), rights: s.rightsOf(s.roleOf(form.Get("RoleArn")))}
	for _, c := range callsToAssume(form) {
		if !s.ask(caller, c) {
			return x, fmt.Errorf("%s is not trusted to %s %s", caller.Who, c.Action, c.Resource)
		}
	}
	if n, err := strconv.Atoi(x.Seconds); err != nil || n > maxChained || n < 900 {
		return x, fmt.Errorf("DurationSeconds %q", x.Seconds)
	}
	if x.Policy != "" {
		if len(x.Policy) > maxSessionPolicy {
			return x, fmt.Errorf("the policy has %d characters", len(x.Policy))
		}
		if err := x.rights.Narrow(x.Policy); err != nil {
			return x, err
		}
	}
	x.secret, x.token = "secret-of-"+rand.Text(), "token-of-"+rand.Text()
	return x, nil
}

// callsToAssume returns the calls that IAM evaluates for AssumeRole. The external ID is not a condition key of
// TagSession.
// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecuritytokenservice.html
func callsToAssume(form url.Values) []templates.Call {
	as := readAssumed(form)
	tag := templates.Call{Action: "sts:TagSession", Resource: as.Role, Context: map[string][]string{}}
	for k, v := range as.Tags {
		tag.Context["aws:RequestTag/"+k] = []string{v}
	}
	tag.Context["aws:TagKeys"] = slices.Sorted(maps.Keys(as.Tags))
	assume := tag
	assume.Action, assume.Context = "sts:AssumeRole", maps.Clone(tag.Context)
	if as.ExternalID != "" {
		assume.Context["sts:ExternalId"] = []string{as.ExternalID}
	}
	if len(as.Tags) == 0 {
		return []templates.Call{assume}
	}
	return []templates.Call{assume, tag}
}

// assumeRole answers AssumeRole.
func (g *gate) assumeRole(w http.ResponseWriter, form url.Values) {
	s := g.stack
	x, err := s.assume(g.rights, form)
	if err != nil {
		s.denied(Request{Function: g.function, Action: "sts:AssumeRole", Resource: form.Get("RoleArn") + ": " + err.Error()})
		refuse(w, "account", http.StatusForbidden, "AccessDenied", err.Error())
		return
	}
	id := "ASIA" + strings.ToUpper(rand.Text()[:16])
	s.mu.Lock()
	s.sessions[id] = x
	s.assumed = append(s.assumed, x.AssumedRole)
	s.mu.Unlock()
	type answer struct {
		XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ AssumeRoleResponse"`
		ID        string   `xml:"AssumeRoleResult>Credentials>AccessKeyId"`
		Secret    string   `xml:"AssumeRoleResult>Credentials>SecretAccessKey"`
		Token     string   `xml:"AssumeRoleResult>Credentials>SessionToken"`
		Expires   string   `xml:"AssumeRoleResult>Credentials>Expiration"`
		RequestID string   `xml:"ResponseMetadata>RequestId"`
	}
	w.Header().Set("Content-Type", "text/xml")
	xml.NewEncoder(w).Encode(answer{
		ID: id, Secret: x.secret, Token: x.token, RequestID: "1", Expires: time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	})
}

func readAssumed(form url.Values) AssumedRole {
	as := AssumedRole{
		Role: form.Get("RoleArn"), ExternalID: form.Get("ExternalId"), Session: form.Get("RoleSessionName"),
		Tags: map[string]string{}, Seconds: form.Get("DurationSeconds"), Policy: form.Get("Policy"),
	}
	for n := 1; form.Has(fmt.Sprintf("Tags.member.%d.Key", n)); n++ {
		as.Tags[form.Get(fmt.Sprintf("Tags.member.%d.Key", n))] = form.Get(fmt.Sprintf("Tags.member.%d.Value", n))
	}
	return as
}

// errNobody reports a request with credentials that were given to no caller.
var errNobody = errors.New("these credentials are nobody's")

// by returns the session whose credentials a request has; nil for the function's own credentials.
func (g *gate) by(r *http.Request) (*session, error) {
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if scope == "" {
		scope = r.URL.Query().Get("X-Amz-Credential") // a presigned address
	}
	id, _, _ := strings.Cut(scope, "/")
	if id == AccessKey && r.Header.Get("X-Amz-Security-Token") == "" {
		return nil, nil
	}
	g.stack.mu.Lock()
	defer g.stack.mu.Unlock()
	x, ok := g.stack.sessions[id]
	if !ok || r.Header.Get("X-Amz-Security-Token") != x.token {
		return nil, errNobody
	}
	return &x, nil
}

// resign signs a session's request again, with the credentials that the servers behind the gate accept. These
// servers have only one user.
func resign(r *http.Request, body []byte, service string) error {
	r.Header.Del("Authorization")
	r.Header.Del("X-Amz-Security-Token")
	sum := r.Header.Get("X-Amz-Content-Sha256")
	if sum == "" {
		hash := sha256.Sum256(body)
		sum = hex.EncodeToString(hash[:])
	}
	r.Header.Del("Connection")
	return v4.NewSigner().SignHTTP(r.Context(), aws.Credentials{AccessKeyID: AccessKey, SecretAccessKey: SecretKey}, r, sum, service, Region, time.Now(),
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = service == "s3" })
}
