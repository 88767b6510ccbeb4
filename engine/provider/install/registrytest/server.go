// Package registrytest has a provider registry and a network mirror for tests: one server over TLS on
// 127.0.0.1 with service discovery, the provider registry protocol with signed checksums, and the network
// mirror protocol.
//
// It does not depend on the code that installs providers, so it can test any client of these protocols. Start
// at [New] and [Server.Add]. To test a program, pass it [Server.CLIConfig] and, as SSL_CERT_FILE,
// [Server.CAFile].
package registrytest

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Host is a host name for provider addresses. With [Server.CLIConfig], it leads to the server.
const Host = "registry.example.com"

// A Server is a registry and a mirror. It stops at the end of the test.
type Server struct {
	// Signer signs the checksums. The registry serves its public key.
	Signer *Key
	// Token, if set, is required in requests to the registry and the mirror, but not in downloads.
	Token string
	// Warnings are the warnings that the registry sends to users of a provider.
	Warnings []string
	// Alter, if set, is called with each answer before it is sent, and may change it.
	Alter func(path string, a *Answer)

	t        testing.TB
	server   *httptest.Server
	mu       sync.Mutex
	releases []*Release
	requests []string
}

// An Answer is a response of the server; a test may change it before it is sent.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Cut makes the server close the connection after half of the body.
	Cut bool
}

// New starts a server without any releases.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, Signer: NewKey(t)}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients break connections, on purpose
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

// Address returns `127.0.0.1:PORT`, which can also be the host in source addresses.
func (s *Server) Address() string { return s.server.Listener.Addr().String() }

// Transport returns a transport that trusts the server's certificate.
func (s *Server) Transport() http.RoundTripper { return s.server.Client().Transport }

// MirrorURL returns the base URL of the network mirror.
func (s *Server) MirrorURL() string { return s.server.URL + "/mirror/" }

// CAFile writes the server's certificate to a file for SSL_CERT_FILE, and returns the path.
func (s *Server) CAFile() string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// CLIConfig returns a block of a CLI configuration that makes the server the registry
// of [Host].
func (s *Server) CLIConfig() string {
	return fmt.Sprintf("host %q {\n  services = {\n    \"providers.v1\" = %q\n  }\n}\n", Host, s.server.URL+"/v1/providers/")
}

// MirrorConfig returns a block of a CLI configuration that makes the server the only
// source of providers.
func (s *Server) MirrorConfig() string {
	return fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", s.MirrorURL())
}

// Requests returns the requested paths since the last call, in order.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.Path)
	s.mu.Unlock()
	a := &Answer{Status: http.StatusOK, Header: w.Header()}
	guarded := strings.HasPrefix(r.URL.Path, "/v1/") || strings.HasPrefix(r.URL.Path, "/mirror/")
	switch {
	case guarded && s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token:
		a.Status = http.StatusUnauthorized
	case !guarded && s.Token != "" && strings.HasPrefix(r.URL.Path, "/files/") && r.Header.Get("Authorization") != "":
		s.t.Errorf("the token was sent along with a download, %s", r.URL.Path)
	default:
		a.Body = s.body(r.URL.Path)
		if a.Body == nil {
			a.Status = http.StatusNotFound
		}
	}
	if s.Alter != nil {
		s.Alter(r.URL.Path, a)
	}
	if strings.HasPrefix(strings.TrimSpace(string(a.Body)), "{") {
		w.Header().Set("Content-Type", "application/json")
	}
	if a.Cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.Body)))
		a.Body = a.Body[:len(a.Body)/2]
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client may have gone
	if a.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// body returns the document at a path; nil if there is none.
func (s *Server) body(path string) []byte {
	if path == "/.well-known/terraform.json" {
		return encode(s.t, map[string]any{"providers.v1": "/v1/providers/", "modules.v1": "/v1/modules/"})
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case len(parts) == 5 && parts[0] == "v1" && parts[4] == "versions":
		return s.versions(parts[2], parts[3])
	case len(parts) == 8 && parts[0] == "v1" && parts[5] == "download":
		if r := s.release(parts[2], parts[3], parts[4]); r != nil {
			return s.download(r, parts[6]+"_"+parts[7])
		}
	case len(parts) == 5 && parts[0] == "files":
		if r := s.release(parts[1], parts[2], parts[3]); r != nil {
			return s.file(r, parts[4])
		}
	case len(parts) == 5 && parts[0] == "mirror" && parts[4] == "index.json":
		return s.mirrorIndex(parts[2], parts[3])
	case len(parts) == 5 && parts[0] == "mirror":
		if r := s.release(parts[2], parts[3], strings.TrimSuffix(parts[4], ".json")); r != nil {
			return s.mirrorVersion(r)
		}
	}
	return nil
}

func encode(t testing.TB, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return b
}
