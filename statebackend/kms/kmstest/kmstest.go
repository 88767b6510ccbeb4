// Package kmstest starts a real KMS server, local-kms, for tests. Local-kms has no policies, so a proxy in front of it has one:
// at most one access key may use the key of states, and nobody may use another key. Start at [Start].
package kmstest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// These are the aliases of the two keys that the server has.
const (
	KeyID    = "alias/states"
	OtherKey = "alias/others" // exists, and the policy refuses it
)

// A Server is a KMS with two keys.
type Server struct {
	// URL is the server's address, for AWS_ENDPOINT_URL_KMS. Behind it is the policy.
	URL string
	// Open is an address without a policy.
	Open string

	accessKey string
	mu        sync.Mutex
	asked     []string
	behind    *httputil.ReverseProxy
}

// Start starts a server that only accessKey may use; "" allows everybody. The server stops at the end of the test.
func Start(t testing.TB, accessKey string) *Server {
	t.Helper()
	program := statebackendtest.Part(t, "bin", "kms")
	s := &Server{accessKey: accessKey}
	s.Open = "http://" + statebackendtest.StartServer(t, func(address string) *exec.Cmd {
		return statebackendtest.Server(program, address, t.TempDir())
	})
	client := kms.New(kms.Options{Region: "eu-central-1", BaseEndpoint: &s.Open, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	for _, alias := range []string{KeyID, OtherKey} {
		key, err := client.CreateKey(t.Context(), &kms.CreateKeyInput{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CreateAlias(t.Context(), &kms.CreateAliasInput{AliasName: aws.String(alias), TargetKeyId: key.KeyMetadata.KeyId}); err != nil {
			t.Fatal(err)
		}
	}
	to, err := url.Parse(s.Open)
	if err != nil {
		t.Fatal(err)
	}
	s.behind = httputil.NewSingleHostReverseProxy(to)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Asked returns the calls so far, each as "ACTION KEY REGION". A refused call begins with "denied".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...)
}

// ServeHTTP implements http.Handler: it applies the policy to one call, and hands it on.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var in struct {
		KeyID string `json:"KeyId"`
	}
	json.Unmarshal(body, &in) // an error is ignored here: the KMS server itself refuses a body that is not JSON
	action := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
	scope := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
	line := action + " " + in.KeyID
	if len(scope) > 2 {
		line += " " + scope[2]
	}
	denied := in.KeyID != KeyID || len(scope) < 4 || s.accessKey != "" && scope[0] != s.accessKey
	if denied {
		line = "denied " + line
	}
	s.mu.Lock()
	s.asked = append(s.asked, line)
	s.mu.Unlock()
	if denied {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"__type": "AccessDeniedException", "message": "not authorized to perform: kms:" + action + " on this resource"})
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.behind.ServeHTTP(w, r)
}
