// Package sourcetest has a server for tests that provides modules: git repositories (served by git itself),
// archives, and a module registry, all over TLS on 127.0.0.1.
//
// It does not depend on the code that installs modules, so it can test that code. Start at [New]; pass
// [Server.Environ] to programs.
package sourcetest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Host is a host name for module addresses. With [Server.CLIConfig], it leads to the server.
const Host = "modules.example.com"

// A Server provides modules until the test ends.
type Server struct {
	// Password, if set, is required in requests for git repositories.
	Password string
	// Token, if set, is required in requests to the registry.
	Token string

	t        testing.TB
	server   *httptest.Server
	git      http.Handler // nil without git
	repos    string
	files    map[string][]byte
	headers  map[string]http.Header
	versions map[string][]string // of modules, by NAMESPACE/NAME/SYSTEM
	mu       sync.Mutex
	requests []string
}

// New starts a server without any modules.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		t: t, repos: t.TempDir(), files: map[string][]byte{}, headers: map[string]http.Header{}, versions: map[string][]string{},
	}
	if path, err := exec.LookPath("git"); err == nil {
		s.git = &cgi.Handler{
			Path: path, Args: []string{"http-backend"}, Root: "/git", Stderr: io.Discard,
			Env:        []string{"GIT_PROJECT_ROOT=" + s.repos, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"},
			InheritEnv: []string{"PATH"},
		}
	}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients break connections, on purpose
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	return s
}

// URL returns https://127.0.0.1:PORT.
func (s *Server) URL() string { return s.server.URL }

// Address returns 127.0.0.1:PORT, which can also be the host in registry addresses.
func (s *Server) Address() string { return s.server.Listener.Addr().String() }

// Transport returns a transport that trusts the server's certificate.
func (s *Server) Transport() http.RoundTripper { return s.server.Client().Transport }

// Environ returns environment variables that make git and Go programs trust the server.
func (s *Server) Environ() []string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return []string{"SSL_CERT_FILE=" + path, "GIT_SSL_CAINFO=" + path, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
}

// CLIConfig returns a block of a CLI configuration that makes the server the module
// registry of [Host].
func (s *Server) CLIConfig() string {
	return fmt.Sprintf("host %q {\n  services = {\n    \"modules.v1\" = %q\n  }\n}\n", Host, s.URL()+"/v1/modules/")
}

// File serves content at a path, with these response headers.
func (s *Server) File(path string, content []byte, header http.Header) {
	s.files[path], s.headers[path] = content, header
}

// Redirect redirects requests for a path to another address.
func (s *Server) Redirect(path, to string) {
	s.File(path, []byte{}, http.Header{"Location": {to}})
}

// Module adds a version of NAMESPACE/NAME/SYSTEM to the registry. location is the source address of its
// package.
func (s *Server) Module(name, version, location string) {
	s.versions[name] = append(s.versions[name], version)
	s.File("/v1/modules/"+name+"/"+version+"/download", nil, http.Header{"X-Terraform-Get": {location}})
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
	if strings.HasPrefix(r.URL.Path, "/git/") && s.git != nil {
		if _, password, _ := r.BasicAuth(); password != s.Password {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.git.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") && s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.URL.Path == "/.well-known/terraform.json" || strings.HasPrefix(r.URL.Path, "/v1/") {
		w.Header().Set("Content-Type", "application/json")
	}
	if r.URL.Path == "/.well-known/terraform.json" {
		fmt.Fprint(w, `{"modules.v1":"/v1/modules/"}`)
		return
	}
	if name, ok := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/versions"), "/v1/modules/"); ok && s.versions[name] != nil {
		s.list(w, s.versions[name])
		return
	}
	content, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	maps.Copy(w.Header(), s.headers[r.URL.Path])
	if w.Header().Get("Location") != "" {
		w.WriteHeader(http.StatusFound)
		return
	}
	if content == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	_, _ = w.Write(content) // the client may have gone
}

func (s *Server) list(w io.Writer, versions []string) {
	type version struct {
		Version string `json:"version"`
	}
	var module struct {
		Versions []version `json:"versions"`
	}
	for _, v := range versions {
		module.Versions = append(module.Versions, version{v})
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"modules": []any{module}}); err != nil {
		s.t.Error(err)
	}
}

// Repository creates a repository NAME.git, or adds a commit to it. The commit has exactly the given files,
// and gets a tag. Repository returns the commit's ID. If git is not on the PATH, the test fails.
func (s *Server) Repository(name, tag string, files map[string]string) string {
	s.t.Helper()
	if s.git == nil {
		s.t.Fatal("git is not on the PATH: this test needs it")
	}
	work := filepath.Join(s.t.TempDir(), name)
	bare := filepath.Join(s.repos, name+".git")
	if _, err := os.Stat(bare); err != nil {
		s.run("", "init", "--quiet", "--bare", "--initial-branch=main", bare)
		s.run(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	}
	s.run("", "clone", "--quiet", bare, work)
	s.run(work, "checkout", "--quiet", "-B", "main")
	for path, content := range files {
		path = filepath.Join(work, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			if err := os.Symlink(target, path); err != nil {
				s.t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.run(work, "add", "--all")
	s.run(work, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--allow-empty", "--message", tag)
	s.run(work, "tag", tag)
	s.run(work, "push", "--quiet", "origin", "main", tag)
	return strings.TrimSpace(s.run(work, "rev-parse", "HEAD"))
}

func (s *Server) run(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Zip returns an archive of files by name.
func Zip(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Tarball returns a compressed archive of files by name. A content that begins with "-> " makes a symbolic
// link.
func Tarball(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))}
		target, link := strings.CutPrefix(files[name], "-> ")
		if link {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if !link {
			if _, err := io.WriteString(w, files[name]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Path returns the path of the repository NAME.git on this machine.
func (s *Server) Path(name string) string { return filepath.Join(s.repos, name+".git") }

// Submodule creates a repository with another repository as a submodule in the directory x. url is the
// submodule's address in .gitmodules. Submodule returns the new repository's address.
func (s *Server) Submodule(name, other, url string) string {
	s.t.Helper()
	s.Repository(name, "base", map[string]string{".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = " + url + "\n"})
	commit := strings.TrimSpace(s.run(s.Path(other), "rev-parse", "main"))
	work := filepath.Join(s.t.TempDir(), name)
	s.run("", "clone", "--quiet", s.Path(name), work)
	s.run(work, "update-index", "--add", "--cacheinfo", "160000,"+commit+",x")
	s.run(work, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message", "submodule")
	s.run(work, "push", "--quiet", "origin", "HEAD:main")
	return "git::" + s.URL() + "/git/" + name + ".git"
}

// Annotate adds an annotated tag of a commit to a repository.
func (s *Server) Annotate(name, tag, commit string) {
	s.t.Helper()
	s.run(s.Path(name), "-c", "user.name=x", "-c", "user.email=x@example.com", "tag", "--annotate", "--message", tag, tag, commit)
}

// Tree creates a repository NAME.git whose only file has a name that git's own commands refuse.
func (s *Server) Tree(name, file string) {
	s.t.Helper()
	s.Repository(name, "base", map[string]string{"x.tf": "x"})
	dir := s.Path(name)
	blob, err := hex.DecodeString(strings.TrimSpace(s.run(dir, "rev-parse", "main:x.tf")))
	if err != nil {
		s.t.Fatal(err)
	}
	entry := filepath.Join(s.t.TempDir(), "tree")
	if err := os.WriteFile(entry, slices.Concat([]byte("100644 "+file+"\x00"), blob), 0o600); err != nil {
		s.t.Fatal(err)
	}
	tree := strings.TrimSpace(s.run(dir, "hash-object", "-t", "tree", "-w", "--literally", entry))
	commit := s.run(dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-m", "tree", tree)
	s.run(dir, "update-ref", "refs/heads/main", strings.TrimSpace(commit))
}
