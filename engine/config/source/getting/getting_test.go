package getting_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// getters returns what the command line has.
func getters(s *sourcetest.Server, policy hosts.Policy) *getting.Getters {
	return &getting.Getters{
		Policy: policy, Transport: s.Transport(),
		More: []getting.Getter{
			getting.Git(getting.GitOptions{Policy: policy, Environ: append(os.Environ(), s.Environ()...)}),
			getting.Directory(),
		},
	}
}

// list returns the names in a directory, with a slash behind directories.
func list(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if e != nil && !e.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	first := s.Repository("net", "v1", map[string]string{"main.tf": "# 1", "sub/x.tf": "", ".hidden": "", "link.tf": "-> main.tf"})
	s.Repository("net", "v2", map[string]string{"main.tf": "# 2", "new.tf": ""})
	files := map[string]string{"main.tf": "# a", "sub/x.tf": ""}
	s.File("/m.zip", sourcetest.Zip(t, files), nil)
	s.File("/m.tar.gz", sourcetest.Tarball(t, files), nil)
	s.File("/plain", sourcetest.Zip(t, files), nil)
	s.File("/forwarded", []byte("-"), http.Header{"X-Terraform-Get": {s.URL() + "/m.zip"}})
	s.File("/to-git", []byte("-"), http.Header{"X-Terraform-Get": {"git::" + s.URL() + "/git/net.git?ref=v1"}})
	s.File("/page", []byte(`<html><head><meta name="terraform-get" content="`+s.URL()+`/m.tar.gz"></head></html>`), nil)
	repo := "git::" + s.URL() + "/git/net.git"
	all := ".hidden link.tf main.tf sub/x.tf"
	for address, want := range map[string]string{
		repo:                                     ".hidden link.tf main.tf new.tf sub/x.tf",
		repo + "?ref=v1":                         all,
		repo + "?ref=v1&depth=1":                 all,
		repo + "?ref=main":                       ".hidden link.tf main.tf new.tf sub/x.tf",
		repo + "?ref=" + first:                   all,
		repo + "?ref=" + first[:9]:               all,
		repo + "?depth=2&ref=" + first:           all,
		s.URL() + "/m.zip":                       "main.tf sub/x.tf",
		s.URL() + "/m.tar.gz":                    "main.tf sub/x.tf",
		s.URL() + "/plain?archive=zip":           "main.tf sub/x.tf",
		s.URL() + "/forwarded":                   "main.tf sub/x.tf",
		s.URL() + "/page":                        "main.tf sub/x.tf",
		s.URL() + "/to-git":                      all,
		"file://" + filepath.ToSlash(oneFile(t)): "a.tf",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "package")
			if err := getters(s, hosts.Policy{}).Fetch(t.Context(), address, dir); err != nil {
				t.Fatal(err)
			}
			if target, err := os.Readlink(dir); err == nil {
				dir = target
			}
			if got := list(t, dir); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func oneFile(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.tf"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Whatever is refused says why, shows no secret, and leaves nothing behind.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("net", "v1", map[string]string{"main.tf": ""})
	s.Repository("escape", "v1", map[string]string{"passwd": "-> /etc/passwd"})
	s.Repository("up", "v1", map[string]string{"sub/up": "-> ../../../x"})
	s.Repository("loop", "v1", map[string]string{"a": "-> b", "b": "-> a"})
	s.Repository("inner", "v1", map[string]string{
		".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = file:///etc\n", "main.tf": "",
	})
	s.File("/slip.zip", sourcetest.Zip(t, map[string]string{"../../evil.tf": ""}), nil)
	s.File("/slip.tgz", sourcetest.Tarball(t, map[string]string{"../evil.tf": ""}), nil)
	s.File("/many.zip", sourcetest.Zip(t, map[string]string{"a": "", "b": "", "c": "", "d": ""}), nil)
	s.File("/big.zip", sourcetest.Zip(t, map[string]string{"a": strings.Repeat("0", 5000)}), nil)
	s.File("/big.tgz", sourcetest.Tarball(t, map[string]string{"a": strings.Repeat("0", 5000)}), nil)
	s.File("/fat.zip", make([]byte, 5000), nil)
	s.File("/none.zip", []byte("no archive"), nil)
	s.File("/round", []byte("-"), http.Header{"X-Terraform-Get": {s.URL() + "/round"}})
	s.File("/metadata", []byte("-"), http.Header{"X-Terraform-Get": {"https://169.254.169.254/latest.zip"}})
	s.File("/file", []byte("-"), http.Header{"X-Terraform-Get": {"hg::https://127.0.0.1/etc"}})
	s.File("/moved.zip", nil, nil)
	repo := "git::" + s.URL() + "/git/"
	for address, want := range map[string]string{
		repo + "none.git":                              "not found",
		repo + "net.git?ref=v9":                        `no branch, tag or commit "v9"`,
		repo + "net.git?ref=v9&depth=1":                "v9",
		repo + "net.git?ref=--upload-pack=x":           "is not the name of a branch",
		repo + "net.git?depth=many":                    "depth=many is not a number",
		repo + "net.git?sshkey=!!s3cretkey":            "sshkey is not in base64",
		repo + "escape.git":                            "passwd, which leads out of it",
		repo + "up.git":                                "sub/up, which leads out of it",
		repo + "loop.git":                              "which leads out of it, or nowhere",
		"git::file:///etc":                             "only https URLs are followed",
		"git::ext::sh -c touch% /tmp/pwned":            "",
		"git::http://127.0.0.1/x.git":                  "only https URLs are followed",
		"git::https://169.254.169.254/x.git":           "no connection is made to the address 169.254.169.254",
		"git::ssh://-oProxyCommand=x/y":                "no host that ssh could connect to",
		"git::https://user:s3cretpw@127.0.0.1:1/x.git": "git says",
		"hg::https://example.com/x":                    `not fetched by "hg"`,
		"ftp://example.com/x.zip":                      `not fetched by "ftp"`,
		"http://127.0.0.1:1/x.zip":                     "only https URLs are followed",
		"https://user:s3cretpw@127.0.0.1:1/x.zip":      "refused",
		"https://169.254.169.254/x.zip":                "no connection is made to the address 169.254.169.254",
		s.URL() + "/slip.zip":                          "entry contains '..'",
		s.URL() + "/slip.tgz":                          "entry contains '..'",
		s.URL() + "/many.zip":                          "too many files",
		s.URL() + "/big.zip":                           "larger than limit",
		s.URL() + "/big.tgz":                           "larger than limit",
		s.URL() + "/fat.zip":                           "",
		s.URL() + "/none.zip":                          "not a valid zip file",
		s.URL() + "/gone.zip":                          "404",
		s.URL() + "/round":                             "too many X-Terraform-Get redirects",
		s.URL() + "/metadata":                          "no connection is made to the address 169.254.169.254",
		s.URL() + "/file":                              "no getter available",
		"file:///no/such/directory":                    "there is no directory",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir := filepath.Join(parent, "a", "package")
			g := getters(s, hosts.Policy{})
			g.Limits = getting.Limits{Files: 3, Bytes: 4000, Archive: 4500}
			err := g.Fetch(t.Context(), address, dir)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v, want %q", err, want)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a secret is shown: %v", err)
			}
			if got := list(t, parent); got != "" {
				t.Errorf("left behind: %s", got)
			}
		})
	}
}

// A submodule may not lead to what its parent may not.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("inner", "v1", map[string]string{"inner.tf": ""})
	good := s.Submodule("outer", "inner", "../inner.git")
	bad := s.Submodule("evil", "inner", "file://"+filepath.ToSlash(s.Path("inner")))
	dir := filepath.Join(t.TempDir(), "package")
	if err := getters(s, hosts.Policy{}).Fetch(t.Context(), good, dir); err != nil {
		t.Fatal(err)
	}
	if got := list(t, dir); got != ".gitmodules x/inner.tf" {
		t.Errorf("got %s", got)
	}
	err := getters(s, hosts.Policy{}).Fetch(t.Context(), bad, filepath.Join(t.TempDir(), "package"))
	if err == nil || !strings.Contains(err.Error(), "transport 'file' not allowed") {
		t.Errorf("got %v", err)
	}
}

func TestPasswordsStayOffTheDisk(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("net", "v1", map[string]string{"main.tf": ""})
	s.Password = "s3cretpw"
	dir := filepath.Join(t.TempDir(), "package")
	address := "git::" + strings.Replace(s.URL(), "https://", "https://user:s3cretpw@", 1) + "/git/net.git"
	if err := getters(s, hosts.Policy{}).Fetch(t.Context(), address, dir); err != nil {
		t.Fatal(err)
	}
	if got := list(t, dir); got != "main.tf" {
		t.Errorf("got %s", got)
	}
	err := getters(s, hosts.Policy{}).Fetch(t.Context(), strings.Replace(address, "s3cretpw", "wr0ngpw", 1), dir+"2")
	if err == nil || strings.Contains(err.Error(), "wr0ngpw") || !strings.Contains(err.Error(), "Authentication failed") {
		t.Errorf("got %v", err)
	}
}

func TestHostsThatMayNotBeAsked(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("net", "v1", map[string]string{"main.tf": ""})
	s.File("/m.zip", sourcetest.Zip(t, map[string]string{"main.tf": ""}), nil)
	s.Requests()
	for _, policy := range []hosts.Policy{
		{Host: func(string) error { return errors.New("not this host") }},
		{PublicOnly: true},
	} {
		for _, address := range []string{s.URL() + "/m.zip", "git::" + s.URL() + "/git/net.git"} {
			if err := getters(s, policy).Fetch(t.Context(), address, filepath.Join(t.TempDir(), "package")); err == nil {
				t.Errorf("%s was fetched", address)
			}
		}
	}
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("the server was asked for %q", got)
	}
}

func TestInterruptedFetch(t *testing.T) {
	t.Parallel()
	s := sourcetest.New(t)
	s.Repository("net", "v1", map[string]string{"main.tf": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "package")
	for _, address := range []string{"git::" + s.URL() + "/git/net.git", s.URL() + "/m.zip"} {
		if err := getters(s, hosts.Policy{}).Fetch(ctx, address, dir); err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("got %v", err)
		}
		if _, err := os.Lstat(dir); err == nil {
			t.Error("something is left")
		}
	}
}
