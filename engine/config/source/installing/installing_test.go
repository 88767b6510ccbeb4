package installing_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/source/getting"
	"github.com/lockstep-iac/lockstep/engine/config/source/installing"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A site is a server, and a root module that calls what is there.
type site struct {
	t      *testing.T
	server *sourcetest.Server
	root   string
	events []string
}

func newSite(t *testing.T) *site {
	s := &site{t: t, server: sourcetest.New(t), root: t.TempDir()}
	s.server.Repository("net", "v1", map[string]string{
		"main.tf":         "module \"sub\" {\n  source = \"./sub\"\n}\n",
		"sub/main.tf":     "module \"deep\" {\n  source = \"./deep\"\n}\n",
		"sub/deep/x.tf":   "output \"x\" {\n  value = 1\n}\n",
		"sub/.hidden/.tf": "",
	})
	for _, v := range []string{"1.0.0", "1.2.0", "1.10.1", "2.0.0-rc1", "2.0.0"} {
		s.server.File("/vpc-"+v+".tar.gz", sourcetest.Tarball(t, map[string]string{
			"vpc-" + v + "/main.tf":           "output \"v\" {\n  value = \"" + v + "\"\n}\n",
			"vpc-" + v + "/modules/x/main.tf": "module \"sibling\" {\n  source = \"../y\"\n}\n",
			"vpc-" + v + "/modules/y/main.tf": "",
		}), nil)
		s.server.Module("acme/vpc/aws", v, s.server.URL()+"/vpc-"+v+".tar.gz//vpc-"+v+"?archive=tar.gz")
	}
	s.server.Module("acme/glob/aws", "1.0.0", s.server.URL()+"/vpc-1.0.0.tar.gz//*?archive=tar.gz")
	s.server.Module("acme/net/aws", "1.0.0", "git::"+s.server.URL()+"/git/net.git?ref=v1")
	s.server.Module("acme/next/aws", "0.1.0-beta1", "./net.zip")
	return s
}

// write makes main.tf, with SERVER for the server's URL and REGISTRY for its address.
func (s *site) write(text string) {
	s.t.Helper()
	text = strings.NewReplacer("SERVER", s.server.URL(), "REGISTRY", s.server.Address()).Replace(text)
	if err := os.WriteFile(filepath.Join(s.root, "main.tf"), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// call returns a module block in one line; more is behind the source.
func call(name, source string, more ...string) string {
	return "module \"" + name + "\" {\n  source = \"" + source + "\"\n  " + strings.Join(more, "\n  ") + "\n}\n"
}

func (s *site) manifestPath() string {
	return filepath.Join(s.root, ".terraform", filepath.FromSlash(source.ManifestPath))
}

func (s *site) installer() *installing.Installer {
	policy := hosts.Policy{}
	client := &hosts.Client{Policy: policy, Transport: s.server.Transport()}
	return &installing.Installer{
		Tree: source.Dir(s.root), Root: s.root, DataDir: ".terraform",
		Registry: installing.NewRegistries(client, nil),
		Fetch: (&getting.Getters{
			Policy: policy, Transport: s.server.Transport(),
			More: []getting.Getter{getting.Git(getting.GitOptions{Policy: policy, Environ: append(os.Environ(), s.server.Environ()...)}), getting.Directory()},
		}).Fetch,
		Events: func(e installing.Event) { s.events = append(s.events, s.plain(e.String())) },
	}
}

func (s *site) install(upgrade bool) (*config.Config, diags.Diagnostics) {
	s.t.Helper()
	s.events = nil
	in := s.installer()
	in.Upgrade = upgrade
	if data, err := os.ReadFile(s.manifestPath()); err == nil {
		m, err := source.ParseManifest(data)
		if err != nil {
			s.t.Fatal(err)
		}
		in.Known = m.Lookup()
	}
	cfg, ds := in.Install(s.t.Context())
	data, err := cfg.Manifest().Encode()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(s.manifestPath()), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.manifestPath(), data, 0o644); err != nil {
		s.t.Fatal(err)
	}
	return cfg, ds
}

// plain takes the server's port out of a text.
func (s *site) plain(text string) string {
	return strings.NewReplacer(s.server.URL(), "SERVER", s.server.Address(), "REGISTRY").Replace(text)
}

const everything = `
module "a" {
  source = "git::SERVER/git/net.git?ref=v1"
}
module "b" {
  source = "git::SERVER/git/net.git//sub?ref=v1"
}
module "reg" {
  source  = "REGISTRY/acme/vpc/aws"
  version = "~> 1.0"
}
module "x" {
  source  = "REGISTRY/acme/vpc/aws//modules/x"
  version = ">= 1.2, != 1.10.1, < 2"
}
module "z" {
  source = "./local"
}
module "zip" {
  source = "SERVER/vpc-1.0.0.tar.gz//vpc-1.0.0/modules/x"
}
`

func TestInstall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write(everything)
	local := filepath.Join(s.root, "local")
	if err := os.Mkdir(local, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(local, "m.tf"), []byte(strings.ReplaceAll(call("net", "REGISTRY/acme/net/aws"), "REGISTRY", s.server.Address())), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ds := s.install(false); ds.HasErrors() {
		t.Fatal(ds)
	}
	want := []string{
		"Downloading git::SERVER/git/net.git?ref=v1 for a...",
		"- a in .terraform/modules/a",
		"- a.sub in .terraform/modules/a/sub",
		"- a.sub.deep in .terraform/modules/a/sub/deep",
		"Downloading git::SERVER/git/net.git?ref=v1 for b...",
		"- b in .terraform/modules/b/sub",
		"- b.deep in .terraform/modules/b/sub/deep",
		"Downloading REGISTRY/acme/vpc/aws 1.10.1 for reg...",
		"- reg in .terraform/modules/reg/vpc-1.10.1",
		"Downloading REGISTRY/acme/vpc/aws 1.2.0 for x...",
		"- x in .terraform/modules/x/vpc-1.2.0/modules/x",
		"- x.sibling in .terraform/modules/x/vpc-1.2.0/modules/y",
		"- z in local",
		"Downloading REGISTRY/acme/net/aws 1.0.0 for z.net...",
		"- z.net in .terraform/modules/z.net",
		"- z.net.sub in .terraform/modules/z.net/sub",
		"- z.net.sub.deep in .terraform/modules/z.net/sub/deep",
		"Downloading SERVER/vpc-1.0.0.tar.gz for zip...",
		"- zip in .terraform/modules/zip/vpc-1.0.0/modules/x",
		"- zip.sibling in .terraform/modules/zip/vpc-1.0.0/modules/y",
	}
	if diff := cmp.Diff(want, s.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	var clones, versions int
	for _, r := range s.server.Requests() {
		if strings.HasSuffix(r, "/git/net.git/info/refs") {
			clones++
		}
		if strings.HasSuffix(r, "/vpc/aws/versions") {
			versions++
		}
	}
	if clones != 1 || versions != 1 {
		t.Errorf("the repository was asked for %d times, the registry for versions %d times, want once each", clones, versions)
	}
	if _, ds := s.install(false); ds.HasErrors() || len(s.events) != 0 || len(s.server.Requests()) != 0 {
		t.Errorf("the second time: %v %q", ds, s.events)
	}
	if _, ds := s.install(true); ds.HasErrors() || len(s.events) < len(want) {
		t.Errorf("an upgrade: %v %q", ds, s.events)
	}
}

// TestChanges installs again what does not fit any more, and only that.
func TestChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	vpc := func(version string) string { return call("vpc", "REGISTRY/acme/vpc/aws", "version = \""+version+"\"") }
	for _, step := range []struct{ config, want string }{
		{vpc("1.0.0"), "1.0.0"},
		{vpc(">= 1.0"), "1.0.0"}, // allowed still
		{vpc(">= 1.1"), "2.0.0"},
		{vpc("2.0.0-rc1"), "2.0.0-rc1"},
		{vpc("< 2"), "1.10.1"},
		{call("vpc", "REGISTRY/acme/net/aws"), "1.0.0"},
		{call("vpc", "REGISTRY/acme/glob/aws//modules/y"), "1.0.0"},
	} {
		s.write(step.config)
		cfg, ds := s.install(false)
		if ds.HasErrors() {
			t.Fatalf("%s: %v", step.config, ds)
		}
		if got := cfg.Manifest().Modules[1].Version; got != step.want {
			t.Errorf("%s: version %s, want %s", step.config, got, step.want)
		}
	}
	if err := os.RemoveAll(filepath.Join(s.root, ".terraform/modules/vpc")); err != nil {
		t.Fatal(err)
	}
	if _, ds := s.install(false); ds.HasErrors() || len(s.events) == 0 {
		t.Errorf("a module whose files are gone: %v, %q", ds, s.events)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.server.Module("acme/bad/aws", "1.0.0", "./../x?archive=zip")
	s.server.Module("acme/loop/aws", "1.0.0", "acme/vpc/aws")
	for _, test := range []struct{ config, want string }{
		{call("m", "git::SERVER/git/net.git?ref=v9"), `main.tf:2,12-`},
		{call("m", "git::SERVER/git/net.git?ref=v9"), `Failed to download module: Could not download module "m": its package could not be fetched from git::SERVER/git/net.git?ref=v9: the repository has no branch, tag or commit "v9"`},
		{call("m", "git::SERVER/git/net.git//nosuch?ref=v1"), "Unreadable module subdirectory: The package of module \"m\", git::SERVER/git/net.git?ref=v1, has no directory nosuch"},
		{call("m", "SERVER/vpc-1.0.0.tar.gz//nosuch*"), `has 0 directories that match "nosuch*", and not one`},
		{call("m", "REGISTRY/acme/none/aws"), "Module not found: Module \"m\" comes from REGISTRY/acme/none/aws"},
		{call("m", "REGISTRY/acme/vpc/aws", `version = "> 5"`), `Unresolvable module version constraint: No version of REGISTRY/acme/vpc/aws meets the constraint "> 5.0.0" of module "m". The newest is 2.0.0.`},
		{call("m", "REGISTRY/acme/next/aws"), "has pre-releases only, the newest of which is 0.1.0-beta1"},
		{call("m", "REGISTRY/acme/bad/aws"), "could not be fetched from SERVER/v1/modules/acme/bad/aws/x?archive=zip (the registry's address for REGISTRY/acme/bad/aws)"},
		{call("m", "REGISTRY/acme/loop/aws"), "Invalid package location from module registry"},
		{call("m", "nohost.invalid/acme/loop/aws"), "Error accessing remote module registry: The versions of module \"m\" (nohost.invalid/acme/loop/aws) cannot be had"},
		{call("m", "hg::https://example.com/x"), `modules are not fetched by "hg"`},
	} {
		s.write(test.config)
		if err := os.RemoveAll(filepath.Join(s.root, ".terraform")); err != nil {
			t.Fatal(err)
		}
		_, ds := s.install(false)
		if !ds.HasErrors() {
			t.Errorf("%s: no error", test.config)
			continue
		}
		got := s.plain(ds[0].Summary + ": " + ds[0].Detail + " " + ds[0].Subject.String())
		if len(ds) != 1 || !strings.Contains(got, test.want) {
			t.Errorf("%s\n got %s\nwant %s", test.config, got, test.want)
		}
		entries, err := os.ReadDir(filepath.Join(s.root, ".terraform/modules"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".new") {
				t.Errorf("%s: %s is left", test.config, e.Name())
			}
		}
	}
}

// A package's modules may not reach out of it by paths.
func TestPackagesAreClosed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.server.Repository("out", "v1", map[string]string{"main.tf": call("m", "../../../secret")})
	s.server.Repository("top", "v1", map[string]string{"sub/main.tf": call("m", "../"), "main.tf": ""})
	s.write(call("m", "git::SERVER/git/out.git"))
	_, ds := s.install(false)
	if !strings.Contains(ds.Error(), "Local module path escapes module package") {
		t.Errorf("got %v", ds)
	}
	s.write(call("m", "git::SERVER/git/top.git//sub"))
	if cfg, ds := s.install(false); ds.HasErrors() || len(cfg.Order) != 3 {
		t.Errorf("the package's own directory: %v", ds)
	}
}

// TestStockTool lets Terraform use what we installed, and the other way round. Neither
// may ask the server again.
func TestStockTool(t *testing.T) {
	t.Parallel()
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not on the PATH")
	}
	s := newSite(t)
	s.write(strings.NewReplacer("module \"z\" {\n  source = \"./local\"\n}\n", "").Replace(everything))
	run := func(args ...string) string {
		cmd := exec.Command(terraform, args...)
		cmd.Dir = s.root
		cmd.Env = append(append(os.Environ(), s.server.Environ()...), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull, "TF_DATA_DIR=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("terraform %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if _, ds := s.install(false); ds.HasErrors() {
		t.Fatal(ds)
	}
	ours, err := os.ReadFile(s.manifestPath())
	if err != nil {
		t.Fatal(err)
	}
	s.server.Requests()
	if out := run("init", "-no-color"); strings.Contains(out, "Downloading") || len(s.server.Requests()) != 0 {
		t.Errorf("terraform did not take what is there:\n%s", out)
	}
	run("validate")
	if err := os.RemoveAll(filepath.Join(s.root, ".terraform")); err != nil {
		t.Fatal(err)
	}
	run("init", "-no-color")
	theirs, err := os.ReadFile(s.manifestPath())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(indented(t, theirs), indented(t, ours)); diff != "" || string(ours) != string(theirs) {
		t.Errorf("manifests (-theirs +ours):\n%s", diff)
	}
	s.server.Requests()
	if _, ds := s.install(false); ds.HasErrors() || len(s.events) != 0 || len(s.server.Requests()) != 0 {
		t.Errorf("we did not take what terraform installed: %v %q", ds, s.events)
	}
}

func indented(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
