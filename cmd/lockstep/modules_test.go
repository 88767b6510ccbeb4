package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/config/source/sourcetest"
)

// moduleDir is a directory whose configuration calls a repository's module twice, and
// one of a registry, of a server that d's commands trust.
func moduleDir(t *testing.T) (workspaceDir, *sourcetest.Server) {
	s := sourcetest.New(t)
	s.Repository("net", "v1", map[string]string{
		"main.tf": "variable \"in\" {}\nresource \"terraform_data\" \"x\" {\n  input = templatefile(\"${path.module}/x.tmpl\", { in = var.in })\n}\noutput \"out\" {\n  value = terraform_data.x.output\n}\n",
		"x.tmpl":  "<${in}>",
	})
	s.Module("acme/net/aws", "1.0.0", "git::"+s.URL()+"/git/net.git?ref=v1")
	d := newDir(t, "main.tf", strings.NewReplacer("SERVER", s.URL(), "HOST", sourcetest.Host).Replace(`
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
	d.env = append(s.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(d.path, "cli.hcl"))
	return d, s
}

// Modules from elsewhere are installed once, planned and applied, from a saved plan too.
func TestModulesFromElsewhere(t *testing.T) {
	t.Parallel()
	d, s := moduleDir(t)
	if r := d.run("plan", "-no-color"); r.code != 1 || !strings.Contains(r.stderr, `Run "lockstep init"`) {
		t.Errorf("a plan before init: %+v", r)
	}
	r := d.must("init", "-no-color")
	for _, want := range []string{"Initializing modules...\nDownloading git::" + s.URL() + "/git/net.git?ref=v1 for a...\n- a in .terraform/modules/a\nDownloading modules.example.com/acme/net/aws 1.0.0 for b...\n- b in .terraform/modules/b\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("init says\n%swithout\n%s", r.out, want)
		}
	}
	s.Requests()
	if r := d.must("init", "-no-color"); strings.Contains(r.out, "Downloading") || len(s.Requests()) != 0 {
		t.Errorf("the second init says\n%s", r.out)
	}
	if r := d.must("get"); r.out != "" {
		t.Errorf("get says %s", r.out)
	}
	d.must("plan", "-no-color", "-out=saved")
	d.must("apply", "-no-color", "saved")
	if r := d.must("output", "-raw", "out"); r.out != "<<a>>" {
		t.Errorf("output %q", r.out)
	}
	if r := d.must("get", "-update"); !strings.Contains(r.out, "- a in") || len(s.Requests()) == 0 {
		t.Errorf("get -update says %s", r.out)
	}
	if r := d.must("plan", "-no-color", "-detailed-exitcode"); !strings.Contains(r.out, "No changes") {
		t.Errorf("the plan after an apply:\n%s", r.out)
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
		cmd.Dir, cmd.Env = d.path, append(d.environ(), "CHECKPOINT_DISABLE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("terraform %v: %v\n%s", args, err, out)
		}
	}
	d.must("init")
	s.Requests()
	stock("plan")
	stock("init")
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("terraform asked for %q", got)
	}
	if err := os.RemoveAll(filepath.Join(d.path, ".terraform")); err != nil {
		t.Fatal(err)
	}
	stock("init")
	s.Requests()
	d.must("plan")
	d.must("init")
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("we asked for %q", got)
	}
}

func TestModuleErrors(t *testing.T) {
	t.Parallel()
	d, _ := moduleDir(t)
	d.write("main.tf", "module \"a\" {\n  source = \"http://127.0.0.1:1/x.zip\"\n}\n")
	r := d.run("init", "-no-color")
	for _, want := range []string{"Failed to download module", `on main.tf line 2, in module "a":`, "only https URLs are followed, and not http://127.0.0.1:1/x.zip", "set LOCKSTEP_HTTP_MODULES=1"} {
		if got := strings.Join(strings.Fields(strings.ReplaceAll(r.stderr, "│", "")), " "); r.code != 1 || !strings.Contains(got, want) {
			t.Errorf("%d %s, want %s", r.code, got, want)
		}
	}
	// So is a registry that the CLI configuration puts there.
	registry := d
	registry.env = append(slices.Clone(d.env), "TF_CLI_CONFIG_FILE="+filepath.Join(d.path, "registry.tfrc"))
	d.write("registry.tfrc", "host \"registry.example.com\" {\n  services = { \"modules.v1\" = \"http://127.0.0.1:1/v1/modules/\" }\n}\n")
	d.write("main.tf", "module \"a\" {\n  source = \"registry.example.com/a/b/c\"\n}\n")
	if r := registry.run("init", "-no-color"); r.code != 1 || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(r.stderr, "│", "")), " "), "set LOCKSTEP_HTTP_MODULES=1") {
		t.Errorf("a registry at http: %+v", r)
	}
	d.write("main.tf", "module \"a\" {\n  source = \"http://127.0.0.1:1/x.zip\"\n}\n")
	d.env = append(d.env, "LOCKSTEP_HTTP_MODULES=1")
	if r := d.run("init", "-no-color"); r.code != 1 || !strings.Contains(r.stderr, "refused") || strings.Contains(r.stderr, "https URLs") {
		t.Errorf("with http allowed: %+v", r)
	}
}

// init -from-module takes modules from wherever calls take them.
func TestInitFromModule(t *testing.T) {
	t.Parallel()
	d, s := moduleDir(t)
	app, err := os.ReadFile(filepath.Join(d.path, "main.tf"))
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
	fresh := func() workspaceDir {
		x := newDir(t)
		x.env = d.env
		return x
	}
	for _, from := range []string{git + "app?ref=v1", sourcetest.Host + "/acme/stack/any//app", s.URL() + "/stack.zip//app"} {
		x := fresh()
		s.Requests()
		r := x.must("init", "-no-color", "-from-module="+from)
		for _, want := range []string{"Copying configuration from \"" + from + "\"...\n", "Downloading git::" + s.URL() + "/git/net.git?ref=v1 for a...\n- a\n", "- b\n", "Lockstep has been successfully initialized!"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%s: init says\n%swithout\n%s", from, r.out, want)
			}
		}
		if n := strings.Count(r.out, "Downloading"); n != 2 {
			t.Errorf("%s: %d downloads\n%s", from, n, r.out)
		}
		x.must("apply", "-no-color", "-auto-approve")
	}
	for from, want := range map[string]string{
		git + "example/a?ref=v1":   "such as \"git::" + s.URL() + "/git/stack.git//app?ref=v1\"",
		git + "example/out?ref=v1": "Could not download module \"none\": its package could not be fetched",
		git + "none?ref=v1":        "has no directory none",
		git + "app?ref=v9":         "Failed to download module",
	} {
		x := fresh()
		r := x.run("init", "-no-color", "-from-module="+from)
		if r.code != 1 || !strings.Contains(oneLine(r.stderr), want) {
			t.Errorf("%s: %+v, want %s", from, r, want)
		}
		left, err := os.ReadDir(x.path)
		if err != nil || len(left) > 0 != strings.Contains(from, "example/a") {
			t.Errorf("%s: %v is left, %v", from, left, err)
		}
	}
}
