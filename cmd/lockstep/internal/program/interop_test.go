package program

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/dynamodb"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// A realCloud is a pair of real servers for states and locks.
type realCloud struct{ s3, dynamodb string }

func startRealCloud(t *testing.T) realCloud {
	t.Helper()
	return realCloud{statebackendtest.StartVersitygw(t), statebackendtest.StartDynoxide(t)}
}

// settings is what a backend block needs besides its bucket and key, to find the
// servers.
func (c realCloud) settings() string {
	return fmt.Sprintf(`region = "us-east-1"
access_key = %q
secret_key = %q
endpoints = { s3 = %q, dynamodb = %q }
use_path_style = true
skip_credentials_validation = true
skip_region_validation = true
skip_requesting_account_id = true
skip_metadata_api_check = true
`, statebackendtest.AccessKey, statebackendtest.SecretKey, c.s3, c.dynamodb)
}

// attributes is the same for package s3.
func (c realCloud) attributes(key string, more map[string]any) map[string]any {
	out := map[string]any{
		"bucket": "states", "key": key, "region": "us-east-1",
		"access_key": statebackendtest.AccessKey, "secret_key": statebackendtest.SecretKey,
		"endpoints":      map[string]any{"s3": c.s3, "dynamodb": c.dynamodb},
		"use_path_style": true, "skip_credentials_validation": true, "skip_region_validation": true,
		"skip_requesting_account_id": true, "skip_metadata_api_check": true,
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// items are the lock items of a state, without anything around them.
func (c realCloud) items(key string) *dynamodb.Items {
	client := awsdynamodb.New(awsdynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(c.dynamodb),
		Credentials: credentials.NewStaticCredentialsProvider(statebackendtest.AccessKey, statebackendtest.SecretKey, ""),
	})
	return &dynamodb.Items{Client: client, Table: "locks", Path: path.Join("states", key)}
}

// open opens a state in this process, to look at it and at its locks.
func (c realCloud) open(t *testing.T, key, workspace string, more map[string]any) statebackend.Workspace {
	t.Helper()
	b, err := s3.Open(t.Context(), c.attributes(key, more), s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Open(workspace)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const interopConfig = `
terraform {
  required_providers {
    lab  = { source = "lockstep/lab" }
    time = { source = "hashicorp/time" }
  }
  backend "s3" {
    bucket = "states"
    %s
  }
}
variable "color" {
  default = "red"
}
variable "slow" {
  default = ""
}
resource "lab_thing" "one" {
  name   = "one-${terraform.workspace}"
  color  = var.color
  secret = sensitive("hush")
  tags   = { owner = "me" }
}
resource "lab_thing" "many" {
  for_each = toset(["a", "b/c"])
  name     = "${lab_thing.one.id}-${each.key}"
  trouble  = var.slow
}
resource "terraform_data" "counted" {
  count            = 2
  input            = { of = lab_thing.one.tier, n = count.index }
  triggers_replace = var.color
}
resource "time_static" "now" {}
output "secret" {
  value     = lab_thing.one.secret
  sensitive = true
}
output "ids" {
  value = { for k, x in lab_thing.many : k => x.id }
}
`

// interopDir returns a directory with a backend block of these lock settings, and
// init's options for the rest: partial configuration, by value and by file.
func (c realCloud) interopDir(t *testing.T, key, locks string) (*labDir, []string) {
	t.Helper()
	d := newLab(t, "main.tf", fmt.Sprintf(interopConfig, locks), "backend.hcl", c.settings())
	return d, []string{"init", "-input=false", "-backend-config=key=" + key, "-backend-config=backend.hcl"}
}

// lockSettings are the kinds of locks that a backend block can ask for.
var lockSettings = []struct {
	name, block string
	attributes  map[string]any
}{
	{"none", "", nil},
	{"table", `dynamodb_table = "locks"`, map[string]any{"dynamodb_table": "locks"}},
	{"lockfile", `use_lockfile = true`, map[string]any{"use_lockfile": true}},
	{"both", "dynamodb_table = \"locks\"\n    use_lockfile = true", map[string]any{"dynamodb_table": "locks", "use_lockfile": true}},
}

// We and the stock tool take turns on a state: what one has written, the other reads
// and has nothing to change.
func TestInterop(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	for _, l := range lockSettings {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			key := l.name + "/terraform.tfstate"
			d, initialize := c.interopDir(t, key, l.block)
			check(t, d.runWith(nil, initialize...), 0, "init", `Successfully configured the backend "s3"!`)
			d.want(0, "apply -auto-approve", "Resources: 6 added")
			d.want(0, "plan -detailed-exitcode", "No changes.")
			d.want(0, "workspace new staging", "staging")
			d.want(0, "apply -auto-approve", "Resources: 6 added")
			d.want(0, "workspace list", "default * staging")
			d.want(0, "workspace select default")
			noLocks(t, c.open(t, key, "default", l.attributes))

			// The stock tool reads both, changes one, and makes a third.
			theirs, again := c.interopDir(t, key, l.block)
			theirs.set("LAB_DIR=" + d.file("lab"))
			if output, code, ran := theirs.stock(again...); !ran {
				return
			} else if code != 0 {
				t.Fatalf("terraform init: exit code %d\n%s", code, output)
			}
			theirs.agrees()
			// Each in the directory that the other has initialized.
			d.agrees()
			theirs.want(0, "plan -detailed-exitcode", "No changes.")
			theirs.must("workspace", "select", "staging")
			theirs.agrees()
			theirs.must("apply", "-auto-approve", "-var=color=blue")
			theirs.must("workspace", "new", "third")
			theirs.must("apply", "-auto-approve")

			d.want(0, "workspace list", "* default staging third")
			d.want(0, "workspace select staging")
			d.want(0, "plan -detailed-exitcode -var=color=blue", "No changes.")
			d.want(2, "plan -detailed-exitcode", "2 to add, 1 to change, 2 to destroy")
			d.set("TF_WORKSPACE=third")
			d.want(0, "plan -detailed-exitcode", "No changes.")
			d.want(0, "destroy -auto-approve", "6 destroyed")
			if output := theirs.must("state", "list"); output != "" {
				t.Errorf("after our destroy terraform sees %s", output)
			}
		})
	}
}

// must runs the stock tool, which must succeed.
func (d *labDir) must(args ...string) string {
	d.T.Helper()
	output, code, ran := d.stock(args...)
	if !ran || code != 0 {
		d.T.Fatalf("terraform %s: exit code %d\n%s", strings.Join(args, " "), code, output)
	}
	return output
}

func noLocks(t *testing.T, l statebackend.Locker) {
	t.Helper()
	if held, err := l.Locks(t.Context()); err != nil || len(held) > 0 {
		t.Errorf("locks are left: %v, %v", held, err)
	}
}

// The stock tool holds the lock while a slow provider works for it. We refuse and
// name the holder; force-unlock by the ID clears the lock.
func TestStockLock(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("no terraform on PATH to compare with")
	}
	for _, l := range lockSettings[1:] {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			key := "held/" + l.name
			d, initialize := c.interopDir(t, key, l.block)
			check(t, d.runWith(nil, initialize...), 0, "init")
			theirs, again := c.interopDir(t, key, l.block)
			theirs.must(again...)
			cmd := exec.Command(program, "apply", "-auto-approve", "-input=false", "-var=slow=create-hang")
			cmd.Dir, cmd.Env = theirs.Path, slices.Concat(theirs.Environ(), theirs.env)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			programtest.WaitFor(t, "terraform creates a thing", func() bool { return theirs.has("lab/create.under-way") })
			w := c.open(t, key, "default", l.attributes)
			held := statebackendtest.WaitForLock(t, w)

			d.want(1, "plan", "Error acquiring the state lock", held.Info.ID, held.Info.Who, "OperationTypeApply", "lockstep force-unlock")
			d.want(1, "apply -auto-approve -lock-timeout=1s", held.Info.ID)
			d.want(0, "plan -lock=false", "6 to add")
			d.want(1, "force-unlock -force 00000000-0000-0000-0000-000000000000", held.Info.ID)
			d.want(0, "force-unlock -force "+held.Info.ID)
			noLocks(t, w)
			d.want(0, "plan")
			// What it goes on to write without its lock is its business.
			cmd.Process.Signal(syscall.SIGKILL)
		})
	}
}

// One kind of lock is there only, as a crash or a tool that knows no other leaves it:
// it is respected, shown and cleared.
func TestHalfALock(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	for _, l := range lockSettings[1:] {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			key := "half/" + l.name
			d, initialize := c.interopDir(t, key, l.block)
			check(t, d.runWith(nil, initialize...), 0, "init")
			for kind, lock := range map[string]func(statebackend.LockInfo) error{
				"table": func(i statebackend.LockInfo) error { return c.items(key).Lock(t.Context(), i) },
				"object": func(i statebackend.LockInfo) error {
					_, err := c.open(t, key, "default", map[string]any{"use_lockfile": true}).Lock(t.Context(), i)
					return err
				},
			} {
				if kind == "table" && l.name == "lockfile" {
					continue // no table is named
				}
				info := statebackend.NewLockInfo("OperationTypeApply", "1.11.4")
				info.Who, info.Path = "somebody@elsewhere", path.Join("states", key)
				if err := lock(info); err != nil {
					t.Fatal(err)
				}
				d.want(1, "plan", "Error acquiring the state lock", info.ID, "somebody@elsewhere")
				d.want(0, "force-unlock -force "+info.ID, "has been released")
				d.want(1, "force-unlock -force "+info.ID, "not locked")
				d.want(0, "plan", "6 to add")
				noLocks(t, c.open(t, key, "default", map[string]any{"use_lockfile": true, "dynamodb_table": "locks"}))
			}
		})
	}
}

// A configuration changes its backend, from files to S3 and back.
func TestMigrateState(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	const local = "terraform {\n  backend \"local\" {}\n}\n"
	remote := "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n" + c.settings() + "    use_lockfile = true\n    key = %q\n  }\n}\n"
	d := newLab(t, "main.tf", "resource \"terraform_data\" \"a\" {\n  input = terraform.workspace\n}\n")
	d.want(0, "init")
	d.want(0, "apply -auto-approve")
	d.want(0, "workspace new staging")
	d.want(0, "apply -auto-approve")

	d.Write("backend.tf", fmt.Sprintf(remote, "moved"))
	d.want(1, "plan", "Backend initialization required", `Reason: Initial configuration of the requested backend "s3"`, "lockstep init")
	d.want(1, "init -input=false", "Backend configuration changed", "-migrate-state", "default, staging")
	d.want(1, "init -migrate-state -reconfigure", "cannot be used together")
	check(t, d.runWith(strings.NewReader("maybe\n"), "init"), 1, "init", "Neither yes nor no")
	check(t, d.runWith(strings.NewReader(""), "init"), 1, "init", "Backend configuration changed")
	d.want(1, "plan", "Backend initialization required")
	check(t, d.runWith(strings.NewReader("yes\n"), "init"), 0, "init", `Copied the state of the workspace "staging"`, `Successfully configured the backend "s3"!`)
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.want(0, "workspace select default")
	d.want(0, "plan -detailed-exitcode", "No changes.")
	if text := d.read("terraform.tfstate"); strings.Contains(text, "terraform_data") {
		t.Errorf("the former state still has objects:\n%s", text)
	}
	if text := d.read("terraform.tfstate.backup"); !strings.Contains(text, "terraform_data") {
		t.Errorf("the backup of the former state is\n%s", text)
	}

	// Another key: the states stay unless they are to be copied.
	d.Write("backend.tf", fmt.Sprintf(remote, "elsewhere"))
	d.want(1, "plan", "Reason: Backend configuration block has changed.")
	d.want(0, "init -reconfigure")
	d.want(2, "plan -detailed-exitcode -out=tfplan", "1 to add")
	d.Write("backend.tf", fmt.Sprintf(remote, "moved"))
	d.want(1, "init -input=false", "Backend configuration changed")
	d.want(0, "init -input=false -migrate-state", "Successfully configured")
	d.want(0, "plan -detailed-exitcode")
	// What was planned there is done there.
	d.want(0, "apply tfplan", "1 added")
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.Write("backend.tf", fmt.Sprintf(remote, "elsewhere"))
	d.want(0, "init -reconfigure")
	d.want(0, "plan -detailed-exitcode", "No changes.")
	d.Write("backend.tf", fmt.Sprintf(remote, "moved"))
	d.want(0, "init -reconfigure")

	// And back to files: of the former state there only objects are missing.
	d.Write("backend.tf", local)
	d.want(1, "plan", `Reason: Backend type changed from "s3" to "local".`)
	d.want(0, "init -migrate-state -force-copy", `Copied the state of the workspace "default"`)
	d.want(0, "plan -detailed-exitcode")
	d.Write("backend.tf", "")
	d.want(1, "plan", "Reason: Unsetting the previously set backend")
	d.want(0, "init -input=false -force-copy", "Successfully unset the backend")
	d.want(0, "plan -detailed-exitcode")
	d.agrees()
}

// What a backend block no longer says counts no more, although it was recorded; what
// -backend-config said once need not be repeated.
func TestBackendBlockChanges(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	d, initialize := c.interopDir(t, "changes", `use_lockfile = true`)
	check(t, d.runWith(nil, initialize...), 0, "init")
	d.want(0, "init")
	d.want(0, "plan")
	if strings.Contains(d.run("version").Out, statebackendtest.SecretKey) {
		t.Error("a secret is shown")
	}
	d.Write("main.tf", fmt.Sprintf(interopConfig, ""))
	d.want(1, "plan", "Reason: Backend configuration block has changed.")
	check(t, d.runWith(nil, initialize...), 1, "init", "Backend configuration changed", "-reconfigure")
	check(t, d.runWith(nil, append(slices.Clone(initialize), "-reconfigure")...), 0, "init")
	d.want(0, "plan")

	d.want(1, "init -backend-config=flavour=vanilla", `"flavour"`, "not expected")
	d.want(1, "init -backend-config=missing.hcl", "missing.hcl", "no such file")
	d.want(1, "init -reconfigure", "key", "required")
	d.want(1, "init -reconfigure -backend-config=key=a -backend-config=endpoints={", "-backend-config=endpoints")
	d.want(1, "init -reconfigure -backend-config=key=a -backend-config=endpoints={s4=\"x\"}", "s4")
	d.want(1, "init -reconfigure -backend-config=key=a -backend-config=max_retries=many", "max_retries")
}

// A state that the stock tool locked by both kinds, and whose process died, is
// cleared by one force-unlock.
func TestBothKindsAreCleared(t *testing.T) {
	t.Parallel()
	c := startRealCloud(t)
	key := "dead"
	d, initialize := c.interopDir(t, key, lockSettings[3].block)
	check(t, d.runWith(nil, initialize...), 0, "init")
	w := c.open(t, key, "default", lockSettings[3].attributes)
	id, err := w.Lock(context.Background(), statebackend.NewLockInfo("OperationTypeApply", "1.11.4"))
	if err != nil {
		t.Fatal(err)
	}
	d.want(1, "plan", id)
	d.want(0, "force-unlock -force "+id)
	noLocks(t, w)
}

// The bytes of a state are the same whichever tool writes them, but for what is
// random or a matter of time.
func TestStateBytes(t *testing.T) {
	t.Parallel()
	ours := newLab(t, "main.tf", strings.ReplaceAll(fmt.Sprintf(interopConfig, ""), `backend "s3"`, `backend "local"`))
	ours.Write("main.tf", strings.ReplaceAll(ours.read("main.tf"), `bucket = "states"`, ""))
	theirs := newLab(t, "main.tf", ours.read("main.tf"))
	ours.want(0, "init")
	ours.want(0, "apply -auto-approve")
	if _, _, ran := theirs.stock("init"); !ran {
		t.Skip("no terraform on PATH to compare with")
	}
	theirs.must("apply", "-auto-approve")
	if a, b := neutral(t, ours.read("terraform.tfstate")), neutral(t, theirs.read("terraform.tfstate")); a != b {
		t.Errorf("we write\n%s\nand terraform\n%s", a, b)
	}
}

// neutral replaces what two runs never have in common.
func neutral(t *testing.T, state string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(state), &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "identity_schema_version") // which Terraform writes since 1.12
			if v["store"] == nil {
				delete(v, "store") // of each terraform_data, since 1.16
			}
			for k, x := range v {
				if k == "lineage" || k == "serial" || k == "terraform_version" {
					x = "-"
				}
				v[k] = walk(x)
			}
		case []any:
			for i, x := range v {
				v[i] = walk(x)
			}
		case string:
			if _, err := time.Parse(time.RFC3339, v); err == nil || len(v) == 36 {
				return "-"
			}
		case float64:
			if v > 100 || v < 100 {
				return "number"
			}
		}
		return v
	}
	out, err := json.MarshalIndent(walk(v), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
