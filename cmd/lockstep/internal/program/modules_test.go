package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
	"github.com/lockstep-iac/lockstep/engine/oci/ocitest"
)

// moduleDir is a directory whose configuration calls a repository's module twice, and
// one of a registry, of a server that d's commands trust.
func moduleDir(t *testing.T) (programtest.Dir, *sourcetest.Server) {
	s := sourcetest.New(t)
	s.Repository("net", "v1", map[string]string{
		"main.tf": "variable \"in\" {}\nresource \"terraform_data\" \"x\" {\n  input = templatefile(\"${path.module}/x.tmpl\", { in = var.in })\n}\noutput \"out\" {\n  value = terraform_data.x.output\n}\n",
		"x.tmpl":  "<${in}>",
	})
	s.Module("acme/net/aws", "1.0.0", "git::"+s.URL()+"/git/net.git?ref=v1")
	d := programtest.NewDir(t, "main.tf", strings.NewReplacer("SERVER", s.URL(), "HOST", sourcetest.Host).Replace(`
module "a" {
  source = "git::SERVER/git/net.git?ref=v1"
  in     = "a"
}
module "b" {
  source  = "HOST/acme/net/aws"
  version = "~> 1.0"
  in      = module.a.out
}
output "out" {
  value = module.b.out
}
`), "cli.hcl", s.CLIConfig())
	d.Env = append(s.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(d.Path, "cli.hcl"))
	return d, s
}

// Modules from elsewhere are installed once, planned and applied, from a saved plan too.
func TestModulesFromElsewhere(t *testing.T) {
	t.Parallel()
	d, s := moduleDir(t)
	if r := d.Run("plan", "-no-color"); r.Code != 1 || !strings.Contains(r.Stderr, `Run "lockstep init"`) {
		t.Errorf("a plan before init: %+v", r)
	}
	r := d.Must("init", "-no-color")
	for _, want := range []string{"Initializing modules...\nDownloading git::" + s.URL() + "/git/net.git?ref=v1 for a...\n- a in .terraform/modules/a\nDownloading modules.example.com/acme/net/aws 1.0.0 for b...\n- b in .terraform/modules/b\n"} {
		if !strings.Contains(r.Out, want) {
			t.Errorf("init says\n%swithout\n%s", r.Out, want)
		}
	}
	s.Requests()
	if r := d.Must("init", "-no-color"); strings.Contains(r.Out, "Downloading") || len(s.Requests()) != 0 {
		t.Errorf("the second init says\n%s", r.Out)
	}
	if r := d.Must("get"); r.Out != "" {
		t.Errorf("get says %s", r.Out)
	}
	d.Must("plan", "-no-color", "-out=saved")
	d.Must("apply", "-no-color", "saved")
	if r := d.Must("output", "-raw", "out"); r.Out != "<<a>>" {
		t.Errorf("output %q", r.Out)
	}
	if r := d.Must("get", "-update"); !strings.Contains(r.Out, "- a in") || len(s.Requests()) == 0 {
		t.Errorf("get -update says %s", r.Out)
	}
	if r := d.Must("plan", "-no-color", "-detailed-exitcode"); !strings.Contains(r.Out, "No changes") {
		t.Errorf("the plan after an apply:\n%s", r.Out)
	}
}

// Terraform takes over what we initialized, asking nobody, and we what it did.
func TestModulesTakeTurns(t *testing.T) {
	t.Parallel()
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not on the PATH")
	}
	d, s := moduleDir(t)
	stock := func(args ...string) {
		t.Helper()
		cmd := exec.Command(terraform, args...)
		cmd.Dir, cmd.Env = d.Path, append(d.Environ(), "CHECKPOINT_DISABLE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("terraform %v: %v\n%s", args, err, out)
		}
	}
	d.Must("init")
	s.Requests()
	stock("plan")
	stock("init")
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("terraform asked for %q", got)
	}
	if err := os.RemoveAll(filepath.Join(d.Path, ".terraform")); err != nil {
		t.Fatal(err)
	}
	stock("init")
	s.Requests()
	d.Must("plan")
	d.Must("init")
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("we asked for %q", got)
	}
}

func TestModuleErrors(t *testing.T) {
	t.Parallel()
	d, _ := moduleDir(t)
	d.Write("main.tf", "module \"a\" {\n  source = \"http://127.0.0.1:1/x.zip\"\n}\n")
	r := d.Run("init", "-no-color")
	for _, want := range []string{"Failed to download module", `on main.tf line 2, in module "a":`, "only https URLs are followed, and not http://127.0.0.1:1/x.zip", "set LOCKSTEP_HTTP_MODULES=1"} {
		if got := strings.Join(strings.Fields(strings.ReplaceAll(r.Stderr, "│", "")), " "); r.Code != 1 || !strings.Contains(got, want) {
			t.Errorf("%d %s, want %s", r.Code, got, want)
		}
	}
	// So is a registry that the CLI configuration puts there.
	registry := d
	registry.Env = append(slices.Clone(d.Env), "TF_CLI_CONFIG_FILE="+filepath.Join(d.Path, "registry.tfrc"))
	d.Write("registry.tfrc", "host \"registry.example.com\" {\n  services = { \"modules.v1\" = \"http://127.0.0.1:1/v1/modules/\" }\n}\n")
	d.Write("main.tf", "module \"a\" {\n  source = \"registry.example.com/a/b/c\"\n}\n")
	if r := registry.Run("init", "-no-color"); r.Code != 1 || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(r.Stderr, "│", "")), " "), "set LOCKSTEP_HTTP_MODULES=1") {
		t.Errorf("a registry at http: %+v", r)
	}
	d.Write("main.tf", "module \"a\" {\n  source = \"http://127.0.0.1:1/x.zip\"\n}\n")
	d.Env = append(d.Env, "LOCKSTEP_HTTP_MODULES=1")
	if r := d.Run("init", "-no-color"); r.Code != 1 || !strings.Contains(r.Stderr, "refused") || strings.Contains(r.Stderr, "https URLs") {
		t.Errorf("with http allowed: %+v", r)
	}
}

// init -from-module takes modules from wherever calls take them.
func TestInitFromModule(t *testing.T) {
	t.Parallel()
	d, s := moduleDir(t)
	app, err := os.ReadFile(filepath.Join(d.Path, "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	s.Repository("stack", "v1", map[string]string{
		"app/main.tf":         string(app),
		"example/a/main.tf":   "module \"app\" {\n  source = \"../../app\"\n}\n",
		"example/out/main.tf": "module \"none\" {\n  source = \"git::" + s.URL() + "/git/none.git\"\n}\n",
	})
	s.Module("acme/stack/any", "1.0.0", "git::"+s.URL()+"/git/stack.git?ref=v1")
	s.File("/stack.zip", sourcetest.Zip(t, map[string]string{"app/main.tf": string(app)}), nil)
	git := "git::" + s.URL() + "/git/stack.git//"
	fresh := func() programtest.Dir {
		x := programtest.NewDir(t)
		x.Env = d.Env
		return x
	}
	for _, from := range []string{git + "app?ref=v1", sourcetest.Host + "/acme/stack/any//app", s.URL() + "/stack.zip//app"} {
		x := fresh()
		s.Requests()
		r := x.Must("init", "-no-color", "-from-module="+from)
		for _, want := range []string{"Copying configuration from \"" + from + "\"...\n", "Downloading git::" + s.URL() + "/git/net.git?ref=v1 for a...\n- a\n", "- b\n", "Lockstep has been successfully initialized!"} {
			if !strings.Contains(r.Out, want) {
				t.Errorf("%s: init says\n%swithout\n%s", from, r.Out, want)
			}
		}
		if n := strings.Count(r.Out, "Downloading"); n != 2 {
			t.Errorf("%s: %d downloads\n%s", from, n, r.Out)
		}
		x.Must("apply", "-no-color", "-auto-approve")
	}
	for from, want := range map[string]string{
		git + "example/a?ref=v1":   "such as \"git::" + s.URL() + "/git/stack.git//app?ref=v1\"",
		git + "example/out?ref=v1": "Could not download module \"none\": its package could not be fetched",
		git + "none?ref=v1":        "has no directory none",
		git + "app?ref=v9":         "Failed to download module",
	} {
		x := fresh()
		r := x.Run("init", "-no-color", "-from-module="+from)
		if r.Code != 1 || !strings.Contains(oneLine(r.Stderr), want) {
			t.Errorf("%s: %+v, want %s", from, r, want)
		}
		left, err := os.ReadDir(x.Path)
		if err != nil || len(left) > 0 != strings.Contains(from, "example/a") {
			t.Errorf("%s: %v is left, %v", from, left, err)
		}
	}
}

// Modules come from an OCI registry, with the credentials that docker has for it.
func TestModulesOfOCIRegistry(t *testing.T) {
	t.Parallel()
	s := ocitest.New(t, false)
	s.Login = "user:s3cret"
	s.Module("acme/net", "1.0", sourcetest.Zip(t, map[string]string{"sub/main.tf": "output \"out\" {\n  value = \"one\"\n}\n"}))
	d := programtest.NewDir(t, "main.tf", "module \"net\" {\n  source = \"oci://"+s.Address()+"/acme/net//sub?tag=1.0\"\n}\noutput \"out\" {\n  value = module.net.out\n}\n")
	if r := d.Run("init", "-no-color"); r.Code != 1 || !strings.Contains(strings.Join(strings.Fields(r.Stderr), " "), `run "docker login `+s.Address()+`"`) {
		t.Errorf("without credentials: %+v", r)
	}
	d.Write(".docker/config.json", `{"auths": {"`+s.Address()+`": {"auth": "dXNlcjpzM2NyZXQ="}}}`)
	if r := d.Must("init", "-no-color"); !strings.Contains(r.Out, "Downloading oci://"+s.Address()+"/acme/net?tag=1.0 for net...\n- net in .terraform/modules/net/sub\n") {
		t.Errorf("init says\n%s", r.Out)
	}
	n := len(s.Requests())
	if r := d.Must("init", "-no-color"); len(s.Requests()) != n {
		t.Errorf("the second init asks the registry:\n%s", r.Out)
	}
	if r := d.Must("apply", "-auto-approve", "-no-color"); !strings.Contains(r.Out, `out = "one"`) {
		t.Errorf("apply says\n%s", r.Out)
	}
}
