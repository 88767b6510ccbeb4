package install_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/oci/ocitest"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

// newOCISite returns a site that installs from an OCI registry.
func newOCISite(t *testing.T) (*site, *ocitest.Server) {
	t.Helper()
	s, registry := newSite(t), ocitest.New(t, true)
	s.config = "provider_installation {\n  oci_mirror {\n    repository_template = \"" + registry.Address() + "/${hostname}/${namespace}/${type}\"\n  }\n}\n"
	s.tune = func(in *install.Installer) { in.Client.Transport = registry.Transport() }
	return s, registry
}

// archiveOf returns the archive of a provider's version.
func archiveOf(t *testing.T, typeName, version string) []byte {
	return registrytest.Zip(t, registrytest.Entry{Name: "terraform-provider-" + typeName + "_v" + version, Content: version, Mode: 0o755})
}

func TestFromAnOCIMirror(t *testing.T) {
	t.Parallel()
	s, registry := newOCISite(t)
	at := registrytest.Host + "/acme/foo"
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0+b.1"} {
		registry.Provider(at, strings.ReplaceAll(version, "+", "_"), map[string][]byte{platform: archiveOf(t, "foo", version), "plan9_mips": archiveOf(t, "foo", "other")})
	}
	registry.Module(at, "latest", []byte("no provider"))
	result := s.init("acme/foo < 2.0.0")
	if got := s.events[len(s.events)-1]; got != "- Installed "+at+" v1.1.0 (verified checksum)" {
		t.Error(got)
	}
	if strings.Contains(s.lock(), "zh:") || len(result.LocalChecksums) != 1 {
		t.Errorf("checksums without a signature were recorded:\n%s", s.lock())
	}
	n := len(registry.Requests())
	if s.init("acme/foo < 2.0.0"); len(registry.Requests()) != n {
		t.Errorf("an installed provider is asked for again: %q", registry.Requests()[n:])
	}
	if _, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo"), Upgrade: true}); ds.HasErrors() || !strings.Contains(s.lock(), `"2.0.0+b.1"`) {
		t.Errorf("%v\n%s", ds, s.lock())
	}
}

// Whatever the registry says wrongly is an error, and nothing of it is installed.
func TestOCIMirrorLies(t *testing.T) {
	t.Parallel()
	archive := archiveOf(t, "foo", "1.0.0")
	evil := archiveOf(t, "foo", "6.6.6")
	at := registrytest.Host + "/acme/foo"
	for what, test := range map[string]struct {
		build func(*ocitest.Server)
		want  string
	}{
		"no repository": {func(*ocitest.Server) {}, "was not found in the OCI repository"},
		"another platform": {func(r *ocitest.Server) {
			r.Provider(at, "1.0.0", map[string][]byte{"plan9_mips": archive})
		}, "There is no package of provider"},
		"a manifest in place of an index": {func(r *ocitest.Server) { r.Module(at, "1.0.0", archive) }, `"application/vnd.oci.image.index.v1+json" is needed`},
		"an index of something else":      {func(r *ocitest.Server) { r.Index(at, "1.0.0", "application/vnd.example") }, `"application/vnd.opentofu.provider" is needed`},
		"a module as target": {func(r *ocitest.Server) {
			d := r.Manifest(at, "", ocitest.Module, r.Blob(at, "archive/zip", archive))
			r.Index(at, "1.0.0", ocitest.Provider, ocitest.For(platform, d))
		}, `"application/vnd.opentofu.provider-target" is needed`},
		"no layer": {func(r *ocitest.Server) {
			r.Index(at, "1.0.0", ocitest.Provider, ocitest.For(platform, r.Manifest(at, "", ocitest.ProviderTarget)))
		}, "must have one layer"},
		"a gigantic package": {func(r *ocitest.Server) {
			d := r.Blob(at, "archive/zip", archive)
			d.Size = 5 << 30
			r.Index(at, "1.0.0", ocitest.Provider, ocitest.For(platform, r.Manifest(at, "", ocitest.ProviderTarget, d)))
		}, "has 5368709120 bytes, and 4294967296 are allowed"},
		"another package than its digest": {func(r *ocitest.Server) {
			r.Provider(at, "1.0.0", map[string][]byte{platform: archive})
			r.Before = func(w http.ResponseWriter, req *http.Request) bool {
				if !strings.Contains(req.URL.Path, "/blobs/") {
					return false
				}
				_, err := w.Write(evil)
				return err == nil
			}
		}, "sent another content than its digest promises"},
		"no archive": {func(r *ocitest.Server) {
			r.Provider(at, "1.0.0", map[string][]byte{platform: []byte("no archive")})
		}, "not a valid zip file"},
		"a path out of the package": {func(r *ocitest.Server) {
			r.Provider(at, "1.0.0", map[string][]byte{platform: registrytest.Zip(t, registrytest.Entry{Name: "../../evil", Content: "x", Mode: 0o755})})
		}, "../../evil"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, registry := newOCISite(t)
			test.build(registry)
			_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")})
			if !ds.HasErrors() || !strings.Contains(fmt.Sprint(ds), test.want) {
				t.Errorf("got %v, want %q", ds, test.want)
			}
			if left := s.tree(".terraform"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}
