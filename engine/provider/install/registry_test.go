package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

var platform = runtime.GOOS + "_" + runtime.GOARCH

func TestFromTheRegistry(t *testing.T) {
	s := newSite(t)
	s.server.Add(registrytest.Release{
		Namespace: "acme", Type: "foo", Version: "1.2.0", Platforms: []string{platform, "plan9_arm"},
		Files: map[string]string{"docs/LICENSE": "free"},
	})
	s.server.Add(release(t, "acme/foo 2.0.0"))
	result := s.init("acme/foo ~> 1.0")

	place := s.path(".terraform/providers", registrytest.Host, "acme/foo/1.2.0", platform)
	h1, err := dirhash.HashDir(place, "", dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	foo := source(t, registrytest.Host+"/acme/foo")
	selected := result.Selections[foo]
	if selected.Dir != place || selected.Hash != h1 || selected.Version.String() != "1.2.0" ||
		selected.Executable != filepath.Join(place, "terraform-provider-foo_v1.2.0") {
		t.Errorf("selected %+v", selected)
	}
	if info, err := os.Stat(selected.Executable); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("the program cannot be run: %v, %v", info, err)
	}
	if diff := cmp.Diff([]string{"PLATFORM", "docs/LICENSE", "terraform-provider-foo_v1.2.0"}, s.tree(strings.TrimPrefix(place, s.dir))); diff != "" {
		t.Error(diff)
	}

	// All signed checksums are recorded, other platforms' and the manifest's too.
	hashes := []string{h1}
	for _, zh := range s.server.Checksums("acme", "foo", "1.2.0") {
		hashes = append(hashes, zh)
	}
	slices.Sort(hashes)
	want := "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\n" +
		"provider \"registry.example.com/acme/foo\" {\n  version     = \"1.2.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \"" +
		strings.Join(hashes, "\",\n    \"") + "\",\n  ]\n}\n"
	if diff := cmp.Diff(want, s.lock()); diff != "" || len(hashes) != 4 {
		t.Error(diff)
	}
	if !result.Changed || len(result.LocalChecksums) > 0 {
		t.Errorf("result: %+v", result)
	}
	if diff := cmp.Diff([]string{
		`- Finding registry.example.com/acme/foo versions matching "~> 1.0"...`,
		`- Installing registry.example.com/acme/foo v1.2.0...`,
		`- Installed registry.example.com/acme/foo v1.2.0 (self-signed, key ID ` + s.server.Signer.ID() + `)`,
	}, s.events); diff != "" {
		t.Error(diff)
	}
}

func TestTheSecondTimeNobodyIsAsked(t *testing.T) {
	s := newSite(t, "acme/foo 1.2.0")
	s.init("acme/foo")
	before := s.lock()
	result := s.init("acme/foo")
	if requests := s.server.Requests(); len(requests) > 0 {
		t.Errorf("asked for %v", requests)
	}
	if result.Changed || s.lock() != before {
		t.Errorf("the lock file changed:\n%s", s.lock())
	}
	if diff := cmp.Diff([]string{
		"- Reusing previous version of registry.example.com/acme/foo from the dependency lock file",
		"- Using previously-installed registry.example.com/acme/foo v1.2.0",
	}, s.events); diff != "" {
		t.Error(diff)
	}

	// Upgrading asks, and finds that it has what it finds.
	if _, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo"), Upgrade: true}); len(ds) > 0 {
		t.Error(ds)
	}
	if diff := cmp.Diff([]string{"/v1/providers/acme/foo/versions"}, s.server.Requests()); diff != "" {
		t.Error(diff)
	}
}

func TestALockedVersionIsNotLookedUp(t *testing.T) {
	s := newSite(t, "acme/foo 1.2.0")
	s.init("acme/foo")
	before := s.lock()
	s.server.Add(release(t, "acme/foo 1.3.0"))
	if err := os.RemoveAll(s.path(".terraform")); err != nil {
		t.Fatal(err)
	}
	result := s.init("acme/foo")
	if got := result.Selections[source(t, registrytest.Host+"/acme/foo")].Version.String(); got != "1.2.0" {
		t.Errorf("selected %s", got)
	}
	if requests := s.server.Requests(); slices.Contains(requests, "/v1/providers/acme/foo/versions") || len(requests) != 4 {
		t.Errorf("asked for %v", requests)
	}
	if s.lock() != before {
		t.Error("the lock file changed")
	}
}

func TestServiceDiscovery(t *testing.T) {
	s := newSite(t, "acme/foo 1.2.0")
	s.config = ""
	host := s.server.Address()
	s.init(host + "/acme/foo")
	if got := s.server.Requests()[0]; got != "/.well-known/terraform.json" {
		t.Errorf("first asked for %s", got)
	}
	if !strings.Contains(s.lock(), fmt.Sprintf("provider %q {", host+"/acme/foo")) {
		t.Error(s.lock())
	}
}

func TestUpgrade(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/foo 1.1.0")
	s.init("acme/foo 1.0.0")
	// Other constraints that the locked version meets change nothing, not even the text.
	s.init("acme/foo >= 1.0.0")
	if lock := s.lock(); !strings.Contains(lock, `constraints = "1.0.0"`) || !strings.Contains(lock, `version     = "1.0.0"`) {
		t.Error(lock)
	}
	// Those that it does not meet are an error.
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo > 1.0.0")})
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, "acme/foo 1.0.0, which the configuration's version constraints \"> 1.0.0\" do not allow") ||
		!strings.Contains(ds[0].Detail, "init -upgrade") {
		t.Error(ds)
	}
	result, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo > 1.0.0"), Upgrade: true})
	if len(ds) > 0 || !result.Changed {
		t.Error(ds)
	}
	if lock := s.lock(); !strings.Contains(lock, `constraints = "> 1.0.0"`) || !strings.Contains(lock, `version     = "1.1.0"`) {
		t.Error(lock)
	}
	for _, zh := range s.server.Checksums("acme", "foo", "1.0.0") {
		if strings.Contains(s.lock(), zh) && !slices.Contains(values(s.server.Checksums("acme", "foo", "1.1.0")), zh) {
			t.Error("a checksum of the old version is still there")
		}
	}
}

func values(m map[string]string) (vs []string) {
	for _, v := range m {
		vs = append(vs, v)
	}
	return vs
}

func TestWhatIsNotRequiredAnyMoreIsForgotten(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/bar 1.0.0")
	s.init("acme/foo", "acme/bar")
	result := s.init("acme/bar")
	if !result.Changed || strings.Contains(s.lock(), "acme/foo") || !strings.Contains(s.lock(), "acme/bar") {
		t.Error(s.lock())
	}
	// But not what merely comes from elsewhere this time.
	_, ds := s.ensure(install.Request{
		Requirements: requirements(t),
		Unmanaged:    unmanaged(t, "acme/bar"),
	})
	if len(ds) > 0 || !strings.Contains(s.lock(), "acme/bar") {
		t.Error(ds, s.lock())
	}
}

func TestWarningsOfTheRegistry(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	s.server.Warnings = []string{"acme/foo is archived."}
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")})
	if len(ds) != 1 || ds.HasErrors() || !strings.HasSuffix(ds[0].Detail, "acme/foo: acme/foo is archived.") {
		t.Error(ds)
	}
}

func TestCredentials(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	s.server.Token = "s3cret"
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")})
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, "the registry of registry.example.com demands other credentials") ||
		!strings.Contains(ds[0].Detail, "TF_TOKEN_registry_example_com") {
		t.Error(ds)
	}
	s.config += fmt.Sprintf("credentials %q {\n token = \"wr0ng\"\n}\n", registrytest.Host)
	if _, ds = s.ensure(install.Request{Requirements: requirements(t, "acme/foo")}); !ds.HasErrors() || strings.Contains(ds.Error(), "wr0ng") {
		t.Error(ds)
	}
	s.config = strings.ReplaceAll(s.config, "wr0ng", "s3cret")
	s.init("acme/foo")
}

func TestAnAPIThatRecovers(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	seen := map[string]bool{}
	s.server.Alter = func(path string, a *registrytest.Answer) {
		if seen[path] {
			return
		}
		seen[path] = true
		if strings.HasSuffix(path, ".zip") {
			a.Cut = true
		} else {
			a.Status, a.Body = 503, nil
		}
	}
	s.init("acme/foo")
	if n := len(s.server.Requests()); n != 10 {
		t.Errorf("%d requests, want each of 5 twice", n)
	}
}

func unmanaged(t *testing.T, lines ...string) map[addrs.Provider]bool {
	t.Helper()
	found := map[addrs.Provider]bool{}
	for p := range requirements(t, lines...) {
		found[p] = true
	}
	return found
}
