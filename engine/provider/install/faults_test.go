package install_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
)

// Whatever is wrong with a registry or a package: the provider is not installed,
// nothing is left behind, and a diagnostic says why.
func TestFaults(t *testing.T) {
	// on changes the answers whose path has a suffix.
	on := func(suffix string, change func(*registrytest.Answer)) func(*site) {
		return func(s *site) {
			s.server.Alter = func(path string, a *registrytest.Answer) {
				if strings.HasSuffix(path, suffix) {
					change(a)
				}
			}
		}
	}
	replace := func(old, new string) func(*registrytest.Answer) {
		return func(a *registrytest.Answer) { a.Body = bytes.ReplaceAll(a.Body, []byte(old), []byte(new)) }
	}
	status := func(code int) func(*registrytest.Answer) {
		return func(a *registrytest.Answer) { a.Status, a.Body = code, []byte("sorry") }
	}
	// pack makes the registry sign and serve an archive of other content.
	pack := func(entries ...registrytest.Entry) func(*site) {
		return func(s *site) {
			content := registrytest.Zip(t, entries...)
			s.config = s.server.MirrorConfig()
			s.server.Alter = func(path string, a *registrytest.Answer) {
				switch {
				case strings.HasSuffix(path, ".zip"):
					a.Status, a.Body = 200, content
				case strings.HasSuffix(path, "1.0.0.json"):
					a.Body = fmt.Appendf(nil, `{"archives":{%q:{"url":"/files/acme/foo/1.0.0/x.zip"}}}`, platform)
				}
			}
		}
	}
	program := registrytest.Entry{Name: "terraform-provider-foo", Content: "x", Mode: 0o755}

	for _, test := range []struct {
		name    string
		require string
		spoil   func(*site)
		want    []string // parts of the first diagnostic
	}{
		{"another package", "acme/foo", on(".zip", func(a *registrytest.Answer) { a.Body = registrytest.Zip(t, program) }),
			[]string{"Failed to install provider: Provider registry.example.com/acme/foo 1.0.0 was not installed", "doesn't have the checksum that its source gives: expected zh:", "got zh:"}},
		{"a truncated package", "acme/foo", on(".zip", func(a *registrytest.Answer) { a.Body = a.Body[:len(a.Body)/2] }),
			[]string{"Failed to install provider", "expected zh:"}},
		{"a broken download", "acme/foo", on(".zip", func(a *registrytest.Answer) { a.Cut = true }),
			[]string{"Failed to install provider", "unexpected EOF"}},
		{"a package that is gone", "acme/foo", on(".zip", status(404)),
			[]string{"Failed to install provider", "the server answered https://127.0.0.1:", "404 Not Found"}},
		{"checksums that were changed", "acme/foo", on("SHA256SUMS", func(a *registrytest.Answer) { a.Body = append(a.Body, '\n') }),
			[]string{"Failed to install provider", "the checksums of registry.example.com/acme/foo 1.0.0 are not authentic"}},
		{"another signature", "acme/foo", on(".sig", func(a *registrytest.Answer) { a.Body = registrytest.NewKey(t).Sign(nil) }),
			[]string{"are not authentic: they are signed by none of the 1 keys that the registry names"}},
		{"no signature", "acme/foo", on(".sig", func(a *registrytest.Answer) { a.Body = []byte{} }),
			[]string{"are not authentic"}},
		{"no keys", "acme/foo", on("/"+strings.Replace(platform, "_", "/", 1), replace(`"gpg_public_keys":[`, `"gpg_public_keys":[],"x":[`)),
			[]string{"they are signed by none of the 0 keys"}},
		{"a checksum that is not signed", "acme/foo", on("/"+strings.Replace(platform, "_", "/", 1), replace(`"shasum":"`, `"shasum":"`+strings.Repeat("0", 64)+`","x":"`)),
			[]string{"the registry gives terraform-provider-foo_1.0.0_", `the checksum "0000`, "but the signed list gives it"}},
		{"a package for another platform", "acme/foo", on("/"+strings.Replace(platform, "_", "/", 1), replace(`"os":"`, `"os":"plan9`)),
			[]string{"gave a package for plan9"}},
		{"no download URL", "acme/foo", on("/"+strings.Replace(platform, "_", "/", 1), replace(`"download_url":"`, `"download_url":"","x":"`)),
			[]string{"gave no valid URL of the package"}},
		{"plain http", "acme/foo", on("/"+strings.Replace(platform, "_", "/", 1), replace(`"download_url":"`, `"download_url":"http://127.0.0.1:1/x","x":"`)),
			[]string{"only https URLs are followed, and not http://127.0.0.1:1/x"}},
		{"the metadata service", "acme/foo", on("/"+strings.Replace(platform, "_", "/", 1), replace(`"download_url":"`, `"download_url":"https://169.254.169.254/x?secret","x":"`)),
			[]string{"no connection is made to the address 169.254.169.254"}},
		{"a redirect to plain http", "acme/foo", on(".zip", func(a *registrytest.Answer) {
			a.Status = 302
			a.Header.Set("Location", "http://127.0.0.1:1/x")
		}), []string{"only https URLs are followed"}},
		{"redirects in a circle", "acme/foo", on(".zip", func(a *registrytest.Answer) {
			a.Status = 302
			a.Header.Set("Location", "?again")
		}), []string{"too many redirects"}},
		{"no such provider", "acme/bar", func(*site) {},
			[]string{"Failed to query available provider packages: No version of provider registry.example.com/acme/bar can be selected", "was not found in the registry of registry.example.com"}},
		{"no such version", "acme/foo ~> 3.0", func(*site) {},
			[]string{"Failed to query available provider packages", `no available release matches the version constraints "~> 3.0"; the newest one is 1.0.0`}},
		{"pre-releases only", "acme/baz", func(*site) {},
			[]string{"Failed to query available provider packages", "of its 1 versions none is a release"}},
		{"no package for the platform", "acme/other", func(*site) {},
			[]string{"Incompatible provider version: There is no package of provider registry.example.com/acme/other 1.0.0 for the platform " + platform, "the registry of registry.example.com"}},
		{"a protocol of the future", "acme/foo", func(s *site) {
			s.server.Add(registrytest.Release{Namespace: "acme", Type: "foo", Version: "7.0.0", Protocols: []string{"7.0"}})
		}, []string{"provider registry.example.com/acme/foo 7.0.0 supports only version 7.0 of the plugin protocol, and Lockstep needs 5 or 6: the newest release that supports one of them is 1.0.0"}},
		{"broken JSON", "acme/foo", on("/versions", replace("{", "[")),
			[]string{"Failed to query available provider packages", "is not the expected JSON"}},
		{"a server in trouble", "acme/foo", on("/versions", status(500)),
			[]string{"Failed to query available provider packages", "500 Internal Server Error"}},
		{"an unreachable host", "127.0.0.1:1/acme/foo", func(*site) {},
			[]string{"Failed to query available provider packages", "discover the services of 127.0.0.1:1: connect to 127.0.0.1:1", "refused"}},
		{"a host without a registry", "HOST/acme/foo", on("terraform.json", status(404)),
			[]string{"has no provider registry: check the source address"}},
		{"a host with modules only", "HOST/acme/foo", on("terraform.json", replace("providers.v1", "x")),
			[]string{"has no provider registry"}},
		{"a registry over plain http", "HOST/acme/foo", on("terraform.json", replace("/v1/providers", "http://127.0.0.1:1")),
			[]string{"only https URLs are followed"}},
		{"constraints that providers have not", "acme/foo 1.2.3.4", func(*site) {},
			[]string{"Invalid version constraint: Provider registry.example.com/acme/foo: invalid version"}},

		{"a name that climbs out", "acme/foo", pack(program, registrytest.Entry{Name: "../evil", Content: "x", Mode: 0o644}),
			[]string{`unpack "../evil" of the package's archive: the name leads out of the package`}},
		{"a name that climbs out from below", "acme/foo", pack(program, registrytest.Entry{Name: "a/../../evil", Content: "x", Mode: 0o644}),
			[]string{`the name leads out of the package`}},
		{"an absolute name", "acme/foo", pack(program, registrytest.Entry{Name: "/tmp/evil", Content: "x", Mode: 0o644}),
			[]string{`the name leads out of the package`}},
		{"a name for Windows", "acme/foo", pack(program, registrytest.Entry{Name: `..\evil`, Content: "x", Mode: 0o644}),
			[]string{`the name leads out of the package`}},
		{"a link", "acme/foo", pack(registrytest.Entry{Name: "terraform-provider-foo", Content: "/bin/sh", Mode: 0o777 | 1<<27}),
			[]string{`it is a link or a special file`}},
		{"a name that comes twice", "acme/foo", pack(program, program),
			[]string{"file exists"}},
		{"a file where a directory was", "acme/foo", pack(program, registrytest.Entry{Name: "terraform-provider-foo/x", Content: "x", Mode: 0o644}),
			[]string{`unpack "terraform-provider-foo/x"`}},
		{"no program", "acme/foo", pack(registrytest.Entry{Name: "README", Content: "x", Mode: 0o644}),
			[]string{"has no executable file of the provider: it must be named terraform-provider-foo"}},
		{"an archive that is none", "acme/foo", func(s *site) {
			pack()(s)
			alter := s.server.Alter
			s.server.Alter = func(path string, a *registrytest.Answer) {
				if alter(path, a); strings.HasSuffix(path, ".zip") {
					a.Body = []byte("no archive")
				}
			}
		}, []string{"open the package's archive: zip: not a valid zip file"}},
		{"an archive bomb", "acme/foo", func(s *site) {
			pack(program, registrytest.Entry{Name: "big", Content: strings.Repeat("x", 1001), Mode: 0o644})(s)
			s.tune = func(in *install.Installer) { in.Limits = install.Limits{Files: 10, Bytes: 1000} }
		}, []string{"the archive unpacks to more bytes than a provider may have"}},
		{"too many files", "acme/foo", func(s *site) {
			pack(program, registrytest.Entry{Name: "a", Mode: 0o644}, registrytest.Entry{Name: "b", Mode: 0o644})(s)
			s.tune = func(in *install.Installer) { in.Limits = install.Limits{Files: 2, Bytes: 1000} }
		}, []string{"the package's archive has more than 2 files"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, "acme/foo 1.0.0", "acme/baz 1.0.0-rc1")
			s.server.Add(registrytest.Release{Namespace: "acme", Type: "other", Version: "1.0.0", Platforms: []string{"plan9_arm"}})
			test.spoil(s)
			require := strings.Replace(test.require, "HOST", s.server.Address(), 1)
			result, ds := s.ensure(install.Request{Requirements: requirements(t, require)})
			if len(ds) != 1 || !ds.HasErrors() {
				t.Fatalf("want one error: %v", ds)
			}
			for _, want := range test.want {
				if !strings.Contains(ds[0].String(), want) {
					t.Errorf("got %s\nwant %s", ds[0], want)
				}
			}
			if strings.Contains(ds[0].String(), "secret") {
				t.Errorf("a query was shown: %s", ds[0])
			}
			if len(result.Selections) > 0 || result.Changed {
				t.Errorf("selected %v in spite of that", result.Selections)
			}
			if left := s.tree(".terraform"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestOneFailureDoesNotHideAnother(t *testing.T) {
	s := newSite(t, "acme/good 1.0.0")
	result, ds := s.ensure(install.Request{Requirements: requirements(t, "acme/bad", "acme/good", "acme/worse")})
	if len(ds) != 2 {
		t.Errorf("want two errors: %v", ds)
	}
	if _, ok := result.Selections[source(t, registrytest.Host+"/acme/good")]; !ok {
		t.Error("the good one was not installed")
	}
}

func TestHintForTheDefaultNamespace(t *testing.T) {
	s := newSite(t)
	s.config = s.server.MirrorConfig()
	_, ds := s.ensure(install.Request{Requirements: requirements(t, "registry.terraform.io/hashicorp/foo")})
	if !ds.HasErrors() || !strings.Contains(ds[0].Detail, `foo = { source = "NAMESPACE/foo" }`) {
		t.Error(ds)
	}
}
