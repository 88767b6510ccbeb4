package program

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/engine"
)

// terraformExec returns a client for the stock tool, with us in its place.
func terraformExec(t *testing.T, d programtest.Dir) *tfexec.Terraform {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lockstep")
	if err := os.Symlink(programtest.Executable(t), path); err != nil {
		t.Fatal(err)
	}
	tf, err := tfexec.NewTerraform(d.Path, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := tf.SetEnv(map[string]string{"HOME": d.Path, "TF_CLI_CONFIG_FILE": os.DevNull, "PATH": os.Getenv("PATH")}); err != nil {
		t.Fatal(err)
	}
	return tf
}

// ok fails the test if a step did.
func ok(t *testing.T, step string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", step, err)
	}
}

const execConfig = `
variable "name" {
  default = "a"
}
resource "terraform_data" "a" {
  input = var.name
}
resource "terraform_data" "imported" {
  count = var.name == "b" ? 1 : 0
}
output "name" {
  value = terraform_data.a.output
}
output "hidden" {
  value     = "hush"
  sensitive = true
}
`

// hashicorp/terraform-exec drives us through the life of a configuration.
func TestTerraformExecLife(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := programtest.NewDir(t, "main.tf", execConfig)
	tf := terraformExec(t, d)

	v, providers, err := tf.Version(ctx, true)
	ok(t, "version", err)
	if v.String() != engine.LanguageVersion || len(providers) != 0 {
		t.Errorf("version %s with providers %v", v, providers)
	}
	ok(t, "init", tf.Init(ctx))
	valid, err := tf.Validate(ctx)
	ok(t, "validate", err)
	if !valid.Valid {
		t.Errorf("not valid: %v", valid.Diagnostics)
	}

	changes, err := tf.Plan(ctx, tfexec.Out("tfplan"))
	ok(t, "plan", err)
	if !changes {
		t.Error("a first plan has no changes")
	}
	plan, err := tf.ShowPlanFile(ctx, "tfplan")
	ok(t, "show plan", err)
	if len(plan.ResourceChanges) != 1 || !plan.ResourceChanges[0].Change.Actions.Create() {
		t.Errorf("planned %+v", plan.ResourceChanges)
	}
	text, err := tf.ShowPlanFileRaw(ctx, "tfplan")
	ok(t, "show plan as text", err)
	if text == "" {
		t.Error("the plan shown is empty")
	}
	ok(t, "apply plan", tf.Apply(ctx, tfexec.DirOrPlan("tfplan")))
	changes, err = tf.Plan(ctx)
	ok(t, "plan again", err)
	if changes {
		t.Error("a plan after an apply has changes")
	}

	outputs, err := tf.Output(ctx)
	ok(t, "output", err)
	if string(outputs["name"].Value) != `"a"` || !outputs["hidden"].Sensitive || string(outputs["hidden"].Value) != `"hush"` {
		t.Errorf("outputs %+v", outputs)
	}
	state, err := tf.Show(ctx)
	ok(t, "show", err)
	if got := addresses(state); !slices.Equal(got, []string{"terraform_data.a"}) {
		t.Errorf("state shown has %v", got)
	}

	ok(t, "import", tf.Import(ctx, "terraform_data.imported[0]", "some-id", tfexec.Var("name=b")))
	ok(t, "refresh", tf.Refresh(ctx, tfexec.Var("name=b")))
	ok(t, "apply", tf.Apply(ctx, tfexec.Var("name=b")))
	state, err = tf.Show(ctx)
	ok(t, "show", err)
	if got := addresses(state); !slices.Equal(got, []string{"terraform_data.a", "terraform_data.imported[0]"}) {
		t.Errorf("state shown has %v", got)
	}
	ok(t, "destroy", tf.Destroy(ctx))
	state, err = tf.Show(ctx)
	ok(t, "show", err)
	if got := addresses(state); len(got) != 0 {
		t.Errorf("state shown has %v", got)
	}
}

func addresses(s *tfjson.State) []string {
	var out []string
	if s.Values != nil {
		for _, r := range s.Values.RootModule.Resources {
			out = append(out, r.Address)
		}
	}
	return out
}

// Its functions on states, locks and workspaces work, too.
func TestTerraformExecStates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := programtest.NewDir(t, "main.tf", execConfig)
	tf := terraformExec(t, d)
	ok(t, "init", tf.Init(ctx, tfexec.Upgrade(true)))
	ok(t, "apply", tf.Apply(ctx))

	ok(t, "taint", tf.Taint(ctx, "terraform_data.a"))
	changes, err := tf.Plan(ctx)
	ok(t, "plan", err)
	if !changes {
		t.Error("what is tainted is not replaced")
	}
	ok(t, "untaint", tf.Untaint(ctx, "terraform_data.a"))
	pulled, err := tf.StatePull(ctx)
	ok(t, "state pull", err)
	ok(t, "state mv", tf.StateMv(ctx, "terraform_data.a", "terraform_data.b"))
	ok(t, "state rm", tf.StateRm(ctx, "terraform_data.b"))
	d.Write("pulled.tfstate", pulled)
	ok(t, "state push", tf.StatePush(ctx, "pulled.tfstate", tfexec.Force(true)))

	if err := tf.ForceUnlock(ctx, "no-such-lock"); err == nil {
		t.Error("a lock that is not there is released")
	}
	d.Write(".terraform.tfstate.lock.info", `{"ID":"dead","Operation":"OperationTypeApply","Info":"","Who":"x@y","Version":"1.11.4","Created":"2026-01-02T03:04:05.6Z","Path":"terraform.tfstate"}`)
	ok(t, "force-unlock", tf.ForceUnlock(ctx, "dead"))

	ok(t, "workspace new", tf.WorkspaceNew(ctx, "dev"))
	names, now, err := tf.WorkspaceList(ctx)
	ok(t, "workspace list", err)
	if !slices.Equal(names, []string{"default", "dev"}) || now != "dev" {
		t.Errorf("workspaces %q, selected %q", names, now)
	}
	ok(t, "workspace select", tf.WorkspaceSelect(ctx, "default"))
	now, err = tf.WorkspaceShow(ctx)
	ok(t, "workspace show", err)
	if now != "default" {
		t.Errorf("selected %q", now)
	}
	ok(t, "workspace delete", tf.WorkspaceDelete(ctx, "dev"))
	ok(t, "destroy", tf.Destroy(ctx))
}

// And those that need no state.
func TestTerraformExecFiles(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := programtest.NewDir(t, "main.tf", execConfig, "ugly.tf", "locals {\na=1\n}\n", "m/main.tf", "", "call.tf", "module \"m\" {\n  source = \"./m\"\n}\n")
	tf := terraformExec(t, d)
	clean, files, err := tf.FormatCheck(ctx)
	ok(t, "fmt -check", err)
	if clean || !slices.Equal(files, []string{"ugly.tf"}) {
		t.Errorf("to format: %v", files)
	}
	ok(t, "fmt", tf.FormatWrite(ctx))
	text, err := tf.FormatString(ctx, "a=1\n")
	ok(t, "fmt -", err)
	if text != "a = 1\n" {
		t.Errorf("formatted: %q", text)
	}
	ok(t, "get", tf.Get(ctx))
	ok(t, "init", tf.Init(ctx))
	dot, err := tf.Graph(ctx)
	ok(t, "graph", err)
	if dot == "" {
		t.Error("the graph is empty")
	}
	schemas, err := tf.ProvidersSchema(ctx)
	ok(t, "providers schema", err)
	if s := schemas.Schemas["terraform.io/builtin/terraform"]; s == nil || s.ResourceSchemas["terraform_data"] == nil {
		t.Errorf("schemas: %v", schemas.Schemas)
	}
}
