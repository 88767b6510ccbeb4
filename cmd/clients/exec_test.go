package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// later are the methods of terraform-exec that do not suit the version 1.11, or not yet us.
var later = map[string]string{
	"Upgrade012": "Terraform 0.12 alone", "Upgrade013": "Terraform 0.13 alone",
	"SetSkipProviderVerify": "before 0.13", "QueryJSON": "from 1.14", "WorkspaceListJSON": "from 1.16", "StateMigrateJSON": "from 1.18",
	"Test": "`test` is not a command of ours yet",
}

// Each method that 1.11 has is in the session below.
func TestTerraformExecMethods(t *testing.T) {
	source, err := os.ReadFile("exec_test.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := reflect.TypeFor[*tfexec.Terraform]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if used := bytes.Contains(source, []byte("."+name+"(")); used == (later[name] != "") {
			t.Errorf("%s is used: %t; excused: %q", name, used, later[name])
		}
	}
}

// A driven tool is one that terraform-exec drives.
type driven struct {
	*tfexec.Terraform
	record
	t   *testing.T
	ctx context.Context
	dir string
}

// result notes what a method returned, after which the next step has a name of its own.
func (d *driven) result(step string, v any, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatalf("%s: %v", step, err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		d.t.Fatal(err)
	}
	d.keep(step, string(data), d.dir)
}

func (d *driven) done(step string, err error) {
	d.t.Helper()
	d.result(step, nil, err)
}

// TestTerraformExec has a session with hashicorp/terraform-exec, method by method.
func TestTerraformExec(t *testing.T) {
	t.Parallel()
	statebackendtest.Part(t, "mirror", "registry.terraform.io", "lockstep", "lab")
	both(t, func(t *testing.T, l tool) *record {
		d := drive(t, l)
		d.prepare()
		d.change()
		d.states()
		d.workspaces()
		d.events()
		return &d.record
	})
}

func drive(t *testing.T, l tool) *driven {
	t.Helper()
	dir, home := unpack(t, "testdata/exec.txtar"), t.TempDir()
	tf, err := tfexec.NewTerraform(dir, filepath.Join(l.bin, "terraform"))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, v := range environ(t, l, home) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	d := &driven{Terraform: tf, t: t, ctx: t.Context(), dir: dir}
	var out bytes.Buffer
	d.SetLogger(quietly{})
	d.SetStdout(&out)
	d.SetStderr(&out)
	d.done("env", d.SetEnv(env))
	d.done("log path", d.SetLogPath(filepath.Join(home, "log")))
	d.done("log", d.SetLog("INFO"))
	d.done("core's log", d.SetLogCore("INFO"))
	d.done("providers' log", d.SetLogProvider("ERROR"))
	d.done("user agent", d.SetAppendUserAgent("test"))
	d.done("TLS", d.SetDisablePluginTLS(false))
	d.done("pipes", d.SetEnableLegacyPipeClosing(false))
	d.done("delay", d.SetWaitDelay(time.Minute))
	if d.ExecPath() != filepath.Join(l.bin, "terraform") || d.WorkingDir() != dir {
		t.Errorf("drives %s in %s", d.ExecPath(), d.WorkingDir())
	}
	return d
}

type quietly struct{}

func (quietly) Printf(string, ...any) {}

// prepare is what needs no state.
func (d *driven) prepare() {
	clean, files, err := d.FormatCheck(d.ctx)
	d.result("fmt -check", []any{clean, files}, err)
	d.done("fmt", d.FormatWrite(d.ctx))
	text, err := d.FormatString(d.ctx, "a=1\n")
	d.result("fmt of a text", text, err)
	var formatted bytes.Buffer
	d.done("fmt of a stream", d.Format(d.ctx, strings.NewReader("b  =  [1,\n2]\n"), &formatted))
	d.result("formatted", formatted.String(), nil)
	d.done("get", d.Get(d.ctx, tfexec.Update(true)))
	d.done("init", d.Init(d.ctx, tfexec.Upgrade(true)))
	v, providers, err := d.Version(d.ctx, true)
	d.result("version", []any{v, providers}, err)
	valid, err := d.Validate(d.ctx)
	d.result("validate", valid, err)
	schemas, err := d.ProvidersSchema(d.ctx)
	d.result("providers schema", undescribed(d.t, schemas), err)
	functions, err := d.MetadataFunctions(d.ctx)
	if err != nil || len(functions.Signatures) < 100 {
		d.t.Fatalf("metadata functions: %v", err)
	}
	names := []string{}
	for name := range functions.Signatures {
		if !slices.Contains(tofus, strings.TrimPrefix(name, "core::")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	d.result("metadata functions", names, nil)
	dot, err := d.Graph(d.ctx)
	d.result("graph", lines(dot), err)
	mirror := statebackendtest.Part(d.t, "mirror")
	d.done("providers lock", d.ProvidersLock(d.ctx, tfexec.FSMirror(mirror), tfexec.Provider("registry.terraform.io/lockstep/lab")))
	lock, err := os.ReadFile(filepath.Join(d.dir, ".terraform.lock.hcl"))
	d.result("lock file", string(lock), err)
	if err := d.ProvidersMirror(d.ctx, filepath.Join(d.dir, ".mirror")); err == nil || !strings.Contains(err.Error(), "registry.terraform.io/lockstep/lab") {
		d.t.Errorf("a mirror is filled from the registry alone, which is out of reach here: %v", err)
	}
}

// tofus are OpenTofu's functions, which are ours, too.
var tofus = []string{"base64gunzip", "cidrcontains", "urldecode"}

// undescribed leaves out the descriptions of the built-in provider, which are in words of our own.
func undescribed(t *testing.T, schemas any) any {
	t.Helper()
	data, err := json.Marshal(schemas)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Schemas map[string]any `json:"provider_schemas"`
	}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for name, x := range all.Schemas {
		if strings.HasPrefix(name, "terraform.io/builtin/") {
			silence(x)
		}
	}
	return all.Schemas
}

func silence(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"description", "summary"} {
			delete(v, name)
		}
		for _, x := range v {
			silence(x)
		}
	case []any:
		for _, x := range v {
			silence(x)
		}
	}
}

// change plans, applies and imports.
func (d *driven) change() {
	changes, err := d.Plan(d.ctx, tfexec.Out("saved"), tfexec.Parallelism(2))
	d.result("plan", changes, err)
	plan, err := d.ShowPlanFile(d.ctx, "saved")
	d.result("show plan", plan, err)
	text, err := d.ShowPlanFileRaw(d.ctx, "saved")
	d.result("show plan as text", quiet(text, d.dir), err)
	d.done("apply plan", d.Apply(d.ctx, tfexec.DirOrPlan("saved")))
	changes, err = d.Plan(d.ctx, tfexec.Refresh(false))
	d.result("plan again", changes, err)
	changes, err = d.Plan(d.ctx, tfexec.Destroy(true), tfexec.Target("terraform_data.b"), tfexec.Out("saved"))
	d.result("plan to destroy", changes, err)
	outputs, err := d.Output(d.ctx)
	d.result("output", outputs, err)
	state, err := d.Show(d.ctx)
	d.result("show", state, err)
	d.done("import", d.Import(d.ctx, "terraform_data.more[0]", "some-id", tfexec.Var("more=true")))
	d.done("refresh", d.Refresh(d.ctx, tfexec.Var("more=true")))
	d.done("apply a change", d.Apply(d.ctx, tfexec.Var("color=blue"), tfexec.Replace("terraform_data.b"), tfexec.LockTimeout("5s")))
	state, err = d.ShowStateFile(d.ctx, "terraform.tfstate")
	d.result("show state file", state, err)
}

func (d *driven) states() {
	d.done("taint", d.Taint(d.ctx, "terraform_data.b"))
	d.done("untaint", d.Untaint(d.ctx, "terraform_data.b"))
	pulled, err := d.StatePull(d.ctx)
	d.result("state pull", json.RawMessage(pulled), err)
	d.done("state mv", d.StateMv(d.ctx, "terraform_data.b", "terraform_data.c"))
	d.done("state rm", d.StateRm(d.ctx, "terraform_data.c"))
	file := filepath.Join(d.dir, "pulled.tfstate")
	if err := os.WriteFile(file, []byte(pulled), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.done("state push", d.StatePush(d.ctx, file, tfexec.Force(true)))
	if err := d.ForceUnlock(d.ctx, "no-such-lock"); err == nil {
		d.t.Error("a lock that is not there is released")
	}
}

func (d *driven) workspaces() {
	d.done("workspace new", d.WorkspaceNew(d.ctx, "dev"))
	names, now, err := d.WorkspaceList(d.ctx)
	d.result("workspace list", []any{names, now}, err)
	d.done("workspace select", d.WorkspaceSelect(d.ctx, "default"))
	now, err = d.WorkspaceShow(d.ctx)
	d.result("workspace show", now, err)
	d.done("workspace delete", d.WorkspaceDelete(d.ctx, "dev"))
}

// events are the commands that tell what they do in JSON, in any order.
func (d *driven) events() {
	var b bytes.Buffer
	told := func(step string, err error) {
		d.t.Helper()
		d.result(step, lines(quiet(b.String(), d.dir)), err)
		b.Reset()
	}
	if err := d.InitJSON(d.ctx, &b); err != nil || !strings.Contains(b.String(), `"type":"init_output"`) {
		d.t.Errorf("init: %v\n%s", err, b.String())
	}
	b.Reset()
	_, err := d.PlanJSON(d.ctx, &b, tfexec.Var("color=green"), tfexec.Out("saved"))
	told("plan's events", err)
	told("apply's events", d.ApplyJSON(d.ctx, &b, tfexec.DirOrPlan("saved")))
	told("refresh's events", d.RefreshJSON(d.ctx, &b))
	told("destroy's events", d.DestroyJSON(d.ctx, &b))
	d.done("destroy", d.Destroy(d.ctx))
	state, err := d.Show(d.ctx)
	d.result("show nothing", state, err)
}
