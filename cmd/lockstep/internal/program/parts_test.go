package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/engine/provider/install/registrytest"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A labDir is a directory to run the command in with real plugins: those of the
// mirror that .ci/parts fills. Objects of the providers lab and labv5 are files in
// the directory "lab"; see engine/provider/testdata/providers.
type labDir struct {
	programtest.Dir
	env []string // besides the usual; the last one counts
}

// newLab returns such a directory, with files as newDir takes them.
func newLab(t *testing.T, files ...string) *labDir {
	t.Helper()
	mirror := statebackendtest.Part(t, "mirror")
	plugin(t, "lockstep/lab")
	d := &labDir{Dir: programtest.NewDir(t, files...)}
	d.Write("cli.tfrc", fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	d.Write("lab/store", "")
	d.set("TF_CLI_CONFIG_FILE="+d.file("cli.tfrc"), "LAB_DIR="+d.file("lab"), "XDG_CACHE_HOME="+d.file("cache"))
	return d
}

// plugin returns the path of a real plugin, or skips the test.
func plugin(t testing.TB, provider string) string {
	t.Helper()
	dir := statebackendtest.Part(t, "mirror", "registry.terraform.io", filepath.FromSlash(provider))
	found, err := filepath.Glob(filepath.Join(dir, "*", runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no plugin in %s: %v", dir, err)
	}
	return found[0]
}

func (d *labDir) set(env ...string) { d.env = append(d.env, env...) }

func (d *labDir) file(name string) string { return filepath.Join(d.Path, name) }

func (d *labDir) read(name string) string {
	d.T.Helper()
	data, err := os.ReadFile(d.file(name))
	if err != nil {
		d.T.Fatal(err)
	}
	return string(data)
}

func (d *labDir) has(name string) bool {
	_, err := os.Stat(d.file(name))
	return err == nil
}

// command prepares a run of the command in a process of its own.
func (d *labDir) command(args ...string) *exec.Cmd {
	d.T.Helper()
	return &exec.Cmd{
		Path: programtest.Executable(d.T), Args: append([]string{"lockstep"}, args...), Dir: d.Path,
		Env: slices.Concat(d.Environ(), []string{"TMPDIR=" + os.TempDir()}, d.env),
	}
}

// run runs the command line, split at blanks.
func (d *labDir) run(line string) programtest.Result {
	d.T.Helper()
	return d.runWith(nil, strings.Fields(line)...)
}

// here runs the command line in this process, for what starts no provider and is not about processes: it takes
// a tenth of the time.
func (d *labDir) here(line string) programtest.Result {
	d.T.Helper()
	var out, stderr bytes.Buffer
	args := append([]string{"-chdir=" + d.Path}, strings.Fields(line)...)
	code := tested.Run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, d.command().Env)
	return programtest.Result{Code: code, Out: out.String(), Stderr: stderr.String()}
}

// runWith runs the command with something to read.
func (d *labDir) runWith(stdin io.Reader, args ...string) programtest.Result {
	d.T.Helper()
	cmd := d.command(args...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &stderr
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		d.T.Fatal(err)
	}
	return programtest.Result{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Stderr: stderr.String()}
}

// want runs the command line, and checks its exit code and that it says all this,
// however it was wrapped.
func (d *labDir) want(code int, line string, says ...string) programtest.Result {
	d.T.Helper()
	r := d.run(line)
	check(d.T, r, code, line, says...)
	return r
}

// check checks what a command left behind.
func check(t *testing.T, r programtest.Result, code int, line string, says ...string) {
	t.Helper()
	if r.Code != code {
		t.Errorf("lockstep %s: exit code %d, want %d\n%s%s", line, r.Code, code, r.Out, r.Stderr)
		return
	}
	text := oneLine(r.Out + r.Stderr)
	for _, s := range says {
		if !strings.Contains(text, oneLine(s)) {
			t.Errorf("lockstep %s does not say %q:\n%s%s", line, s, r.Out, r.Stderr)
		}
	}
	for _, never := range []string{"goroutine ", "panic: runtime", "%!"} {
		if strings.Contains(text, never) {
			t.Errorf("lockstep %s says %q:\n%s%s", line, never, r.Out, r.Stderr)
		}
	}
}

// oneLine undoes the wrapping of messages, and the frame around those on terminals.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "│", " ")), " ")
}

// A running is a command under way.
type running struct {
	t    *testing.T
	cmd  *exec.Cmd
	line string

	mu          sync.Mutex
	out, stderr bytes.Buffer
}

// start starts a command; it is killed with the test.
func (d *labDir) start(line string) *running {
	d.T.Helper()
	r := d.starting(line)
	if err := r.cmd.Start(); err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { r.cmd.Process.Kill() })
	return r
}

// starting returns a command that is ready to be started.
func (d *labDir) starting(line string) *running {
	r := &running{t: d.T, cmd: d.command(strings.Fields(line)...), line: line}
	r.cmd.Stdout, r.cmd.Stderr = &guarded{r, &r.out}, &guarded{r, &r.stderr}
	return r
}

type guarded struct {
	r *running
	b *bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	return g.b.Write(p)
}

// says waits until the command has said something.
func (r *running) says(text string) {
	r.t.Helper()
	programtest.WaitFor(r.t, fmt.Sprintf("lockstep %s says %q", r.line, text), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.Contains(r.out.String()+r.stderr.String(), text)
	})
}

// signal sends a signal.
func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// end waits until the command has ended.
func (r *running) end() programtest.Result {
	r.t.Helper()
	done := make(chan struct{})
	go func() { r.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		r.mu.Lock()
		defer r.mu.Unlock()
		r.t.Fatalf("lockstep %s does not end:\n%s%s", r.line, r.out.String(), r.stderr.String())
	}
	return programtest.Result{Code: r.cmd.ProcessState.ExitCode(), Out: r.out.String(), Stderr: r.stderr.String()}
}

// stock runs the stock tool in the directory, if there is one; ran is false if not.
func (d *labDir) stock(args ...string) (output string, code int, ran bool) {
	d.T.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		d.T.Log("no terraform on PATH to compare with")
		return "", 0, false
	}
	cmd := exec.CommandContext(d.T.Context(), program, args...)
	cmd.Dir = d.Path
	cmd.Env = slices.Concat(d.Environ(), []string{"TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_CLI_ARGS_plan=-no-color"}, d.env)
	b, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		d.T.Fatal(err)
	}
	return string(b), cmd.ProcessState.ExitCode(), true
}

// agrees checks that the stock tool has nothing to change either.
func (d *labDir) agrees() {
	d.T.Helper()
	if output, code, ran := d.stock("plan", "-input=false", "-detailed-exitcode"); ran && code != 0 {
		d.T.Errorf("terraform plan: exit code %d\n%s", code, output)
	}
}

const realConfig = `
terraform {
  required_providers {
    lab   = { source = "lockstep/lab" }
    labv5 = { source = "lockstep/labv5" }
    local = { source = "hashicorp/local", version = "~> 1.4" }
    time  = { source = "hashicorp/time" }
  }
}
variable "name" {
  default = "a"
}
variable "color" {
  default = "red"
}
resource "lab_thing" "a" {
  name  = var.name
  color = var.color
  shape = { width = 3 }
  rule {
    port = 80
  }
}
resource "labv5_item" "a" {
  name  = "item"
  title = "of ${lab_thing.a.id}"
  note  = "Loud"
  rule {
    port = 22
  }
  disk {
    gb = 7
  }
}
resource "time_static" "now" {}
resource "time_offset" "later" {
  base_rfc3339 = time_static.now.rfc3339
  offset_days  = 7
}
resource "local_file" "note" {
  filename = "${path.module}/note.txt"
  content  = "${lab_thing.a.color} ${labv5_item.a.disk[0].path}\n"
}
data "lab_thing" "same" {
  name       = lab_thing.a.name
  depends_on = [lab_thing.a]
}
output "area" {
  value = lab_thing.a.shape.area
}
output "tier" {
  value = data.lab_thing.same.color
}
`

// Four real plugins, of both protocols, the new and the legacy SDK, through the life
// of a configuration. After each step neither we nor the stock tool find anything to do.
func TestRealPlugins(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", realConfig)
	d.want(1, "plan", "Inconsistent dependency lock file", "provider registry.terraform.io/lockstep/lab", "lockstep init")
	d.want(0, "init", "Installed hashicorp/local v1.4.0 (unauthenticated)", "Lockstep has been successfully initialized!",
		"Incomplete lock file information for providers", "- lockstep/labv5")
	if r := d.want(0, "init", "Using previously-installed hashicorp/time v0.14.2"); strings.Contains(r.Out, "Incomplete") {
		t.Errorf("a second init warns again:\n%s", r.Out)
	}
	d.want(0, "validate", "Success! The configuration is valid.")
	d.want(2, "plan -detailed-exitcode -out=tfplan", "Plan: 5 to add, 0 to change, 0 to destroy.")
	d.want(0, "apply tfplan", "Apply complete! Resources: 5 added, 0 changed, 0 destroyed.", "area = 9", `tier = "red"`)
	if got := d.read("note.txt"); got != "red /dev/item-1\n" {
		t.Errorf("note.txt is %q", got)
	}
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.agrees()

	d.want(0, "apply -auto-approve -var=color=blue", "Resources: 1 added, 1 changed, 1 destroyed.", `tier = "blue"`)
	d.want(0, "plan -detailed-exitcode -var=color=blue")
	d.want(0, "apply -auto-approve -var=color=blue -var=name=b", "lab_thing.a: Destruction complete")
	if d.has("lab/lab_thing/a-1.json") || !d.has("lab/lab_thing/b-1.json") {
		t.Error("the thing was not replaced")
	}
	d.set("TF_VAR_color=blue", "TF_VAR_name=b")
	d.want(0, "plan -detailed-exitcode")
	d.agrees()

	d.want(0, "destroy -auto-approve", "Destroy complete! Resources: 5 destroyed.")
	if d.has("lab/lab_thing/b-1.json") || d.has("note.txt") {
		t.Error("not all is destroyed")
	}
}

// Objects made by somebody else come under management, by command and by block.
func TestRealPluginsImport(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", `
terraform {
  required_providers {
    lab   = { source = "lockstep/lab" }
    labv5 = { source = "lockstep/labv5" }
  }
}
resource "lab_thing" "a" {
  name  = "found"
  color = "green"
}
resource "labv5_item" "a" {
  name  = "found"
  title = "a title"
}
import {
  to = labv5_item.a
  id = "found-7"
}
`)
	d.Write("lab/lab_thing/found-1.json", `{"id": "found-1", "name": "found", "color": "green", "tier": "tier 1", "region": "here"}`)
	d.Write("lab/labv5_item/found-7.json", `{"id": "found-7", "name": "found", "title": "a title", "checksum": "sum of a title"}`)
	d.want(0, "init")
	d.want(1, "import lab_thing.a nowhere", "Cannot import", `There is no thing "nowhere"`)
	d.want(0, "import lab_thing.a found-1", "Import successful!")
	d.want(0, "plan", "1 to import, 0 to add")
	d.want(0, "apply -auto-approve", "Resources: 1 imported, 0 added")
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.agrees()
}

const labConfig = `
terraform {
  required_providers {
    lab = { source = "lockstep/lab" }
  }
}
resource "lab_thing" "a" {
  name = "a"
}
`

// Working directories share the packages of a plugin cache.
func TestPluginCache(t *testing.T) {
	t.Parallel()
	one, two := newLab(t, "main.tf", labConfig), newLab(t, "main.tf", labConfig)
	cache := t.TempDir()
	one.set("TF_PLUGIN_CACHE_DIR=" + cache)
	one.want(0, "init", "Installed lockstep/lab v1.0.0")
	two.Write("cli.tfrc", two.read("cli.tfrc")+fmt.Sprintf("plugin_cache_dir = %q\n", cache))
	two.Write(".terraform.lock.hcl", one.read(".terraform.lock.hcl"))
	two.want(0, "init", "Using lockstep/lab v1.0.0 from the shared cache directory")
	two.want(0, "apply -auto-approve", "1 added")

	one.set("TF_PLUGIN_CACHE_DIR=" + filepath.Join(cache, "missing"))
	one.want(0, "init", "Plugin cache directory cannot be opened", "Create it", "may not behave as intended")
}

// Somebody who works on a provider uses their build of it, without init, and is
// reminded of that; init installs a release beside it.
func TestDevOverrides(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	bin := t.TempDir()
	if err := os.Symlink(plugin(t, "lockstep/lab"), filepath.Join(bin, "terraform-provider-lab")); err != nil {
		t.Fatal(err)
	}
	d.Write("cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"lockstep/lab\" = %q\n  }\n  filesystem_mirror {\n    path = %q\n  }\n}\n", bin, statebackendtest.Part(t, "mirror")))
	const warning = "Provider development overrides are in effect"
	d.want(0, "validate", warning, "- lockstep/lab in "+bin)
	d.want(0, "plan", warning, "1 to add")
	d.want(0, "apply -auto-approve", warning, "1 added")
	d.want(0, "init", warning, "Skip init", "Installed lockstep/lab v1.0.0")
	if !strings.Contains(d.read(".terraform.lock.hcl"), "lockstep/lab") {
		t.Error("the release that was installed is not in the lock file")
	}
	d.want(0, "plan", warning, "No changes")
	d.Write("cli.tfrc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"lockstep/lab\" = %q\n  }\n}\n", t.TempDir()))
	d.want(1, "plan", "Provider in development is missing", "provider lockstep/lab in development", "dev_overrides")
}

// TF_REATTACH_PROVIDERS names a provider that runs already, under a debugger or a
// test. It is neither installed nor locked nor ended.
func TestReattach(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	cmd := exec.Command(plugin(t, "lockstep/lab"), "-debug")
	cmd.Env = append(os.Environ(), "LAB_DIR="+d.file("lab"))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	reattach := ""
	for lines := bufio.NewScanner(stdout); lines.Scan() && reattach == ""; {
		if _, value, ok := strings.Cut(lines.Text(), "TF_REATTACH_PROVIDERS='"); ok {
			reattach = strings.TrimSuffix(strings.TrimSpace(value), "'")
		}
	}
	go func() { ended <- cmd.Wait() }()
	if reattach == "" {
		t.Fatal("the provider does not say how to attach to it")
	}
	d.set("TF_REATTACH_PROVIDERS=" + reattach)
	d.want(0, "init")
	if d.has(".terraform/providers") || d.has(".terraform.lock.hcl") {
		t.Error("the provider was installed or locked")
	}
	d.want(0, "plan", "1 to add")
	d.want(0, "apply -auto-approve", "1 added")
	d.want(0, "plan -detailed-exitcode")
	select {
	case err := <-ended:
		t.Fatalf("the provider was ended: %v", err)
	default:
	}
	d.set("TF_REATTACH_PROVIDERS={")
	d.want(1, "plan", "Invalid TF_REATTACH_PROVIDERS")
	d.set(`TF_REATTACH_PROVIDERS={"lockstep/lab":{"Protocol":"grpc","ProtocolVersion":6,"Pid":1,"Test":true,"Addr":{"Network":"unix","String":"/nowhere"}}}`)
	d.want(1, "plan", "could not be started", "TF_REATTACH_PROVIDERS", "is it still running?")
}

// registry starts a registry with two versions of the provider lab, which are the
// same program, and returns a directory that has it in its CLI configuration. If the
// provider is not to be started, it is only a text, which is quicker to pack.
func registry(t *testing.T, started bool) (*registrytest.Server, *labDir) {
	t.Helper()
	var program []byte
	if started {
		var err error
		if program, err = os.ReadFile(plugin(t, "lockstep/lab")); err != nil {
			t.Fatal(err)
		}
	}
	s := registrytest.New(t)
	platform := runtime.GOOS + "_" + runtime.GOARCH
	for _, version := range []string{"1.0.0", "1.1.0"} {
		s.Add(registrytest.Release{Namespace: "lockstep", Type: "lab", Version: version, Program: program, Platforms: []string{platform}})
	}
	d := newLab(t, "main.tf", strings.ReplaceAll(labConfig, `"lockstep/lab"`, `"registry.example.com/lockstep/lab", version = "<= 1.0.0"`))
	d.Write("cli.tfrc", s.CLIConfig())
	d.set("SSL_CERT_FILE="+s.CAFile(), "TF_REGISTRY_DISCOVERY_RETRY=0")
	return s, d
}

// A provider comes from a registry, over TLS, with checksums under a signature.
func TestRegistry(t *testing.T) {
	t.Parallel()
	s, d := registry(t, true)
	r := d.want(0, "init", "- Finding registry.example.com/lockstep/lab versions matching", "v1.0.0 (self-signed, key ID "+s.Signer.ID()+")")
	if strings.Contains(r.Out, "Incomplete lock file") {
		t.Errorf("a warning about signed checksums:\n%s", r.Out)
	}
	lock := d.read(".terraform.lock.hcl")
	for _, sum := range s.Checksums("lockstep", "lab", "1.0.0") {
		if !strings.Contains(lock, sum) {
			t.Errorf("the lock file lacks %s:\n%s", sum, lock)
		}
	}
	d.want(0, "apply -auto-approve", "1 added")

	// The lock file holds the version, until it is to be upgraded.
	d.Write("main.tf", strings.ReplaceAll(d.read("main.tf"), "<= 1.0.0", ">= 1.0.0"))
	d.want(0, "init", "Reusing previous version")
	d.want(0, "plan -detailed-exitcode")
	d.want(0, "init -json -upgrade", "Installed provider version: registry.example.com/lockstep/lab v1.1.0", `"message_code":"dependencies_lock_changes_info"`)
	var v struct {
		Selections map[string]string `json:"provider_selections"`
	}
	if err := json.Unmarshal([]byte(d.want(0, "version -json").Out), &v); err != nil || v.Selections["registry.example.com/lockstep/lab"] != "1.1.0" {
		t.Errorf("selected %v, %v", v, err)
	}
	d.Write("main.tf", strings.ReplaceAll(d.read("main.tf"), ">= 1.0.0", "1.0.0"))
	d.want(1, "plan", "Inconsistent dependency lock file", "lockstep init -upgrade")
	d.want(1, "init -lockfile=readonly", "lockstep init -upgrade")
	// What the configuration says can be checked with any version.
	d.want(0, "validate", "Success! The configuration is valid.")
	if err := os.Remove(d.file(".terraform.lock.hcl")); err != nil {
		t.Fatal(err)
	}
	d.want(1, "validate", "Error: Missing required provider", "registry.example.com/lockstep/lab", "lockstep init")
	d.Write("main.tf", strings.ReplaceAll(d.read("main.tf"), "1.0.0", "1.0.0.0"))
	d.want(1, "validate", "Error: Invalid version constraint on main.tf line 4", "invalid version constraint")
}

// -lockfile=readonly installs what the lock file says, and changes nothing.
func TestLockfileReadonly(t *testing.T) {
	t.Parallel()
	_, d := registry(t, false)
	d.want(1, "init -lockfile=readonly", "Provider dependency changes detected", "-lockfile=readonly")
	if d.has(".terraform.lock.hcl") {
		t.Error("a lock file was written")
	}
	d.want(0, "init")
	lock := d.read(".terraform.lock.hcl")
	if err := os.RemoveAll(d.file(".terraform")); err != nil {
		t.Fatal(err)
	}
	d.want(0, "init -lockfile=readonly", "v1.0.0")
	if d.read(".terraform.lock.hcl") != lock {
		t.Error("the lock file was changed")
	}
}

// A network mirror stands in for all registries.
func TestNetworkMirror(t *testing.T) {
	t.Parallel()
	s, d := registry(t, true)
	d.Write("cli.tfrc", s.MirrorConfig())
	d.want(0, "init -json", "Installed provider version: registry.example.com/lockstep/lab v1.0.0", "Incomplete lock file information", `"message_code":"lock_info"`)
	d.want(0, "apply -auto-approve", "1 added")
}

// -plugin-dir is the only place that providers are taken from.
func TestPluginDir(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.set("TF_CLI_CONFIG_FILE=" + os.DevNull)
	d.want(0, "init -plugin-dir="+statebackendtest.Part(t, "mirror"), "Installed lockstep/lab v1.0.0")
	if got, want := d.read(".terraform/plugin_path"), "[\n  \""+statebackendtest.Part(t, "mirror")+"\"\n]"; got != want {
		t.Errorf("plugin_path is %s", got)
	}
	d.want(0, "plan", "1 to add")
	if err := os.RemoveAll(d.file(".terraform")); err != nil {
		t.Fatal(err)
	}
	d.want(1, "init -plugin-dir="+t.TempDir(), "was not found in")
	// A relative one is seen from the directory that -chdir names.
	d.Write("sub/main.tf", labConfig)
	if err := os.Symlink(statebackendtest.Part(t, "mirror"), d.file("sub/plugins")); err != nil {
		t.Fatal(err)
	}
	d.want(0, "-chdir=sub init -plugin-dir=plugins", "Installed lockstep/lab v1.0.0")
	d.want(0, "-chdir=sub plan", "1 to add")
}
