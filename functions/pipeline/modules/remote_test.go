package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// grants are what a base branch's lockstep.hcl grants by its modules.
func grants(t *testing.T, modules ...string) project.Grants {
	t.Helper()
	src := "allow {\n  modules = [\"" + strings.Join(modules, "\", \"") + "\"]\n}\n"
	if modules == nil {
		src = ""
	}
	s, ds := project.Parse(project.FileName, []byte(src))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	g, err := project.GrantsOf(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// newHub starts a GitHub, and returns it with what makes an App of it.
func newHub(t *testing.T) (*githubtest.Hub, func() *github.App) {
	t.Helper()
	hub := githubtest.New(githubtest.Options{})
	api := httptest.NewServer(hub)
	t.Cleanup(api.Close)
	return hub, func() *github.App {
		app, err := github.NewApp(hub.App(api.URL))
		if err != nil {
			t.Fatal(err)
		}
		return app
	}
}

// TestRemote is a table of who may have which modules, against a GitHub and a registry.
func TestRemote(t *testing.T) {
	t.Parallel()
	hub, newApp := newHub(t)
	app := newApp()
	files := githubtest.Files{"main.tf": "", "net/main.tf": ""}
	own := hub.AddRepository("acme", "infra", files)
	own.SetPrivate()
	for _, name := range []string{"private", "secret"} {
		hub.AddRepository("acme", name, files).SetPrivate()
	}
	hub.AddRepository("acme", "public", files)
	hub.AddRepository("example", "public", files)
	hub.AddRepository("example", "private", files).SetPrivate()
	server := sourcetest.New(t)
	server.File("/m.zip", sourcetest.Zip(t, map[string]string{"main.tf": ""}), nil)
	server.Module("acme/net/aws", "1.0.0", "git::https://github.com/acme/private.git//net?ref=main")

	for _, test := range []struct {
		source string
		allow  []string
		want   string // of the error
	}{
		{"github.com/acme/infra//net", nil, ""},
		{"github.com/acme/public?ref=main", nil, ""},
		{"github.com/example/public", nil, ""},
		{"github.com/acme/private", nil, `there is no public repository acme/private with the ref HEAD; if it is private, install the App on it, and name it in the allow block of lockstep.hcl on the base branch: modules = ["github.com/acme/private"]`},
		{"github.com/acme/none", nil, `there is no public repository acme/none with the ref HEAD; if it is private,`},
		{"git::ssh://git@github.com/acme/private.git//net?ref=main", []string{"github.com/acme/private"}, ""},
		{"github.com/acme/private", []string{"github.com/acme/pri*"}, ""},
		{"github.com/acme/secret", []string{"github.com/acme/private"}, "there is no public repository acme/secret"},
		{"github.com/acme/public", []string{"github.com/acme/*"}, ""},
		{"github.com/acme/private?ref=v9", []string{"github.com/acme/*"}, "with the ref v9, and the App finds none either: check the name and the ref"},
		{"github.com/acme/infra?ref=v9", nil, "this repository has no ref v9"},
		{"github.com/acme/infra?ref=..", nil, `".." is not the name of a branch, a tag or a commit`},
		{"github.com/example/private", []string{"github.com/example/*"}, "a private one can be had from the account acme only"},
		{sourcetest.Host + "/acme/net/aws", nil, "the base branch does not allow modules from the host modules.example.com"},
		{sourcetest.Host + "/acme/net/aws", []string{sourcetest.Host}, "there is no public repository acme/private"},
		{sourcetest.Host + "/acme/net/aws", []string{sourcetest.Host, "github.com/acme/private"}, ""},
		{"https://" + sourcetest.Host + "/m.zip", nil, `add the host to the allow block of lockstep.hcl on the base branch: modules = ["modules.example.com"]`},
		{"https://" + sourcetest.Host + "/m.zip", []string{sourcetest.Host}, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, "module \"m\" {\n  source = %q\n}\n", test.source), 0o644); err != nil {
			t.Fatal(err)
		}
		job := jobs.Job{Repo: own.Repo(), Installation: own.Installation(), Grants: grants(t, test.allow...)}
		_, ds, err := Remote{App: app, Transport: server.Transport()}.Install(t.Context(), job, dir, source.Dir(dir), nil, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", test.source, err)
		}
		got := ds.Error()
		if test.want == "" && ds.HasErrors() || !strings.Contains(got, test.want) {
			t.Errorf("%s with %q: %s, want %q", test.source, test.allow, got, test.want)
		}
		hidden(t, hub, dir, got)
	}
}

// TestRemoteUnknown holds that GitHub's outages and limits are no answer about a module:
// the plan is made when they are over.
func TestRemoteUnknown(t *testing.T) {
	t.Parallel()
	hub, newApp := newHub(t)
	app := newApp()
	own := hub.AddRepository("acme", "infra", githubtest.Files{"main.tf": ""})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte("module \"m\" {\n  source = \"github.com/acme/infra\"\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := jobs.Job{Repo: own.Repo(), Installation: own.Installation()}
	hub.Fail(-1, githubtest.Limited(time.Now().Add(time.Hour)))
	_, _, err := Remote{App: app}.Install(t.Context(), job, dir, source.Dir(dir), nil, nil, nil)
	if limited := (*github.RateLimitedError)(nil); !errors.As(err, &limited) || limited.Until.Before(time.Now()) {
		t.Errorf("while the limit lasts: %v", err)
	}
	hub.Fail(0, nil)
	app = newApp() // the other one keeps to the limit
	if _, ds, err := (Remote{App: app}).Install(t.Context(), job, dir, source.Dir(dir), nil, nil, nil); err != nil || ds.HasErrors() {
		t.Errorf("after it: %v, %v", err, ds)
	}
}

// enterprise is an App of somebody's own GitHub.
type enterprise struct{ *github.App }

func (enterprise) OfGitHubCom() bool { return false }

// TestRemoteAtEnterprise holds that the names of github.com do not lead to repositories
// of the same names on another GitHub.
func TestRemoteAtEnterprise(t *testing.T) {
	t.Parallel()
	hub, newApp := newHub(t)
	app := newApp()
	own := hub.AddRepository("acme", "infra", nil)
	own.SetPrivate()
	job := jobs.Job{Repo: own.Repo(), Installation: own.Installation(), Grants: grants(t, "github.com/acme/*")}
	err := Remote{App: enterprise{app}}.repository(job)(t.Context(), "acme", "infra", "HEAD", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "only by an App of github.com") {
		t.Error(err)
	}
	if given := hub.Given(); len(given) != 0 {
		t.Error("a token was asked for")
	}
}

// hidden holds that nothing that GitHub has given out as a secret is in a text, or in a
// file below a directory.
func hidden(t *testing.T, hub *githubtest.Hub, dir, said string) {
	t.Helper()
	text := said
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		text += path + string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	given := hub.Given()
	for _, secret := range given {
		if strings.Contains(text, secret) {
			t.Errorf("a token is in what was said, or written")
		}
	}
	if len(given) == 0 {
		t.Error("there are no tokens to look for")
	}
}

// TestRemoteEnds holds that no configuration fills the disk.
func TestRemoteEnds(t *testing.T) {
	t.Parallel()
	server := sourcetest.New(t)
	large := strings.Repeat("#", 1000)
	server.File("/m.zip", sourcetest.Zip(t, map[string]string{"main.tf": large}), nil)
	base := "https://" + sourcetest.Host
	server.File("/self.zip", sourcetest.Zip(t, map[string]string{"main.tf": "module \"a\" {\n  source = \"" + base + "/self.zip\"\n}\n"}), nil)
	server.File("/one.zip", sourcetest.Zip(t, map[string]string{"main.tf": "module \"a\" {\n  source = \"" + base + "/two.zip\"\n}\n"}), nil)
	server.File("/two.zip", sourcetest.Zip(t, map[string]string{"main.tf": "module \"a\" {\n  source = \"" + base + "/one.zip\"\n}\n"}), nil)
	var many strings.Builder
	for i := range 5 {
		fmt.Fprintf(&many, "module \"m%d\" {\n  source = \"%s/m.zip\"\n}\n", i, base)
	}
	for _, test := range []struct {
		text         string
		bytes, calls int
		want         string
	}{
		{many.String(), 5000, 5, ""},
		{many.String(), 4999, 0, "all modules together have more than 4999 bytes"},
		{many.String(), 0, 4, `The module "m4" was not installed: the configuration has more than 4 calls`},
		{"module \"m\" {\n  source = \"" + base + "/self.zip\"\n}\n", 0, 0, "called from within itself, as module.m.module.a"},
		{"module \"m\" {\n  source = \"" + base + "/one.zip\"\n}\n", 0, 0, "called from within itself, as module.m.module.a.module.a"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		in := Pipeline(dir, source.Dir(dir), PipelineOptions{Transport: server.Transport()})
		in.Bytes, in.Calls = int64(test.bytes), test.calls
		_, ds := in.Install(t.Context())
		if test.want == "" && ds.HasErrors() || !strings.Contains(ds.Error(), test.want) {
			t.Errorf("%d bytes, %d calls: %v, want %q", test.bytes, test.calls, ds, test.want)
		}
	}
}
