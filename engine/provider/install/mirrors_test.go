package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

// unpacked puts an unpacked package into a directory of the site.
func (s *site) unpacked(dir, host, name, version string) string {
	s.t.Helper()
	typeName := name[strings.LastIndexByte(name, '/')+1:]
	return filepath.Dir(s.write(filepath.Join(dir, host, name, version, platform, "terraform-provider-"+typeName+"_v"+version+"_x5"), "unpacked "+version))
}

// packed puts an archive into a directory of the site.
func (s *site) packed(dir, host, name, version string) string {
	s.t.Helper()
	typeName := name[strings.LastIndexByte(name, '/')+1:]
	archive := registrytest.Zip(s.t, registrytest.Entry{Name: "terraform-provider-" + typeName, Content: "packed " + version, Mode: 0o644})
	return s.write(filepath.Join(dir, host, name, "terraform-provider-"+typeName+"_"+version+"_"+platform+".zip"), string(archive))
}

func (s *site) mirrorConfig(dir string) string {
	return "provider_installation {\n filesystem_mirror {\n path = \"" + s.path(dir) + "\"\n }\n}\n"
}

func TestFromAFilesystemMirror(t *testing.T) {
	s := newSite(t)
	s.config = s.mirrorConfig("mirror")
	s.unpacked("mirror", registrytest.Host, "acme/foo", "1.0.0")
	s.unpacked("mirror", registrytest.Host, "acme/foo", "1.1.0")
	s.packed("mirror", registrytest.Host, "acme/foo", "1.2.0")
	s.packed("mirror", registrytest.Host, "acme/foo", "1.1.0") // the unpacked one is preferred
	s.write("mirror/"+registrytest.Host+"/acme/foo/README", "not a package")
	s.write("mirror/"+registrytest.Host+"/acme/foo/9.0.0/README", "not a package")
	s.write("mirror/"+registrytest.Host+"/acme/foo/terraform-provider-foo_9.zip", "not a package")

	result := s.init("acme/foo ~> 1.1.0")
	if diff := cmp.Diff([]string{registrytest.Host + "/acme/foo/1.1.0/" + platform + " -> SITE/mirror/" + registrytest.Host + "/acme/foo/1.1.0/" + platform},
		s.tree(".terraform/providers")); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(s.lock(), "h1:"); n != 1 || strings.Contains(s.lock(), "zh:") {
		t.Error(s.lock())
	}
	foo := source(t, registrytest.Host+"/acme/foo")
	if diff := cmp.Diff(foo, result.LocalChecksums[0]); diff != "" || len(result.LocalChecksums) != 1 {
		t.Error("nobody was told that other platforms are not covered", diff)
	}
	if got := s.events[len(s.events)-1]; got != "- Installed registry.example.com/acme/foo v1.1.0 (unauthenticated)" {
		t.Error(got)
	}

	// The packed one is unpacked, and its program can be run although it was packed
	// without that right.
	result, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo"), Upgrade: true})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	program := result.Selections[foo].Executable
	if content, err := os.ReadFile(program); err != nil || string(content) != "packed 1.2.0" {
		t.Errorf("%s holds %q, %v", program, content, err)
	}
	if info, err := os.Stat(program); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	if requests := s.server.Requests(); len(requests) > 0 {
		t.Errorf("asked the registry for %v", requests)
	}
}

func TestFilesystemMirrorLacks(t *testing.T) {
	s := newSite(t)
	s.config = s.mirrorConfig("mirror")
	s.write("mirror/"+registrytest.Host+"/acme/foo/1.0.0/plan9_arm/terraform-provider-foo", "x")
	for require, want := range map[string]string{
		"acme/foo": "There is no package of provider registry.example.com/acme/foo 1.0.0 for the platform " + platform + " in the directory " + s.path("mirror"),
		"acme/bar": "provider registry.example.com/acme/bar was not found in the directory " + s.path("mirror"),
	} {
		_, ds := s.ensure(install.Request{Requirements: requirements(t, require)})
		if len(ds) != 1 || !strings.Contains(ds[0].Detail, want) {
			t.Errorf("got %v, want %s", ds, want)
		}
	}
}

func TestFromANetworkMirror(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/foo 1.1.0")
	s.config = s.server.MirrorConfig()
	s.server.Token = "s3cret"
	s.config += "credentials \"" + s.server.Address() + "\" {\n token = \"s3cret\"\n}\n"
	result := s.init("registry.terraform.io/acme/foo < 1.1")
	if diff := cmp.Diff([]string{
		"/mirror/registry.terraform.io/acme/foo/index.json",
		"/mirror/registry.terraform.io/acme/foo/1.0.0.json",
		"/files/acme/foo/1.0.0/terraform-provider-foo_1.0.0_" + platform + ".zip",
	}, s.server.Requests()); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(s.lock(), "zh:") || len(result.LocalChecksums) != 1 {
		t.Errorf("an unsigned mirror's checksums were recorded:\n%s", s.lock())
	}
	if got := s.events[len(s.events)-1]; got != "- Installed acme/foo v1.0.0 (verified checksum)" {
		t.Error(got)
	}

	s.server.Alter = func(path string, a *registrytest.Answer) {
		if strings.HasSuffix(path, "1.1.0.json") {
			a.Body = []byte(strings.Replace(string(a.Body), "zh:", "h1:wrong", 1))
		}
	}
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "registry.terraform.io/acme/foo"), Upgrade: true})
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, "doesn't have the checksum that its source gives: expected h1:wrong") {
		t.Error(ds)
	}
}

func TestMethodsAreChosenByPattern(t *testing.T) {
	s := newSite(t, "acme/foo 2.0.0", "acme/bar 2.0.0")
	s.unpacked("mirror", registrytest.Host, "acme/foo", "1.0.0")
	s.unpacked("mirror", registrytest.Host, "acme/bar", "1.0.0")
	config := s.config
	s.config = config + `provider_installation {
  filesystem_mirror {
    path    = "` + s.path("mirror") + `"
    include = ["registry.example.com/acme/foo"]
  }
  direct {
    exclude = ["registry.example.com/acme/foo", "registry.example.com/nobody/*"]
  }
}`
	s.init("acme/foo", "acme/bar")
	if diff := cmp.Diff([]string{
		"acme/bar/2.0.0/" + platform + "/PLATFORM",
		"acme/bar/2.0.0/" + platform + "/terraform-provider-bar_v2.0.0",
		"acme/foo/1.0.0/" + platform + " -> SITE/mirror/registry.example.com/acme/foo/1.0.0/" + platform,
	}, s.tree(".terraform/providers/"+registrytest.Host)); diff != "" {
		t.Error(diff)
	}
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "nobody/serves")})
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, "no installation method of the CLI configuration serves provider registry.example.com/nobody/serves") {
		t.Error(ds)
	}

	// Where several methods serve, the newest version of all is taken, from whom has it.
	s.config = config + "provider_installation {\n filesystem_mirror {\n path = \"" + s.path("mirror") + "\"\n }\n direct {}\n}"
	result, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo", "acme/bar 1.0.0"), Upgrade: true})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for p, s := range result.Selections {
		if want := map[string]string{"foo": "2.0.0", "bar": "1.0.0"}[p.Type]; s.Version.String() != want {
			t.Errorf("%s: %s", p, s.Version)
		}
	}
}

func TestImpliedMirrors(t *testing.T) {
	s := newSite(t, "acme/foo 2.0.0", "acme/bar 2.0.0")
	s.unpacked("home/.terraform.d/plugins", registrytest.Host, "acme/foo", "1.0.0")
	s.write("home/.terraformrc", s.config)
	s.tune = func(in *install.Installer) {
		config, ds := cliconfig.Load(cliconfig.Surroundings{Home: s.path("home")})
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		in.Source = install.SourceOf(config, in.Client, nil)
	}
	// What is there locally, is taken from there only.
	s.init("acme/foo", "acme/bar")
	if lock := s.lock(); !strings.Contains(lock, "1.0.0") || !strings.Contains(lock, "2.0.0") {
		t.Error(lock)
	}
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo > 1.0"), Upgrade: true})
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, "the newest one is 1.0.0") {
		t.Error(ds)
	}
}

func TestPluginDirs(t *testing.T) {
	s := newSite(t, "acme/foo 2.0.0")
	s.unpacked("plugins", registrytest.Host, "acme/foo", "1.0.0")
	s.tune = func(in *install.Installer) {
		in.Source = install.DirsSource([]string{s.path("nothing"), s.path("plugins")})
	}
	s.init("acme/foo")
	if _, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/bar")}); !ds.HasErrors() ||
		!strings.Contains(ds[0].Detail, "was not found in the directory "+s.path("nothing")+", nor in the directory "+s.path("plugins")) {
		t.Error(ds)
	}
}

func TestTheDataDirectoryAsMirror(t *testing.T) {
	s := newSite(t)
	s.unpacked(".terraform/providers", registrytest.Host, "acme/foo", "1.0.0")
	s.config = s.mirrorConfig(".terraform/providers")
	s.init("acme/foo")
	if diff := cmp.Diff([]string{registrytest.Host + "/acme/foo/1.0.0/" + platform + "/terraform-provider-foo_v1.0.0_x5"}, s.tree(".terraform/providers")); diff != "" {
		t.Error(diff)
	}
}

func TestPluginCache(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	s.write("cache/.keep", "")
	s.tune = func(in *install.Installer) { in.CacheDir = s.path("cache") }
	s.init("acme/foo")
	inCache := registrytest.Host + "/acme/foo/1.0.0/" + platform
	linked := []string{inCache + " -> SITE/cache/" + inCache}
	if diff := cmp.Diff(linked, s.tree(".terraform/providers")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{".keep", inCache + "/PLATFORM", inCache + "/terraform-provider-foo_v1.0.0"}, s.tree("cache")); diff != "" {
		t.Error(diff)
	}
	again := func() string {
		t.Helper()
		if err := os.RemoveAll(s.path(".terraform")); err != nil {
			t.Fatal(err)
		}
		s.init("acme/foo")
		if diff := cmp.Diff(linked, s.tree(".terraform/providers")); diff != "" {
			t.Error(diff)
		}
		return s.events[len(s.events)-1]
	}
	// With a lock file, the cache does without a network.
	lock := s.lock()
	if got := again(); got != "- Using registry.example.com/acme/foo v1.0.0 from the shared cache directory" || len(s.server.Requests()) > 0 {
		t.Error(got)
	}
	// Without one, the package is fetched again, for the signed checksums.
	remove := func() {
		if err := os.Remove(s.path(lockfile.Name)); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	if got := again(); !strings.HasPrefix(got, "- Installed") || s.lock() != lock {
		t.Error(got, s.lock())
	}
	// Unless incomplete lock files are allowed.
	s.tune = func(in *install.Installer) { in.CacheDir, in.CacheMayBreakLock = s.path("cache"), true }
	remove()
	if got := again(); !strings.Contains(got, "from the shared cache") || strings.Contains(s.lock(), "zh:") {
		t.Error(got, s.lock())
	}
	// A cache that somebody has spoilt is mended.
	s.tune = func(in *install.Installer) { in.CacheDir = s.path("cache") }
	s.write("cache/"+inCache+"/terraform-provider-foo_v1.0.0", "evil")
	if got := again(); !strings.HasPrefix(got, "- Installed") {
		t.Error(got)
	}
	if content, _ := os.ReadFile(s.path("cache", inCache, "terraform-provider-foo_v1.0.0")); string(content) == "evil" {
		t.Error("the cache is still spoilt")
	}
}

func TestManyFillAPluginCacheAtOnce(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0", "acme/bar 1.0.0")
	s.write("cache/.keep", "")
	const many = 8
	var installers []*install.Installer
	for i := range many {
		in := s.installer()
		in.CacheDir, in.DataDir, in.Events = s.path("cache"), s.path("work", string(rune('a'+i))), nil
		installers = append(installers, in)
	}
	reqs := requirements(t, "acme/foo", "acme/bar")
	var group sync.WaitGroup
	for _, in := range installers {
		group.Go(func() {
			result, ds := in.Ensure(t.Context(), install.Request{Requirements: reqs})
			if len(ds) > 0 || len(result.Selections) != 2 {
				t.Error(ds)
			}
			for _, selected := range result.Selections {
				if content, err := os.ReadFile(selected.Executable); err != nil || !strings.HasPrefix(string(content), "program of acme/") {
					t.Errorf("%q, %v", content, err)
				}
			}
		})
	}
	group.Wait()
	s.noRubbish()
}

func TestLockFileHashesOfOtherKinds(t *testing.T) {
	s := newSite(t, "acme/foo 1.0.0")
	s.init("acme/foo")
	signed := s.lock()
	// A lock file with the checksums of archives only, as tools write it without
	// unpacking anything.
	var zh string
	for line := range strings.Lines(signed) {
		if !strings.Contains(line, "h1:") {
			zh += line
		}
	}
	s.write(lockfile.Name, zh)
	s.init("acme/foo")
	if s.lock() != signed {
		t.Error(s.lock())
	}

	// An unpacked package cannot be compared with those.
	s.write(lockfile.Name, zh)
	s.unpacked("mirror", registrytest.Host, "acme/foo", "1.0.0")
	s.config = s.mirrorConfig("mirror")
	result, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/foo")})
	if len(ds) != 1 || ds.HasErrors() || !strings.Contains(ds[0].Detail, "no checksum of provider registry.example.com/acme/foo 1.0.0 that can be compared") {
		t.Error(ds)
	}
	if lock, _ := result.Lock.Lock(source(t, registrytest.Host+"/acme/foo")); len(lock.H1()) != 1 || len(lock.ZH()) != 2 || len(result.LocalChecksums) > 0 {
		t.Errorf("recorded %v", lock)
	}
	// With one that can be, it must fit.
	s.write(lockfile.Name, signed)
	_, ds = s.ensure(install.Request{Requirements: requirements(t, "acme/foo")})
	if len(ds) != 1 || !ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, want := range []string{
		"Provider registry.example.com/acme/foo 1.0.0 was not installed",
		"doesn't match any of the checksums previously recorded in the dependency lock file: expected h1:", ", got h1:",
		"remove the provider's block from .terraform.lock.hcl and run `lockstep init`",
	} {
		if !strings.Contains(ds[0].Detail, want) {
			t.Errorf("got %s\nwant %s", ds[0].Detail, want)
		}
	}
}
