// Package kmstest is a small AWS KMS for tests. It has the two calls that create and decrypt data keys, in
// the service's protocol. It has no policies: at most one access key is accepted. Start at [Start].
//
// Source: https://docs.aws.amazon.com/kms/latest/APIReference/API_GenerateDataKey.html
package kmstest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// KeyID is the alias of the only key.
const KeyID = "alias/states"

// A Server is a KMS with one key.
type Server struct {
	// URL is the server's address, for AWS_ENDPOINT_URL_KMS.
	URL string
	// AccessKey is the access key that may use the encryption key; "" allows everybody.
	AccessKey string

	mu    sync.Mutex
	asked []string
	key   cipher.AEAD
}

// Start starts a server. The server stops at the end of the test.
func Start(t testing.TB, accessKey string) *Server {
	block, err := aes.NewCipher([]byte(rand.Text())[:16])
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{AccessKey: accessKey}
	if s.key, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		t.Fatal(err)
	}
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

// request has the fields of both calls.
type request struct {
	KeyID          string `json:"KeyId"`
	KeySpec        string
	CiphertextBlob []byte
}

// ServeHTTP implements http.Handler: it answers one KMS call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		s.refuse(w, "SerializationException", err.Error())
		return
	}
	action := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
	scope := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
	denied := in.KeyID != KeyID || len(scope) < 4 || s.AccessKey != "" && scope[0] != s.AccessKey
	line := action + " " + in.KeyID
	if len(scope) > 2 {
		line += " " + scope[2]
	}
	if denied {
		line = "denied " + line
	}
	s.mu.Lock()
	s.asked = append(s.asked, line)
	s.mu.Unlock()
	switch {
	case denied:
		s.refuse(w, "AccessDeniedException", "not authorized to perform: kms:"+action+" on this resource")
	case action == "GenerateDataKey":
		plain := make([]byte, map[string]int{"AES_256": 32, "AES_128": 16}[in.KeySpec])
		rand.Read(plain)
		s.reply(w, in, plain, s.key.Seal(nil, nil, plain, nil))
	case action == "Decrypt":
		plain, err := s.key.Open(nil, nil, in.CiphertextBlob, nil)
		if err != nil {
			s.refuse(w, "InvalidCiphertextException", "")
			return
		}
		s.reply(w, in, plain, nil)
	default:
		s.refuse(w, "UnknownOperationException", action)
	}
}

func (s *Server) reply(w http.ResponseWriter, in request, plain, sealed []byte) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	json.NewEncoder(w).Encode(map[string]any{"KeyId": in.KeyID, "Plaintext": plain, "CiphertextBlob": sealed}) // bytes are base64
}

func (s *Server) refuse(w http.ResponseWriter, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(http.StatusBadRequest)
	json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}
