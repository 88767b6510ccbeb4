package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
)

const placesConfig = `
variable "said" {
  default = "nothing"
}
output "places" {
  value = "${path.cwd} ${path.root} ${path.module} ${file("word.txt")} ${terraform.workspace} ${var.said}"
}
resource "terraform_data" "a" {
  input = var.said
}
`

// environmentDir is a directory without real plugins.
func environmentDir(t *testing.T, files ...string) *labDir {
	return &labDir{Dir: programtest.NewDir(t, files...)}
}

// -chdir works in another directory, but for path.cwd; relative paths of options count
// from there.
func TestChdir(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "sub/main.tf", placesConfig, "sub/word.txt", "word", "sub/my.tfvars", "said = \"hello\"\n")
	cwd, err := filepath.EvalSymlinks(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	d.want(0, "-chdir=sub init")
	d.want(0, "-chdir=sub plan -var-file=my.tfvars -out=tfplan", cwd+" . . word default hello")
	d.want(0, "-chdir=sub apply tfplan", cwd+" . . word default hello")
	d.want(0, "-chdir=sub validate")
	d.want(0, "-chdir=sub plan -detailed-exitcode -var-file=my.tfvars")
	for _, name := range []string{"sub/tfplan", "sub/terraform.tfstate"} {
		if !d.has(name) {
			t.Errorf("there is no %s", name)
		}
	}
	d.want(1, "-chdir=nowhere plan", "the directory nowhere of -chdir does not exist")
}

// TF_DATA_DIR is where init puts things; relative, it counts from the configuration.
func TestDataDir(t *testing.T) {
	t.Parallel()
	d := newLab(t, "sub/main.tf", labConfig)
	d.set("TF_DATA_DIR=data")
	d.want(0, "-chdir=sub init")
	d.want(0, "-chdir=sub workspace new other")
	d.want(0, "-chdir=sub plan", "1 to add")
	if !d.has("sub/data/providers") || !d.has("sub/data/environment") || d.has("sub/.terraform") || d.has("data") {
		t.Error("not all is in TF_DATA_DIR, or something else is")
	}
}

// The CLI configuration may be named, absent or empty.
func TestCLIConfigFile(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", placesConfig, "word.txt", "word")
	d.set("TF_CLI_CONFIG_FILE=" + os.DevNull)
	if r := d.want(0, "init"); r.Stderr != "" {
		t.Errorf("an empty CLI configuration is remarked on:\n%s", r.Stderr)
	}
	d.set("TF_CLI_CONFIG_FILE=" + d.file("missing.tfrc"))
	d.want(0, "plan", "Warning: Unable to open CLI configuration file", "missing.tfrc")
	d.Write("broken.tfrc", "plugin_cache_dir = \n")
	d.set("TF_CLI_CONFIG_FILE=" + d.file("broken.tfrc"))
	d.want(0, "plan", "broken.tfrc line 1", "1: plugin_cache_dir =", "may not behave as intended")
	d.Write("unknown.tfrc", "provider_instalation {}\n")
	d.set("TF_CLI_CONFIG_FILE=" + d.file("unknown.tfrc"))
	d.run("plan")
}

// TF_WORKSPACE selects a workspace for this run, whatever was selected.
func TestWorkspaceVariable(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", placesConfig, "word.txt", "word")
	d.want(0, "init")
	d.want(0, "apply -auto-approve", "word default nothing")
	d.set("TF_WORKSPACE=staging")
	d.want(2, "plan -detailed-exitcode", "word staging nothing")
	d.want(0, "apply -auto-approve")
	if !d.has("terraform.tfstate.d/staging/terraform.tfstate") {
		t.Error("the workspace has no state of its own")
	}
	d.set("TF_WORKSPACE=")
	d.want(0, "plan -detailed-exitcode")
}

// TF_CLI_ARGS adds options to every command, TF_CLI_ARGS_plan to one; what is typed
// wins.
func TestCLIArgs(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", placesConfig, "word.txt", "word")
	d.set("TF_CLI_ARGS=-no-color", `TF_CLI_ARGS_plan=-var 'said=two words' -detailed-exitcode`, "TF_CLI_ARGS_state_list=-id=none")
	d.want(0, "init")
	d.want(2, "plan", "word default two words")
	d.want(2, "plan -var=said=typed", "word default typed")
	d.want(0, "apply -auto-approve", "word default nothing")
	if r := d.want(0, "state list"); r.Out != "" {
		t.Errorf("the option for state list has no effect: %s", r.Out)
	}
	d.set("TF_CLI_ARGS=-no-such-option")
	d.want(1, "plan", "no-such-option", "lockstep plan -help")
	d.set(`TF_CLI_ARGS=-var "open`)
	d.want(1, "plan", "TF_CLI_ARGS cannot be split into words", "is not closed")
}

// In automation nobody is told what to type next.
func TestInAutomation(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", placesConfig, "word.txt", "word")
	d.want(0, "init", "You may now begin working")
	d.want(0, "plan -out=tfplan", "lockstep apply")
	d.set("TF_IN_AUTOMATION=1")
	for _, line := range []string{"init", "plan -out=tfplan"} {
		if r := d.want(0, line); strings.Contains(r.Out, "lockstep apply") || strings.Contains(r.Out, "You may now") {
			t.Errorf("%s tells what to type:\n%s", line, r.Out)
		}
	}
}

// TF_INPUT=0 and -input=false keep anybody from being asked; a missing terminal does not, and
// a line that does not end is no answer.
func TestInput(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", placesConfig, "word.txt", "word")
	d.want(0, "init")
	d.want(1, "apply -input=false", "Approval is needed", "-auto-approve")
	d.set("TF_INPUT=0")
	d.want(1, "apply", "Approval is needed")
	d.set("TF_INPUT=1")
	check(t, d.runWith(strings.NewReader("no\n"), "apply"), 1, "apply", "Apply cancelled.")
	check(t, d.runWith(strings.NewReader(""), "apply"), 1, "apply", "Approval could not be read")
	check(t, d.runWith(strings.NewReader("yes"), "apply"), 1, "apply", "Approval could not be read")
	check(t, d.runWith(strings.NewReader("yes\n"), "apply"), 0, "apply", "Apply complete!")
	d.Write("more.tf", "variable \"name\" {}\n")
	check(t, d.runWith(strings.NewReader("x"), "plan"), 1, "plan", "No value for required variable", "TF_VAR_name")
	check(t, d.runWith(strings.NewReader("x\n"), "plan"), 0, "plan", "No changes")
	d.set("TF_VAR_name=x")
	d.want(0, "plan -input=false")
}

// Encryption that is asked for and cannot be had is refused, rather than not done.
func TestEncryptionRefused(t *testing.T) {
	t.Parallel()
	d := environmentDir(t, "main.tf", placesConfig, "word.txt", "word")
	d.want(0, "init")
	d.set("TF_ENCRYPTION=state {\n method = method.aes_gcm.m\n}")
	for _, line := range []string{"init", "plan", "apply -auto-approve", "state list", "output"} {
		d.want(1, line, "Reference to undeclared encryption settings", "TF_ENCRYPTION line 2")
	}
}

// TF_LOG and its relatives say what of the plugins' logs is written, and where.
func TestLog(t *testing.T) {
	t.Parallel()
	d := newLab(t, "main.tf", labConfig)
	d.want(0, "init")
	quiet := d.want(0, "plan")
	if quiet.Stderr != "" {
		t.Errorf("without TF_LOG something is logged:\n%s", quiet.Stderr)
	}
	d.set("TF_LOG_PROVIDER=TRACE")
	if r := d.want(0, "plan"); !strings.Contains(r.Stderr, "provider") || r.Out != quiet.Out {
		t.Errorf("with TF_LOG_PROVIDER=TRACE the log is\n%s\nand the rest\n%s", r.Stderr, r.Out)
	}
	d.set("TF_LOG_PATH=" + d.file("log.txt"))
	if r := d.want(0, "plan"); r.Stderr != "" || !strings.Contains(d.read("log.txt"), "provider") {
		t.Errorf("with TF_LOG_PATH there is still\n%s", r.Stderr)
	}
	d.set("TF_LOG_PROVIDER=off", "TF_LOG_PATH=")
	if r := d.want(0, "plan"); r.Stderr != "" {
		t.Errorf("with TF_LOG_PROVIDER=off there is\n%s", r.Stderr)
	}
	d.set("TF_LOG_PROVIDER=", "TF_LOG=JSON")
	if r := d.want(0, "plan"); !strings.HasPrefix(r.Stderr, "{") {
		t.Errorf("with TF_LOG=JSON the log is\n%s", r.Stderr)
	}
}
