package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
	d.env = append(d.env, "LOCKSTEP_HTTP_MODULES=1")
	if r := d.run("init", "-no-color"); r.code != 1 || !strings.Contains(r.stderr, "refused") || strings.Contains(r.stderr, "https URLs") {
		t.Errorf("with http allowed: %+v", r)
	}
}
