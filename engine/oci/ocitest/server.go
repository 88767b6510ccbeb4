// Package ocitest has an OCI registry for tests, on 127.0.0.1: the one of go-containerregistry, with artifacts as
// OpenTofu wants them. It can lie.
//
// It does not depend on the code that reads artifacts. Start at [New].
package ocitest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
)

// The artifact types that OpenTofu defines.
const (
	Module         = "application/vnd.opentofu.modulepkg"
	Provider       = "application/vnd.opentofu.provider"
	ProviderTarget = "application/vnd.opentofu.provider-target"
)

// A Server is a registry that lives until the test ends.
type Server struct {
	// Login, if set, is USER:PASSWORD, which requests need.
	Login string
	// Before, if set, is called first for each request. It reports whether it has answered the request.
	Before func(http.ResponseWriter, *http.Request) bool

	t        testing.TB
	http     *httptest.Server
	registry http.Handler
	mu       sync.Mutex
	requests []string
}

// New starts a registry without content, with or without TLS.
func New(t testing.TB, tls bool) *Server {
	t.Helper()
	quiet := log.New(io.Discard, "", 0)
	s := &Server{t: t, registry: registry.New(registry.Logger(quiet))}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.Config.ErrorLog = quiet
	if tls {
		s.http.StartTLS()
	} else {
		s.http.Start()
	}
	t.Cleanup(s.http.Close)
	return s
}

// Address returns 127.0.0.1:PORT.
func (s *Server) Address() string { return s.http.Listener.Addr().String() }

// Transport returns a transport that trusts the server's certificate.
func (s *Server) Transport() http.RoundTripper { return s.http.Client().Transport }

// Requests returns the requests so far, each as METHOD PATH.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(s.Login))
	switch {
	case s.Before != nil && s.Before(w, r):
	case s.Login != "" && r.Header.Get("Authorization") != want:
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		s.registry.ServeHTTP(w, r)
	}
}

// Blob stores a content, and returns its descriptor.
func (s *Server) Blob(repository, mediaType string, data []byte) spec.Descriptor {
	s.t.Helper()
	d := spec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	s.send(http.MethodPost, "/v2/"+repository+"/blobs/uploads/?digest="+string(d.Digest), "", data)
	return d
}

// Manifest stores a manifest with these layers below a tag; "" means below its digest alone.
func (s *Server) Manifest(repository, tag, artifactType string, layers ...spec.Descriptor) spec.Descriptor {
	s.t.Helper()
	s.Blob(repository, spec.MediaTypeEmptyJSON, []byte("{}"))
	return s.document(repository, tag, spec.MediaTypeImageManifest, spec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: spec.MediaTypeImageManifest, ArtifactType: artifactType, Config: spec.DescriptorEmptyJSON, Layers: layers,
	})
}

// Index stores an index of manifests below a tag.
func (s *Server) Index(repository, tag, artifactType string, manifests ...spec.Descriptor) spec.Descriptor {
	s.t.Helper()
	return s.document(repository, tag, spec.MediaTypeImageIndex, spec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: spec.MediaTypeImageIndex, ArtifactType: artifactType, Manifests: manifests,
	})
}

// Module stores a zip archive as a module package below a tag, and returns its digest.
func (s *Server) Module(repository, tag string, archive []byte) string {
	s.t.Helper()
	return string(s.Manifest(repository, tag, Module, s.Blob(repository, "archive/zip", archive)).Digest)
}

// Provider stores the zip archives of a provider, by their platforms OS_ARCH, below a tag.
func (s *Server) Provider(repository, tag string, archives map[string][]byte) {
	s.t.Helper()
	var targets []spec.Descriptor
	for platform, archive := range archives {
		targets = append(targets, For(platform, s.Manifest(repository, "", ProviderTarget, s.Blob(repository, "archive/zip", archive))))
	}
	s.Index(repository, tag, Provider, targets...)
}

// For returns a manifest's descriptor as an index has it for a platform OS_ARCH.
func For(platform string, d spec.Descriptor) spec.Descriptor {
	system, arch, _ := strings.Cut(platform, "_")
	d.ArtifactType, d.Platform = ProviderTarget, &spec.Platform{OS: system, Architecture: arch}
	return d
}

func (s *Server) document(repository, tag, mediaType string, v any) spec.Descriptor {
	s.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	d := spec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
	if tag == "" {
		tag = string(d.Digest)
	}
	s.send(http.MethodPut, "/v2/"+repository+"/manifests/"+tag, mediaType, data)
	return d
}

// send stores something in the registry, without a request over the network.
func (s *Server) send(method, path, mediaType string, data []byte) {
	s.t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(data))
	r.Header.Set("Content-Type", mediaType)
	w := httptest.NewRecorder()
	s.registry.ServeHTTP(w, r)
	if w.Code != http.StatusCreated {
		s.t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}
