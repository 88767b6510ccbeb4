package install_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/lockfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

// mirror mirrors into the site's directory "mirror".
func (s *site) mirror(reqs install.Requirements, names ...string) diags.Diagnostics {
	s.t.Helper()
	lock, ds := lockfile.Read(s.path(lockfile.Name))
	if len(ds) > 0 {
		s.t.Fatal(ds)
	}
	s.events = nil
	ds = s.installer().Mirror(s.t.Context(), install.MirrorRequest{Requirements: reqs, Lock: lock, Platforms: platforms(s.t, names...), Dir: s.path("mirror")})
	s.noRubbish()
	return ds
}

const ofFoo = "registry.example.com/acme/foo/"

func (s *site) document(name string) string {
	s.t.Helper()
	content, err := os.ReadFile(s.path("mirror", ofFoo, name))
	if err != nil {
		s.t.Error(err)
	}
	return string(content)
}

func TestMirror(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0", "acme/foo 1.1.0")
	reqs := requirements(t, "acme/foo ~> 1.0", "terraform.io/builtin/terraform")
	if ds := s.mirror(reqs, "linux_amd64", "windows_amd64"); len(ds) > 0 {
		t.Fatal(ds)
	}
	if diff := cmp.Diff([]string{
		"- Skipping terraform.io/builtin/terraform because it is built in to Lockstep",
		"- Mirroring registry.example.com/acme/foo...",
		"  - Selected v1.1.0 to meet constraints ~> 1.0",
		"  - Downloading package for linux_amd64...",
		"  - Package authenticated: self-signed",
		"  - Downloading package for windows_amd64...",
		"  - Package authenticated: self-signed",
	}, s.events); diff != "" {
		t.Error(diff)
	}
	// As Terraform 1.11.4 wrote them, but for the checksums.
	var hashes []any
	for part := range strings.SplitSeq(s.document("1.1.0.json"), `"h1:`) {
		hashes = append(hashes, part[:strings.Index(part, `"`)])
	}
	if diff := cmp.Diff(fmt.Sprintf(`{
  "archives": {
    "linux_amd64": {
      "hashes": [
        "h1:%s"
      ],
      "url": "terraform-provider-foo_1.1.0_linux_amd64.zip"
    },
    "windows_amd64": {
      "hashes": [
        "h1:%s"
      ],
      "url": "terraform-provider-foo_1.1.0_windows_amd64.zip"
    }
  }
}`, hashes[1:]...), s.document("1.1.0.json")); diff != "" {
		t.Error(diff)
	}

	// What is there stays, and is listed.
	s.write(lockfile.Name, "provider \"registry.example.com/acme/foo\" {\n  version = \"1.0.0\"\n}\n")
	if ds := s.mirror(reqs, "linux_amd64"); len(ds) > 0 || s.events[2] != "  - Selected v1.0.0 to match dependency lock file" {
		t.Fatal(ds, s.events)
	}
	if diff := cmp.Diff("{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"1.1.0\": {}\n  }\n}", s.document("index.json")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		ofFoo + "1.0.0.json", ofFoo + "1.1.0.json", ofFoo + "index.json",
		ofFoo + "terraform-provider-foo_1.0.0_linux_amd64.zip",
		ofFoo + "terraform-provider-foo_1.1.0_linux_amd64.zip",
		ofFoo + "terraform-provider-foo_1.1.0_windows_amd64.zip",
	}, s.tree("mirror")); diff != "" {
		t.Error(diff)
	}
}

// A package that fails leaves the mirror as it was, and the others come all the same.
func TestMirrorFails(t *testing.T) {
	s := newWideSite(t, "acme/bar 1.0.0", "acme/foo 1.0.0")
	for _, test := range []struct {
		require, platform, spoil string
		want                     string
	}{
		{"acme/foo", "plan9_arm", "", "Provider release not available: Failed to download registry.example.com/acme/foo v1.0.0 for plan9_arm"},
		{"acme/foo ~> 2.0", "linux_amd64", "", "Provider not available: No version"},
		{"acme/foo", "linux_amd64", "foo_1.0.0_linux_amd64.zip", "Invalid provider package: Failed to authenticate registry.example.com/acme/foo v1.0.0 for linux_amd64: the package doesn't have"},
		{"acme/foo", "linux_amd64", "foo_1.0.0_SHA256SUMS", "Provider release not available"},
		{"acme/foo", "linux_amd64", "cut", "Cannot download provider release: Failed to download"},
	} {
		s.server.Alter = func(path string, a *registrytest.Answer) {
			if test.spoil != "" && strings.HasSuffix(path, test.spoil) {
				a.Body = append(bytes.Clone(a.Body), 'x')
			}
			a.Cut = test.spoil == "cut" && strings.HasSuffix(path, "foo_1.0.0_linux_amd64.zip")
		}
		ds := s.mirror(requirements(t, test.require), test.platform)
		if len(ds) != 1 || !strings.HasPrefix(ds.Error(), test.want) {
			t.Errorf("got %v\nwant %s", ds, test.want)
		}
		if _, err := os.Stat(s.path("mirror")); err == nil {
			t.Errorf("%s: there is %v", test.want, s.tree("mirror"))
		}
		if ds := s.mirror(requirements(t, test.require, "acme/bar"), "linux_amd64", test.platform); !ds.HasErrors() {
			t.Error("no errors")
		}
		if got := strings.Join(s.tree("mirror"), " "); !strings.Contains(got, "acme/bar/index.json") || strings.Contains(got, "acme/foo") && test.platform == "linux_amd64" {
			t.Error(got)
		}
		if err := os.RemoveAll(s.path("mirror")); err != nil {
			t.Fatal(err)
		}
	}
}

// The documents are about archives only, and what else is in the directory is left alone.
func TestMirrorAmongOthers(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0")
	s.write("mirror/junk/x/y", "")
	s.write("mirror/"+registrytest.Host+"/acme/terraform-provider-foo_1.0.0_linux_amd64.zip", "")
	s.write("mirror/"+registrytest.Host+"/acme/bad/terraform-provider-bad_1.0.0_linux_amd64.zip", "bad")
	s.unpacked("mirror", registrytest.Host, "acme/zzz", "1.0.0")
	ds := s.mirror(requirements(t, "acme/foo"), "linux_amd64")
	if len(ds) != 1 || !strings.HasPrefix(ds.Error(), "Failed to update indexes: Failed to determine a hash value for registry.example.com/acme/bad v1.0.0 on linux_amd64: zip: ") {
		t.Error(ds)
	}
	if got := s.document("index.json"); !strings.Contains(got, "1.0.0") {
		t.Error(got)
	}
	for _, name := range []string{"bad", "zzz"} {
		if got := s.document("../" + name + "/index.json"); got != "{\n  \"versions\": {}\n}" {
			t.Error(got)
		}
	}
}

// What was mirrored can be installed, from the directory and from a server of its files.
func TestInstallFromAMirror(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0")
	s.write("mirror/.keep", "")
	files := httptest.NewTLSServer(http.FileServer(http.Dir(s.path("mirror"))))
	defer files.Close()
	if ds := s.mirror(requirements(t, "acme/foo"), "linux_amd64", install.CurrentPlatform().String()); len(ds) > 0 {
		t.Fatal(ds)
	}
	s.config = s.mirrorConfig("mirror")
	s.init("acme/foo")
	for _, name := range []string{".terraform", lockfile.Name} {
		if err := os.RemoveAll(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.config = fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", files.URL+"/")
	s.tune = func(in *install.Installer) { in.Client.Transport = files.Client().Transport }
	s.init("acme/foo")
	if got := s.events[len(s.events)-1]; got != "- Installed registry.example.com/acme/foo v1.0.0 (verified checksum)" {
		t.Error(got)
	}
}

// A mirror's checksum of an archive with entries for directories counts those as files.
func TestArchiveWithDirectories(t *testing.T) {
	s := newSite(t)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"doc/", "doc/README", "terraform-provider-foo"} {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	archive := "terraform-provider-foo_1.0.0_" + platform + ".zip"
	s.write(filepath.Join("mirror", ofFoo, archive), b.String())
	if ds := s.mirror(nil); len(ds) > 0 {
		t.Fatal(ds)
	}
	files := httptest.NewTLSServer(http.FileServer(http.Dir(s.path("mirror"))))
	defer files.Close()
	s.config = fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", files.URL+"/")
	s.tune = func(in *install.Installer) { in.Client.Transport = files.Client().Transport }
	s.init("acme/foo")
}

// Tokens are sent where init sends them: to the registry, and not with downloads.
func TestChecksumsAndMirrorWithAToken(t *testing.T) {
	s := newWideSite(t, "acme/foo 1.0.0")
	s.server.Token = "s3cret"
	reqs := requirements(t, "acme/foo")
	if ds := s.mirror(reqs, "linux_amd64"); !ds.HasErrors() || !strings.Contains(ds.Error(), "401") && !strings.Contains(ds.Error(), "token") {
		t.Error(ds)
	}
	s.config += "credentials \"" + registrytest.Host + "\" {\n  token = \"s3cret\"\n}\n"
	if ds := s.mirror(reqs, "linux_amd64"); len(ds) > 0 {
		t.Error(ds)
	}
	if _, ds := s.checksums(reqs, "linux_amd64"); len(ds) > 0 {
		t.Error(ds)
	}
}
