//go:build linux

package lambdatest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// STS for the roles of the template: those whom a role trusts get credentials, and their use needs
// the role's policies and the session's own.

// role is one of the template's.
type role struct {
	statements []statement
	trust      []statement
}

// A session is the rights of an assumed role.
type session struct {
	AssumedRole
	Policy string // as it was given

	secret, token string
	role, policy  []statement
	narrowed      bool
}

// allows evaluates both: a session has the common rights of the role and its own policy.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies.html#policies_session
func (x session) allows(c call) bool {
	return allowed(x.role, c) && (!x.narrowed || allowed(x.policy, c))
}

// limits of AssumeRole.
// Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
const (
	maxSessionPolicy = 2048
	maxChained       = 3600 // seconds, where a role assumes a role
)

// makeRoles reads the template's roles.
func (s *Stack) makeRoles() {
	s.each("AWS::IAM::Role", func(name string, p map[string]any) {
		resolved := s.resolver.resolve(p).(map[string]any)
		s.roles[s.resolver.atts[name+".Arn"]] = &role{
			statements: statementsOf(resolved),
			trust:      statementsIn(resolved["AssumeRolePolicyDocument"].(map[string]any)),
		}
	})
}

// Sessions returns how the template's roles were assumed, in order, and with which
// policies.
func (s *Stack) Sessions() []AssumedRole {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.assumed)
}

// assume decides about AssumeRole for a role of the template, asked for by caller, and
// returns the credentials' session.
func (s *Stack) assume(caller string, form url.Values) (session, error) {
	r := s.roles[form.Get("RoleArn")]
	x := session{AssumedRole: readAssumed(form), role: r.statements}
	c := call{Resource: form.Get("RoleArn"), principal: caller, context: map[string]string{}, lists: map[string][]string{"aws:TagKeys": {}}}
	if x.ExternalID != "" {
		c.context["sts:ExternalId"] = x.ExternalID
	}
	for k, v := range x.Tags {
		c.context["aws:RequestTag/"+k] = v
		c.lists["aws:TagKeys"] = append(c.lists["aws:TagKeys"], k)
	}
	for _, action := range []string{"sts:AssumeRole", "sts:TagSession"} {
		if action == "sts:TagSession" {
			// It knows no external ID.
			// Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_awssecuritytokenservice.html
			delete(c.context, "sts:ExternalId")
		}
		if c.Action = action; !trusted(r.trust, c) {
			return x, fmt.Errorf("%s is not trusted to %s %s", caller, action, c.Resource)
		}
	}
	if n, err := strconv.Atoi(x.Seconds); err != nil || n > maxChained || n < 900 {
		return x, fmt.Errorf("DurationSeconds %q", x.Seconds)
	}
	if x.Policy = form.Get("Policy"); x.Policy != "" {
		var document map[string]any
		if len(x.Policy) > maxSessionPolicy {
			return x, fmt.Errorf("the policy has %d characters", len(x.Policy))
		}
		if err := json.Unmarshal([]byte(x.Policy), &document); err != nil {
			return x, err
		}
		x.policy, x.narrowed = statementsIn(document), true
	}
	x.secret, x.token = "secret-of-"+rand.Text(), "token-of-"+rand.Text()
	return x, nil
}

// trusted evaluates a trust policy. Whom it names itself needs no policy of their own.
// Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func trusted(trust []statement, c call) bool {
	own := slices.DeleteFunc(slices.Clone(trust), func(x statement) bool { return !slices.Contains(x.principals, c.principal) })
	for i := range own {
		own[i].resources = []string{"*"}
	}
	return allowed(own, c)
}

// assumeRole answers AssumeRole.
func (g *gate) assumeRole(w http.ResponseWriter, form url.Values) {
	s := g.stack
	x, err := s.assume(g.arn, form)
	if err != nil {
		s.denied(Request{Function: g.function, Action: "sts:AssumeRole", Resource: form.Get("RoleArn") + ": " + err.Error()})
		refuse(w, "account", http.StatusForbidden, "AccessDenied", err.Error())
		return
	}
	id := "ASIA" + strings.ToUpper(rand.Text()[:16])
	s.mu.Lock()
	s.sessions[id] = x
	as := x.AssumedRole
	as.Policy = x.Policy
	s.assumed = append(s.assumed, as)
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

// errNobody is a request with credentials that nobody was given.
var errNobody = errors.New("these credentials are nobody's")

// by returns the session that a request is made in; nil if it is the function's own.
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

// resign signs a request of a session as the servers behind the gate know it: they have
// one user.
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
