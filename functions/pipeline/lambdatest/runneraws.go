//go:build linux

package lambdatest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/functions/pipeline/lambdatest/templates"
)

// These are the region, the account and the credentials of the functions. The servers that replace AWS know
// them.
const (
	Region    = templates.Region
	AccountID = templates.AccountID
	AccessKey = "test"
	SecretKey = "testsecret"
)

// An Account replaces the rest of an AWS account:
//
//   - the secrets of Secrets Manager
//   - the roles for which STS gives credentials
//   - a team's own Lambda functions
type Account struct {
	URL string

	mu      sync.Mutex
	secrets map[string]string
	readers map[string][]string // of secrets: roles, by ARN; without any, the function itself
	holders map[string]string   // roles by session token
	roles   map[string]Trust
	assumed []AssumedRole
	// functions are a team's own Lambda functions, by ARN.
	functions map[string]func([]byte) ([]byte, error)
}

// An AssumedRole is a request to assume a role.
type AssumedRole struct {
	Role, ExternalID, Session string
	Tags                      map[string]string
	Seconds                   string
	Policy                    string // of the session
}

// StartAccount starts the server of an account. It ends with the test.
func StartAccount(t testing.TB) *Account {
	a := &Account{secrets: map[string]string{}, roles: map[string]Trust{}, readers: map[string][]string{}, holders: map[string]string{}}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	a.URL = s.URL
	return a
}

// Keep stores a secret in the account and returns its ARN.
func (a *Account) Keep(name, value string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	arn := "arn:aws:secretsmanager:" + Region + ":" + AccountID + ":secret:" + name
	a.secrets[arn] = value
	return arn
}

// KeepFor stores a secret or a parameter in the account. Only the given roles may read it.
func (a *Account) KeepFor(arn, value string, roles ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.secrets[arn], a.readers[arn] = value, roles
}

// AddRole adds a role to the account and returns its ARN.
func (a *Account) AddRole(name string) string { return a.AddRoleOf(AccountID, name, Trust{}) }

// A Trust is the trust policy of a role. It has the required external ID, and the required value of the session
// tag "repository". An empty field requires nothing.
type Trust struct{ ExternalID, Repository string }

// AddRoleOf adds a role with a trust policy to another account, and returns its ARN.
func (a *Account) AddRoleOf(account, name string, trust Trust) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	arn := "arn:aws:iam::" + account + ":role/" + name
	a.roles[arn] = trust
	return arn
}

// trusts reports whether the trust policy of a role allows a request to assume it.
func (a *Account) trusts(as AssumedRole) bool {
	trust, ok := a.roles[as.Role]
	return ok && (trust.ExternalID == "" || trust.ExternalID == as.ExternalID) && (trust.Repository == "" || trust.Repository == as.Tags["repository"])
}

// Assumed returns all requests to assume roles, in order.
func (a *Account) Assumed() []AssumedRole {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]AssumedRole(nil), a.assumed...)
}

// ServeHTTP implements http.Handler. It answers GetSecretValue in the JSON 1.1 protocol. It answers AssumeRole
// and GetCallerIdentity in the query protocol.
func (a *Account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r.Header.Get("X-Amz-Target") {
	case "secretsmanager.GetSecretValue", "AmazonSSM.GetParameter":
		a.getSecret(w, r)
		return
	}
	if name, ok := invoked(r); ok {
		a.invoke(w, r, name)
		return
	}
	if err := r.ParseForm(); err == nil {
		switch r.Form.Get("Action") {
		case "AssumeRole":
			a.assumeRole(w, r)
			return
		case "GetCallerIdentity":
			w.Header().Set("Content-Type", "text/xml")
			fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:sts::%[1]s:assumed-role/function/function</Arn><UserId>AROA:function</UserId><Account>%[1]s</Account></GetCallerIdentityResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></GetCallerIdentityResponse>`, AccountID)
			return
		}
	}
	http.Error(w, "no such action", http.StatusNotImplemented)
}

// AddFunction adds a team's own Lambda function to the account. answer returns the function's result, or its
// error.
func (a *Account) AddFunction(arn string, answer func(payload []byte) ([]byte, error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.functions == nil {
		a.functions = map[string]func([]byte) ([]byte, error){}
	}
	a.functions[arn] = answer
}

// invoked returns the ARN of the function that a request invokes. The bool is false if the request does not
// invoke a function.
// Source: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func invoked(r *http.Request) (string, bool) {
	rest, is := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/")
	name, ends := strings.CutSuffix(rest, "/invocations")
	return name, is && ends
}

func (a *Account) invoke(w http.ResponseWriter, r *http.Request, name string) {
	answer := a.functions[name]
	if answer == nil {
		w.Header().Set("X-Amzn-ErrorType", "ResourceNotFoundException")
		http.Error(w, `{"Message":"Function not found"}`, http.StatusNotFound)
		return
	}
	payload, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result, err := answer(payload)
	if err != nil {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		result, _ = json.Marshal(map[string]string{"errorMessage": err.Error()})
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(result)
}

// getSecret answers a request for a secret of Secrets Manager, or for a parameter. Source:
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html,
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
func (a *Account) getSecret(w http.ResponseWriter, r *http.Request) {
	var in struct {
		SecretId, Name string
		WithDecryption bool
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	in.SecretId = templates.SecretARN(cmp.Or(in.Name, in.SecretId))
	value, ok := a.secrets[in.SecretId]
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	holder := a.holders[r.Header.Get("X-Amz-Security-Token")]
	if readers := a.readers[in.SecretId]; ok && !slices.Contains(readers, holder) && (len(readers) > 0 || holder != "") {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"__type": "AccessDeniedException", "Message": "not authorized to read " + in.SecretId})
		return
	}
	if err != nil || !ok {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{
			"__type": "ResourceNotFoundException", "Message": "Secrets Manager can't find the specified secret.",
		})
		return
	}
	if in.Name != "" {
		json.NewEncoder(w).Encode(map[string]any{"Parameter": map[string]any{"Name": in.Name, "Type": "SecureString", "Value": value, "Version": 1}})
		return
	}
	json.NewEncoder(w).Encode(map[string]any{
		"ARN": in.SecretId, "Name": in.SecretId[strings.LastIndex(in.SecretId, ":")+1:], "SecretString": value,
		"VersionId": "00000000-0000-4000-8000-000000000001", "VersionStages": []string{"AWSCURRENT"},
	})
}

// assumeRole answers a request to assume a role. Source:
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html
func (a *Account) assumeRole(w http.ResponseWriter, r *http.Request) {
	as := readAssumed(r.Form)
	w.Header().Set("Content-Type", "text/xml")
	if !a.trusts(as) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error><RequestId>1</RequestId></ErrorResponse>`)
		return
	}
	a.assumed = append(a.assumed, as)
	name := as.Role[strings.LastIndex(as.Role, "/")+1:]
	if account := strings.Split(as.Role, ":")[4]; account != AccountID {
		name += "-" + account
	}
	a.holders["token-of-"+name] = as.Role
	fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIA%s</AccessKeyId><SecretAccessKey>secret-of-%s</SecretAccessKey><SessionToken>token-of-%s</SessionToken><Expiration>%s</Expiration></Credentials><AssumedRoleUser><AssumedRoleId>AROA:%s</AssumedRoleId><Arn>%s</Arn></AssumedRoleUser></AssumeRoleResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></AssumeRoleResponse>`,
		strings.ToUpper(name), name, name, time.Now().Add(time.Hour).UTC().Format(time.RFC3339), as.Session, as.Role)
}
