package install_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

var manyPlatforms = []string{"linux_amd64", "darwin_arm64", "windows_amd64"}

// newWideSite returns a site whose releases have packages for several platforms.
func newWideSite(t *testing.T, releases ...string) *site {
	s := newSite(t)
	for _, text := range releases {
		r := release(t, text)
		r.Platforms = manyPlatforms
		s.server.Add(r)
	}
	return s
}

func platforms(t *testing.T, names ...string) (list []install.Platform) {
	t.Helper()
	for _, name := range names {
		p, err := install.ParsePlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// checksums obtains checksums, and writes the lock file as `providers lock` would.
func (s *site) checksums(reqs install.Requirements, names ...string) (changed bool, ds diags.Diagnostics) {
	s.t.Helper()
	lock, ds := lockfile.Read(s.path(lockfile.Name))
	if len(ds) > 0 {
		s.t.Fatal(ds)
	}
	s.events = nil
	s.server.Requests()
	next, changed, ds := s.installer().Checksums(s.t.Context(), install.ChecksumsRequest{Requirements: reqs, Lock: lock, Platforms: platforms(s.t, names...)})
	if ds.HasErrors() != (next == nil) {
		s.t.Errorf("a lock file of %v with %v", next, ds)
	}
	if next != nil {
		if err := next.Replace(s.path(lockfile.Name)); err != nil {
			s.t.Fatal(err)
		}
	}
	if s.tree(".terraform") != nil {
		s.t.Errorf("installed: %v", s.tree(".terraform"))
	}
	s.noRubbish()
	return changed, ds
}

func TestChecksumsForPlatforms(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0", "acme/foo 1.1.0")
	reqs := requirements(t, "acme/foo ~> 1.0")
	changed, ds := s.checksums(reqs, "linux_amd64")
	if len(ds) > 0 || !changed {
		t.Fatal(changed, ds)
	}
	const prefix = "registry.example.com/acme/foo "
	if diff := cmp.Diff([]string{
		"- Fetching " + prefix + "1.1.0 for linux_amd64...",
		"- Retrieved " + prefix + "1.1.0 for linux_amd64 (self-signed, key ID " + s.server.Signer.ID() + ")",
		"- Obtained " + prefix + "checksums for linux_amd64; This was a new provider and the checksums for this platform are now tracked in the lock file",
	}, s.events); diff != "" {
		t.Error(diff)
	}
	lock := s.lock()
	for name, sum := range s.server.Checksums("acme", "foo", "1.1.0") {
		if !strings.Contains(lock, sum) {
			t.Errorf("the signed checksum of %s is missing:\n%s", name, lock)
		}
	}
	if n := strings.Count(lock, "h1:"); n != 1 {
		t.Errorf("%d checksums of packages:\n%s", n, lock)
	}

	// More platforms add to what there is, each once.
	changed, ds = s.checksums(reqs, "linux_amd64", "darwin_arm64", "linux_amd64")
	if len(ds) > 0 || !changed || len(s.events) != 6 || strings.Count(s.lock(), "h1:") != 2 {
		t.Errorf("%v %v %q\n%s", changed, ds, s.events, s.lock())
	}
	if got := s.events[4:]; !strings.Contains(got[0], "linux_amd64; All checksums") || !strings.Contains(got[1], "darwin_arm64; Additional checksums") {
		t.Error(got)
	}
	// Then there is nothing left to add, and a change of constraints is none.
	changed, ds = s.checksums(requirements(t, "acme/foo >= 1.0.0"), "darwin_arm64")
	if len(ds) > 0 || changed || !strings.Contains(s.lock(), `">= 1.0.0"`) {
		t.Errorf("%v %v\n%s", changed, ds, s.lock())
	}
	// What is there is enough to install it.
	s.init("acme/foo >= 1.0.0")
}

// The lock file stays as it is, whatever fails.
func TestChecksumsFail(t *testing.T) {
	s := newWideSite(t, "acme/bar 1.0.0", "acme/foo 1.0.0", "acme/foo 1.1.0")
	if _, ds := s.checksums(requirements(t, "acme/foo 1.0.0"), "linux_amd64"); len(ds) > 0 {
		t.Fatal(ds)
	}
	before := s.lock()
	for _, test := range []struct {
		require, platform, spoil string
		want                     []string
	}{
		{"acme/foo 1.1.0", "linux_amd64", "", []string{"selects provider registry.example.com/acme/foo 1.0.0", "do not allow", "init -upgrade"}},
		{"acme/none", "linux_amd64", "", []string{"acme/none was not found in the registry"}},
		{"acme/foo", "plan9_arm", "", []string{"for plan9_arm", "- registry.example.com/acme/foo: provider registry.example.com/acme/foo 1.0.0 for the platform plan9_arm was not found"}},
		{"acme/foo", "linux_amd64", "linux_amd64.zip", []string{"doesn't have the checksum that its source gives"}},
		{"acme/foo", "linux_amd64", "SHA256SUMS", []string{"are not authentic"}},
	} {
		s.server.Alter = func(path string, a *registrytest.Answer) {
			if test.spoil != "" && strings.HasSuffix(path, test.spoil) {
				a.Body = append(slices.Clone(a.Body), 'x')
			}
		}
		_, ds := s.checksums(requirements(t, "acme/bar", test.require), test.platform)
		if len(ds) != 1 || ds[0].Summary != "Could not retrieve providers for locking" {
			t.Errorf("%s for %s: %v", test.require, test.platform, ds)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(ds[0].Detail, want) {
				t.Errorf("got %s\nwant %s", ds[0].Detail, want)
			}
		}
		if s.lock() != before || slices.ContainsFunc(s.events, func(e string) bool { return strings.Contains(e, "now tracked") }) {
			t.Errorf("%s: %v\n%s", test.require, s.events, s.lock())
		}
	}
}

// As Terraform, we take the checksums that the registry signs, but say so if the lock file
// knew others.
func TestChecksumsThatChanged(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0")
	reqs := requirements(t, "acme/foo")
	write := func(hash string) {
		s.write(lockfile.Name, "provider \"registry.example.com/acme/foo\" {\n  version = \"1.0.0\"\n  hashes = [\""+hash+"\"]\n}\n")
	}
	write("zh:" + strings.Repeat("0", 64))
	changed, ds := s.checksums(reqs, "linux_amd64")
	if !changed || len(ds) != 1 || ds[0].Severity != diags.Warning || !strings.Contains(ds[0].Detail, "or the package was exchanged since") {
		t.Error(changed, ds)
	}
	if lock := s.lock(); strings.Count(lock, "zh:") != 5 {
		t.Error(lock)
	}
	// A checksum of a package that is unpacked may be another platform's.
	write("h1:IeMyPFGuGm6CG9v6aP8B/6u4KiOJiiO1tGxpDITccTo=")
	if changed, ds := s.checksums(reqs, "linux_amd64"); !changed || len(ds) > 0 {
		t.Error(changed, ds)
	}
}

func TestChecksumsWithAPluginCache(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0")
	s.write("cache/.keep", "")
	s.tune = func(in *install.Installer) { in.CacheDir = s.path("cache") }
	reqs := requirements(t, "acme/foo")
	if _, ds := s.checksums(reqs, "linux_amd64", "windows_amd64"); len(ds) > 0 {
		t.Fatal(ds)
	}
	const dir = "registry.example.com/acme/foo/1.0.0/"
	if diff := cmp.Diff([]string{
		".keep", dir + "linux_amd64/PLATFORM", dir + "linux_amd64/terraform-provider-foo_v1.0.0",
		dir + "windows_amd64/PLATFORM", dir + "windows_amd64/terraform-provider-foo_v1.0.0",
	}, s.tree("cache")); diff != "" {
		t.Error(diff)
	}
	changed, ds := s.checksums(reqs, "linux_amd64", "windows_amd64")
	if requests := s.server.Requests(); changed || len(ds) > 0 || len(requests) > 0 || len(s.events) != 2 {
		t.Error(changed, ds, requests, s.events)
	}
}

func TestChecksumsOfNothing(t *testing.T) {
	s := newSite(t)
	changed, ds := s.checksums(requirements(t, "terraform.io/builtin/terraform"), "linux_amd64")
	if changed || len(ds) > 0 || strings.Contains(s.lock(), "provider ") {
		t.Error(changed, ds, s.lock())
	}
	if info, err := os.Stat(s.path(lockfile.Name)); err != nil || info.Mode().Perm() != 0o644 {
		t.Error(info, err)
	}
}

// An interrupt leaves the lock file as it is, and a mirror without documents about half of
// what was asked for; either is an error.
func TestInterruptedChecksumsAndMirror(t *testing.T) {
	s := newWideSite(t, "acme/bar 1.0.0", "acme/foo 1.0.0")
	reqs := requirements(t, "acme/bar", "acme/foo")
	for _, after := range []install.EventKind{install.Fetching, install.Retrieved, install.Mirroring, install.Downloading, install.Authenticated} {
		ctx, cancel := context.WithCancel(t.Context())
		in := s.installer()
		in.Events = func(e install.Event) {
			if e.Kind == after {
				cancel()
			}
		}
		if after == install.Fetching || after == install.Retrieved {
			lock, _, ds := in.Checksums(ctx, install.ChecksumsRequest{Requirements: reqs, Platforms: platforms(t, "linux_amd64")})
			if lock != nil || !ds.HasErrors() {
				t.Errorf("after %v: %v, %v", after, lock, ds)
			}
		} else if ds := in.Mirror(ctx, install.MirrorRequest{Requirements: reqs, Platforms: platforms(t, "linux_amd64"), Dir: s.path("mirror")}); !ds.HasErrors() {
			t.Errorf("after %v: no error", after)
		}
		cancel()
		s.noRubbish()
	}
	// As soon as all is there, it is too late.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in := s.installer()
	in.Events = func(e install.Event) {
		if e.Kind == install.NewProvider {
			cancel()
		}
	}
	if lock, changed, ds := in.Checksums(ctx, install.ChecksumsRequest{Requirements: reqs, Platforms: platforms(t, "linux_amd64")}); lock == nil || !changed || len(ds) > 0 {
		t.Error(lock, changed, ds)
	}
}
