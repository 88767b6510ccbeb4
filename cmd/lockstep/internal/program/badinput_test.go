package program

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/engine/plans/planfile"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
	"github.com/lockstep-iac/lockstep/engine/walk"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

const labHead = `terraform {
  required_providers {
    lab = { source = "lockstep/lab" }
  }
}
`

// Whatever is wrong with a configuration is said with its place and what to do.
func TestBrokenConfiguration(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.want(0, "init")
	before := d.files()
	for _, c := range []struct {
		name, config string
		commands     []string
		says         []string
	}{
		{"syntax", "resource \"lab_thing\" \"a\" {\n  name =\n}\n", []string{"plan", "validate", "init"},
			[]string{"Error: Invalid expression", "on main.tf line 7, in resource \"lab_thing\" \"a\""}},
		{"unclosed", "resource \"lab_thing\" \"a\" {\n  name = \"a\"\n", []string{"plan"},
			[]string{"Error: Unclosed configuration block", "on main.tf line 6"}},
		{"block type", "resorce \"lab_thing\" \"a\" {\n}\n", []string{"plan"},
			[]string{"Unsupported block type", `Did you mean "resource"?`}},
		{"resource type", "resource \"lab_thong\" \"a\" {\n}\n", []string{"plan", "validate"},
			[]string{"Invalid resource type", `does not support resource type "lab_thong"`, "on main.tf line 6"}},
		{"attribute", "resource \"lab_thing\" \"a\" {\n  name = \"a\"\n  colour = \"red\"\n}\n", []string{"plan", "validate"},
			[]string{"Unsupported argument", `Did you mean "color"?`, "on main.tf line 8"}},
		{"missing attribute", "resource \"lab_thing\" \"a\" {}\n", []string{"plan"},
			[]string{"Missing required argument", `The argument "name" is required`}},
		{"value", "resource \"lab_thing\" \"a\" {\n  name = \"a\"\n  size = \"big\"\n}\n", []string{"plan"},
			[]string{"Incorrect attribute value type", "a number is required"}},
		{"cycle", "resource \"lab_thing\" \"a\" {\n  name = local.x\n}\nlocals {\n  x = lab_thing.b.id\n}\nresource \"lab_thing\" \"b\" {\n  name = lab_thing.a.id\n}\n", []string{"plan", "validate"},
			[]string{"Error: Cycle: ", "local.x -> lab_thing.b -> lab_thing.a -> local.x", "on main.tf line", "Break the cycle"}},
		{"variable", "output \"o\" {\n  value = var.nothing\n}\n", []string{"plan"},
			[]string{"Reference to undeclared input variable", `a variable "nothing" {} block`}},
		{"provider", "resource \"foo_thing\" \"a\" {}\n", []string{"plan"},
			[]string{"Inconsistent dependency lock file", "hashicorp/foo", "lockstep init"}},
		{"provider to validate", "resource \"foo_thing\" \"a\" {}\n", []string{"validate"},
			[]string{"Missing required provider", "hashicorp/foo", "lockstep init"}},
		{"provider not to be had", "resource \"foo_thing\" \"a\" {}\n", []string{"init"},
			[]string{"Failed to query available provider packages", "hashicorp/foo was not found in", `source = "NAMESPACE/foo"`}},
		{"deep brackets", "output \"o\" {\n  value = " + strings.Repeat("(\n", 100_000), []string{"validate", "init"},
			[]string{"Error: Nested too deep", "on main.tf line 1006", "more than 1000 levels deep"}},
		{"module", "module \"m\" {\n  source = \"./nowhere\"\n}\n", []string{"plan"},
			[]string{"nowhere", "on main.tf line"}},
	} {
		d.Write("main.tf", labHead+c.config)
		for _, command := range c.commands {
			d.want(1, command, c.says...)
		}
	}
	d.Write("main.tf", labConfig)
	if after := d.files(); !slices.Equal(before, after) {
		t.Errorf("files came and went: %q, then %q", before, after)
	}
}

// files are the names in the directory.
func (d *labDir) files() []string {
	d.T.Helper()
	var names []string
	err := filepath.WalkDir(d.Path, func(path string, e fs.DirEntry, err error) error {
		if e.Name() == "cache" {
			return fs.SkipDir
		}
		names = append(names, path)
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return names
}

// A plugin that is not what it should be, or does not run here.
func TestBrokenPlugin(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.want(0, "init")
	lock := d.read(".terraform.lock.hcl")
	dir := ".terraform/providers/registry.terraform.io/lockstep/lab/1.0.0/" + runtime.GOOS + "_" + runtime.GOARCH
	program := dir + "/terraform-provider-lab_v1.0.0"
	if err := os.Remove(d.file(dir)); err != nil { // a link into the mirror
		t.Fatal(err)
	}
	d.want(1, "plan", "Required plugins are not installed", "there is no package for registry.terraform.io/lockstep/lab 1.0.0 cached in .terraform/providers", "lockstep init")
	d.want(0, "init")

	d.Write(".terraform.lock.hcl", strings.Replace(lock, "h1:", "h1:AAAA", 1))
	d.want(1, "plan", "doesn't match any of the checksums recorded in the dependency lock file", "has the checksum h1:")
	d.want(1, "init", "Failed to install provider", "expected h1:AAAA", "remove the provider's block from .terraform.lock.hcl")
	d.Write(".terraform.lock.hcl", "provider \"x\" {\n")
	d.want(1, "plan", "on .terraform.lock.hcl line 1", "Unclosed configuration block", `1: provider "x" {`)
	d.want(1, "init", "on .terraform.lock.hcl line 1")

	// Without a checksum to compare with, what is there is started.
	d.Write(".terraform.lock.hcl", "provider \"registry.terraform.io/lockstep/lab\" {\n  version = \"1.0.0\"\n}\n")
	os.Remove(d.file(dir))
	for _, c := range []struct {
		content string
		mode    os.FileMode
		says    []string
	}{
		{"#!/bin/sh\n", 0o600, []string{"must not be executed here", "file mode"}},
		{"\x7fELF not for this machine", 0o700, []string{"is not a program for " + runtime.GOOS + "_" + runtime.GOARCH, "lockstep init"}},
		{"#!/bin/sh\necho usage: ...\n", 0o700, []string{"is not a provider plugin", `it began with "usage: ..."`}},
		{"#!/bin/sh\necho no licence found >&2\nexit 3\n", 0o700, []string{"ended (exit status 3) before it could be spoken to", "no licence found"}},
		{"#!/bin/sh\necho '1|4|tcp|127.0.0.1:1|netrpc'\n", 0o700, []string{"speaks version 4 of the plugin protocol", "choose another version of the provider"}},
	} {
		os.Remove(d.file(program))
		d.Write(program, c.content)
		if err := os.Chmod(d.file(program), c.mode); err != nil {
			t.Fatal(err)
		}
		d.want(1, "plan", append(c.says, "Provider lockstep/lab could not be started")...)
	}
}

// A plugin that dies is reported with its last words, and what was done before is in
// the state.
func TestPluginCrashes(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labHead+`
variable "trouble" {}
resource "lab_thing" "before" {
  name = "before"
}
resource "lab_thing" "a" {
  name       = "a"
  trouble    = var.trouble
  depends_on = [lab_thing.before]
}
`)
	d.want(0, "init")
	d.want(1, "plan -var=trouble=plan-panic", "Plugin did not respond", "with lab_thing.a", "PlanResourceChange", "panic: asked to panic", "This is a bug in the provider")
	d.want(1, "plan -var=trouble=plan-exit", "its process ended with exit status 3")
	d.want(1, "plan -var=trouble=validate-panic", "ValidateResourceConfig")
	if d.has("terraform.tfstate") {
		t.Error("a plan that failed left a state")
	}
	d.want(1, "apply -auto-approve -var=trouble=create-panic", "with lab_thing.a", "ApplyResourceChange", "panic: asked to panic", "the state does not have those that this call may have created or changed")
	d.want(0, "state list", "lab_thing.before")
	d.want(0, "recover -forget lab_thing.a") // it gave no answer
	d.want(1, "apply -auto-approve -var=trouble=create-partial", "Create failed")
	d.want(0, "show", "# lab_thing.a: (tainted)")
	d.want(2, "plan -detailed-exitcode -var=trouble=", "lab_thing.a is tainted, so must be replaced")
	d.want(0, "apply -auto-approve -var=trouble=update-exit", "1 added, 0 changed, 1 destroyed")
}

// A state that cannot be read is named, with what to do, and left as it is.
func TestBrokenState(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.want(0, "init")
	for _, c := range []struct{ state, says string }{
		{`{"version": 5, "terraform_version": "2.0.0", "serial": 1, "lineage": "x"}`, "use a newer Lockstep, or the tool that wrote the state"},
		{`{"version": 3, "terraform_version": "0.11.0", "serial": 1, "lineage": "x", "modules": []}`, "format version 3"},
		{`{"version": 4, "serial":`, "is cut off (line 1"},
		{`nonsense`, "restore a backup or an earlier version of it"},
		{`{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {}, "resources": [{"mode": "managed", "type": "lab_thing", "name": "a", "provider": "provider[\"registry.terraform.io/lockstep/lab\"]", "instances": [{"schema_version": 9, "attributes": {"name": "a"}}]}]}`,
			"Resource instance managed by newer provider version"},
	} {
		d.Write("terraform.tfstate", c.state)
		r := d.want(1, "plan", c.says)
		if !strings.Contains(c.state, "resources") && !strings.Contains(oneLine(r.Stderr), "The state at terraform.tfstate cannot be used") {
			t.Errorf("plan does not name the file:\n%s", r.Stderr)
		}
		d.want(1, "apply -auto-approve", c.says)
		if d.read("terraform.tfstate") != c.state || d.has(".terraform.tfstate.lock.info") {
			t.Errorf("after %q the state is changed, or locked", c.state)
		}
	}
}

// A saved plan is carried out once, as long as nothing has changed, with the
// configuration in it.
func TestSavedPlan(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labHead+"resource \"lab_thing\" \"a\" {\n  name = \"a\"\n}\n")
	d.want(0, "init")
	d.want(0, "plan -out=first", "lockstep apply \"first\"")
	d.want(0, "plan -out=second")

	// What is in the directory now does not count.
	d.Write("main.tf", labHead+"resource \"lab_thing\" \"b\" {\n  name = \"b\"\n}\n")
	d.want(0, "apply first", "lab_thing.a: Creation complete")
	r := d.want(1, "apply first", "Saved plan is stale", "there was no state when it was made, but now there is one")
	if strings.Contains(r.Out, "will be created") {
		t.Errorf("a stale plan is shown:\n%s", r.Out)
	}
	d.want(1, "apply second", "Saved plan is stale")
	d.want(0, "plan -out=third", "1 to add, 0 to change, 1 to destroy")
	d.want(0, "apply -auto-approve third", "1 added, 0 changed, 1 destroyed")
	d.want(1, "apply third", "the state has changed since then, from serial 1 to serial")

	d.want(1, "apply nowhere", "Failed to load \"nowhere\" as a plan file", "nowhere cannot be read: no such file or directory")
	d.want(1, "apply main.tf", "main.tf cannot be used", "not a saved plan of Lockstep")
	d.want(1, "apply .", "is a directory", "-chdir")
	d.want(1, "destroy third", "can't be called with a plan file", "`lockstep apply`")
	d.want(1, "apply -exclude=lab_thing.b third", "Lockstep applies a saved plan unchanged")
	d.want(1, "apply -target=lab_thing third", `Invalid target "lab_thing"`)
	d.want(1, "apply -destroy -refresh-only third", "cannot be used together")
	d.want(1, "apply -destroy -target=lab_thing.b -replace=lab_thing.b third", "Unsupported plan mode")
	d.want(1, "apply -destroy third", "Saved plan is stale") // the option has no effect
	d.want(1, "apply -refresh-only -target=lab_thing.none third", "Saved plan is stale")
	plan := d.read("third")
	d.Write("cut", plan[:len(plan)/2])
	d.want(1, "apply cut", "The file cut cannot be used", "cut off or damaged", "plan again")
	d.want(1, "show cut", "cut off or damaged")

	f, err := planfile.Decode([]byte(plan), planfile.Options{Engine: tested.Version})
	if err != nil {
		t.Fatal(err)
	}
	f.Engine = "0.0.1"
	if err := planfile.Write(d.file("old"), f, nil); err != nil {
		t.Fatal(err)
	}
	d.want(1, "apply old", "created by a different version of Lockstep, 0.0.1", "plan again")
	d.want(1, "show old", "created by a different version of Lockstep")

	d.want(0, "plan -out=fourth")
	d.want(0, "workspace new other")
	d.want(1, "apply fourth", "Saved plan is for another state", `made for the workspace "default"`)
}

// A saved plan is carried out by the very providers that it was made with.
func TestSavedPlanProviders(t *testing.T) {
	t.Parallel()
	_, d := registry(t, true)
	d.Write("main.tf", strings.ReplaceAll(d.read("main.tf"), "<= 1.0.0", "~> 1.0"))
	d.want(0, "init")
	d.want(0, "plan -out=tfplan")
	if err := os.Rename(d.file(".terraform.lock.hcl"), d.file("newer")); err != nil {
		t.Fatal(err)
	}
	d.Write("main.tf", strings.ReplaceAll(d.read("main.tf"), "~> 1.0", "1.0.0"))
	d.want(0, "init")
	d.want(1, "apply tfplan", "Inconsistent dependency lock file", "the plan was made with version 1.1.0 of provider registry.example.com/lockstep/lab, and now version 1.0.0 is selected", "Make a new plan")
	if err := os.Rename(d.file("newer"), d.file(".terraform.lock.hcl")); err != nil {
		t.Fatal(err)
	}
	d.want(0, "apply tfplan", "1 added")
}

// limited runs the command with a limit on the size of the files that it writes, in
// the unit of the shell: 512 or 1024 bytes. To the command that is a full disk.
func (d *labDir) limited(limit int, args ...string) programtest.Result {
	d.T.Helper()
	cmd := d.command(args...)
	script := fmt.Sprintf(`ulimit -f %d || exit 99; exec "$0" "$@"`, limit)
	// The name is how the test's binary knows that it is to be the command.
	link := filepath.Join(d.T.TempDir(), "lockstep")
	if err := os.Symlink(cmd.Path, link); err != nil {
		d.T.Fatal(err)
	}
	cmd.Path, cmd.Args = "/bin/sh", slices.Concat([]string{"sh", "-c", script, link}, args)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code == 99 || code == -1 {
		statebackendtest.Missing(d.T, "files cannot be limited here: "+stderr.String())
	}
	return programtest.Result{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Stderr: stderr.String()}
}

// On a full disk nothing is half-written: what was there stays, and a state that has
// no place is not lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no shell that limits files")
	}
	d := newLab(t, "main.tf", labConfig)
	// No memo of checksums, which would hit the limit first, harmlessly.
	check(t, d.limited(0, "init"), 1, "init", "Dependency lock file cannot be written", "file too large")
	if d.has(".terraform.lock.hcl") {
		t.Error("half a lock file")
	}
	d.want(0, "init")

	d.Write("tfplan", "what was there")
	check(t, d.limited(0, "plan", "-lock=false", "-out=tfplan"), 1, "plan", "The plan cannot be saved", "file too large", "nothing was written")
	if d.read("tfplan") != "what was there" {
		t.Error("half a plan")
	}
	check(t, d.limited(0, "apply", "-auto-approve"), 1, "apply", "Error acquiring the state lock", "file too large")
	if runtime.GOOS == "linux" {
		d.want(1, "plan -out=/dev/full", "The plan cannot be saved", "no space left on device")
	}

	d.want(0, "apply -auto-approve")
	before := d.read("terraform.tfstate")
	d.Write("main.tf", d.read("main.tf")+"resource \"terraform_data\" \"b\" {\n  input = \""+strings.Repeat("x", 2000)+"\"\n}\n")
	r := d.limited(2, "apply", "-auto-approve")
	check(t, r, 1, "apply", "Failed to save state", "file too large", "The state could not be kept anywhere", `run "lockstep state push FILE"`)
	if d.read("terraform.tfstate") != before || d.has("errored.tfstate") || d.has(".terraform.tfstate.next") || d.has(".terraform.tfstate.lock.info") {
		t.Errorf("something is half-written: %q", d.files())
	}
	_, state, found := strings.Cut(r.Out, "\n{\n")
	if !found {
		t.Fatalf("the state is not in what was written:\n%s", r.Out)
	}
	d.Write("rescued.tfstate", "{\n"+state)
	d.want(0, "state push rescued.tfstate")
	d.want(0, "plan -detailed-exitcode", "No changes.")
}

// A backend that takes no more states: the state is kept in a file.
func TestErroredState(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	s := (&statebackendtest.S3{Deny: func(method, key string) bool { return method == "PUT" && key == "x" && d.has("denied") }}).Start(t)
	d.Write("backend.tf", fakeBackend(s.URL))
	d.want(0, "init")
	d.Write("denied", "")
	d.want(1, "apply -auto-approve", "Failed to save state", "access denied", "lockstep state push errored.tfstate", "Do not apply before that")
	if err := os.Remove(d.file("denied")); err != nil {
		t.Fatal(err)
	}
	d.want(0, "state push errored.tfstate")
	d.want(0, "plan -detailed-exitcode", "No changes.")
}

// fakeBackend is a backend block for a server of statebackendtest.
func fakeBackend(url string) string {
	return fmt.Sprintf(`terraform {
  backend "s3" {
    bucket                      = "states"
    key                         = "x"
    region                      = "us-east-1"
    access_key                  = "test"
    secret_key                  = "testsecret"
    endpoints                   = { s3 = %q }
    use_path_style              = true
    skip_credentials_validation = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    use_lockfile                = true
  }
}
`, url)
}

// A backend that refuses or does not answer.
func TestBackendTrouble(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.set("AWS_MAX_ATTEMPTS=3")
	s := (&statebackendtest.S3{Deny: func(string, string) bool { return d.has("denied") }}).Start(t)
	d.Write("backend.tf", fakeBackend(s.URL))
	d.want(0, "init")
	d.want(0, "apply -auto-approve")
	d.Write("denied", "")
	d.want(1, "plan", "Error acquiring the state lock", "s3://states/x.tflock: access denied")
	d.want(1, "plan -lock=false", "Failed to load state", "s3://states/x: access denied")
	d.want(1, "init -reconfigure", "Failed to load state", "access denied")

	d.Write("backend.tf", fakeBackend("http://127.0.0.1:1"))
	d.want(1, "plan", "Backend initialization required")
	d.want(1, "show", "Backend initialization required")
	r := d.want(1, "init -reconfigure", "Failed to get existing workspaces", "lockstep: note: S3 does not answer as it should, and is asked again", "connection refused")
	if strings.Contains(r.Out, "Successfully configured") {
		t.Errorf("a backend that does not answer is taken:\n%s", r.Out)
	}
	d.Write("backend.tf", strings.ReplaceAll(fakeBackend(s.URL), `"states"`, `"missing"`))
	d.want(1, "init -reconfigure", `S3 bucket "missing" does not exist`)
	d.Write("backend.tf", strings.ReplaceAll(fakeBackend(s.URL), `= "us-east-1"`, `= []`))
	d.want(1, "init -reconfigure", "region")
}

// A backend that is not supported is refused by name. The message says which backends are supported, and how to move
// the states to one of them.
func TestUnsupportedBackends(t *testing.T) {
	t.Parallel()
	d := newLab(t)
	for _, name := range []string{"azurerm", "consul", "cos", "kubernetes", "oss"} {
		d.Write("backend.tf", "terraform {\n  backend \""+name+"\" {\n    key = \"k\"\n  }\n}\n")
		d.want(1, "init", "Unsupported backend type", "on backend.tf line 2", `Lockstep does not support the backend type "`+name+`". Use one of "`, `"s3"`, `"local"`,
			`write the block of the new backend in place of this block`, `run "terraform init -migrate-state"`, `then "lockstep init"`)
	}
	d.Write("backend.tf", "terraform {\n  backend \"azure\" {}\n}\n")
	if r := d.want(1, "init", `Lockstep does not support the backend type "azure". Use one of "`); strings.Contains(r.Out, "migrate-state") {
		t.Errorf("states are to be moved from a backend that does not exist:\n%s", r.Out)
	}
	pull := []string{`run "terraform state pull > state.json"`, `"lockstep init -reconfigure"`, `"lockstep state push state.json"`}
	d.Write("backend.tf", "terraform {\n  backend \"remote\" {\n    organization = \"acme\"\n  }\n}\n")
	d.want(1, "init", append(pull, `Lockstep does not support the backend type "remote". Use one of "`)...)
	d.Write("backend.tf", "terraform {\n  cloud {\n    organization = \"acme\"\n  }\n}\n")
	d.want(1, "init", append(pull, "HCP Terraform is not supported", "on backend.tf line 2")...)

	// A directory that another tool has initialized.
	d.Write("backend.tf", "terraform {\n  backend \"local\" {}\n}\n")
	d.Write(".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"azurerm","config":{"key":"k"},"hash":1}}`)
	d.want(1, "init -migrate-state -force-copy", `Lockstep does not support the backend type "azurerm"`, `run "terraform init -migrate-state"`)
	d.want(0, "init -reconfigure")

	d.Write("main.tf", "data \"terraform_remote_state\" \"net\" {\n  backend = \"azurerm\"\n  config = {\n    key = \"k\"\n  }\n}\n")
	d.want(1, "plan", "Unable to read remote state", `Lockstep cannot read a state in the backend "azurerm"`, `It reads states in "`, "Move that state to one of these backends", "`terraform output -json`")
}

// A registry that is not to be trusted, or does not work.
func TestRegistryTrouble(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(*registrytest.Server)
		says  []string
	}{
		{"checksum", func(s *registrytest.Server) {
			s.Alter = func(path string, a *registrytest.Answer) {
				if strings.HasSuffix(path, ".zip") {
					a.Body = append(bytes.Clone(a.Body), 'x')
				}
			}
		}, []string{"Failed to install provider", "checksum"}},
		{"signature", func(s *registrytest.Server) {
			other := registrytest.NewKey(t)
			s.Alter = func(path string, a *registrytest.Answer) {
				if strings.HasSuffix(path, ".sig") {
					a.Body = other.Sign([]byte("something else"))
				}
			}
		}, []string{"Failed to install provider", "are not authentic", "signed by none of"}},
		{"down", func(s *registrytest.Server) {
			s.Alter = func(_ string, a *registrytest.Answer) { a.Status, a.Body = 500, nil }
		}, []string{"Failed to query available provider packages", "500"}},
		{"forbidden", func(s *registrytest.Server) { s.Token = "secret" }, []string{"Failed to query available provider packages", "401", "TF_TOKEN_registry_example_com"}},
		{"cut", func(s *registrytest.Server) {
			s.Alter = func(path string, a *registrytest.Answer) { a.Cut = strings.HasSuffix(path, ".zip") }
		}, []string{"Failed to install provider"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, d := registry(t, false)
			c.spoil(s)
			d.want(1, "init", c.says...)
			if d.has(".terraform.lock.hcl") {
				t.Error("a lock file was written")
			}
			if left, _ := filepath.Glob(d.file(".terraform/providers/*/*/*/*/*/*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			s.Alter, s.Token = nil, ""
			d.want(0, "init", "Installed registry.example.com/lockstep/lab v1.0.0")
		})
	}
}

// Names of workspaces become parts of paths and keys.
func TestWorkspaceNames(t *testing.T) {
	t.Parallel()
	d := programtest.NewDir(t, "main.tf", `resource "terraform_data" "a" {}`)
	lab := &labDir{Dir: d}
	for _, name := range []string{"a/b", "..", "a b", "ä"} {
		lab.env = []string{"TF_WORKSPACE=" + name}
		for _, command := range []string{"init", "plan", "apply -auto-approve", "state list", "output"} {
			lab.want(1, command, "Invalid workspace name", "TF_WORKSPACE")
		}
	}
	if entries, err := os.ReadDir(d.Path); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A bug of ours is a message that asks for a report, not a stack trace; that is in a
// file, wherever the bug showed.
func TestCrashed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, what := range []any{
		"eval: a value of nothing", errors.New("no such step"),
		fmt.Errorf("while planning: %w", &walk.Panic{Value: "eval: lost a key", Stack: []byte("goroutine 7 [running]:\nwhere it was")}),
	} {
		var stderr bytes.Buffer
		code := crashed(&stderr, what, nil)
		text := stderr.String()
		if code != 11 || !strings.Contains(text, "this is a bug in Lockstep") || !strings.Contains(text, "please report it") || strings.Contains(text, "goroutine") {
			t.Errorf("exit code %d\n%s", code, text)
		}
		_, path, _ := strings.Cut(text, "details for the report are in ")
		trace, err := os.ReadFile(strings.TrimSpace(path))
		if err != nil || !bytes.Contains(trace, []byte("goroutine ")) {
			t.Errorf("the trace is %q, %v", trace, err)
		}
	}
}
