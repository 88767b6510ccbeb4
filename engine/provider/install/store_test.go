package install_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/ranged"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

// A store keeps archives in memory, and serves them over HTTP.
type store struct {
	*httptest.Server
	archives map[string][]byte
	asked    []string
	alone    bool // nothing else can be reached
}

// RoundTrip implements http.RoundTripper for a registry that cannot be reached.
func (*store) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("unreachable") }

// withStore gives the installers of a site a store.
func withStore(t *testing.T, s *site) *store {
	t.Helper()
	st := &store{archives: map[string][]byte{}}
	st.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := st.archives[r.URL.Path[1:]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(st.Close)
	s.tune = func(in *install.Installer) {
		if st.alone {
			in.Client.Transport = st
		}
		in.Keep = func(_ context.Context, k install.Kept) {
			data, err := os.ReadFile(k.Path)
			if err != nil {
				t.Error(err)
			}
			st.archives[nameIn(k)] = data
		}
		in.Store = func(ctx context.Context, k install.Kept) (install.Package, error) {
			st.asked = append(st.asked, nameIn(k))
			return install.Package{Remote: func(ctx context.Context) (install.Archive, error) {
				return ranged.Open(ctx, st.Client(), st.URL+"/"+nameIn(k))
			}}, nil
		}
	}
	return st
}

func nameIn(k install.Kept) string {
	return fmt.Sprintf("%s_%s_%s", k.Provider.Type, k.Version, k.Platform)
}

// only returns the name of the one archive that was kept.
func (st *store) only(t *testing.T) string {
	t.Helper()
	if len(st.archives) != 1 {
		t.Fatalf("%d archives are kept", len(st.archives))
	}
	for name := range st.archives {
		return name
	}
	return ""
}

// TestStore installs from a registry, then from the store that has it by then, and needs no registry for it.
func TestStore(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	st := withStore(t, s)
	first := s.init("acme/foo")
	if len(st.asked) > 0 {
		t.Errorf("nothing is locked, and the store was asked for %q", st.asked)
	}
	st.only(t)
	installed := s.tree(".terraform")
	if err := os.RemoveAll(s.path(".terraform")); err != nil {
		t.Fatal(err)
	}
	second := s.init("acme/foo")
	if got := s.server.Requests(); len(got) > 0 {
		t.Errorf("the registry was asked: %q", got)
	}
	if !slices.Contains(s.events, "- Installed registry.example.com/acme/foo v1.0.0 from the store") {
		t.Error(s.events)
	}
	if got := s.tree(".terraform"); !slices.Equal(got, installed) || second.Changed {
		t.Errorf("%q, want %q", got, installed)
	}
	for p, was := range first.Selections {
		if second.Selections[p] != was {
			t.Errorf("%+v, want %+v", second.Selections[p], was)
		}
	}
}

// TestStoreOfAnEnemy is a table of archives in a store that are not those of the registry: the registry is
// asked instead, and where it cannot be, nothing is installed.
func TestStoreOfAnEnemy(t *testing.T) {
	program := registrytest.Entry{Name: "terraform-provider-foo_v1.0.0", Content: "evil", Mode: 0o755}
	for name, archive := range map[string]func(good []byte) []byte{
		"none":           nil,
		"another":        func([]byte) []byte { return registrytest.Zip(t, program) },
		"cut short":      func(good []byte) []byte { return good[:len(good)-5] },
		"longer":         func(good []byte) []byte { return append(slices.Clone(good), registrytest.Zip(t, program)...) },
		"a byte changed": func(good []byte) []byte { bad := slices.Clone(good); bad[60] ^= 1; return bad },
		"empty":          func([]byte) []byte { return nil },
		"no archive":     func([]byte) []byte { return []byte(strings.Repeat("x", 5000)) },
		"leads out": func([]byte) []byte {
			return registrytest.Zip(t, program, registrytest.Entry{Name: "../evil", Content: "x", Mode: 0o644})
		},
	} {
		for _, registry := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, registry %t", name, registry), func(t *testing.T) {
				s := newSite(t, "acme/foo 1.0.0")
				st := withStore(t, s)
				s.init("acme/foo")
				key := st.only(t)
				good := st.archives[key]
				if archive == nil {
					delete(st.archives, key)
				} else {
					st.archives[key] = archive(good)
				}
				if err := os.RemoveAll(s.path(".terraform")); err != nil {
					t.Fatal(err)
				}
				st.alone = !registry
				_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")})
				if ds.HasErrors() == registry || len(st.asked) != 1 {
					t.Errorf("%v, after %q", ds, st.asked)
				}
				for _, path := range s.tree(".terraform") {
					if data, _ := os.ReadFile(s.path(".terraform", path)); !registry || string(data) == "evil" {
						t.Errorf("%s is there: %q", path, data)
					}
				}
				if registry && !bytes.Equal(st.archives[key], good) {
					t.Error("the store does not have the right archive afterwards")
				}
			})
		}
	}
}

// TestStoreWithoutChecksums has a lock file without checksums: nothing in a store could be verified.
func TestStoreWithoutChecksums(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	st := withStore(t, s)
	s.write(lockfile.Name, "provider \"registry.example.com/acme/foo\" {\n  version = \"1.0.0\"\n}\n")
	if _, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")}); ds.HasErrors() || len(st.asked) > 0 {
		t.Errorf("%v, after %q", ds, st.asked)
	}
}
