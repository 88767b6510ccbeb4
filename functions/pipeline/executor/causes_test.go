package executor

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github"
)

// edited returns the files whose content differs, with their patches as GitHub lists them.
func edited(t *testing.T, before, after map[string]string) (out []github.FileChange) {
	t.Helper()
	out = []github.FileChange{}
	dir := t.TempDir()
	write := func(at string, files map[string]string) {
		(&bench{t: t, job: benchJob(filepath.Join(dir, at))}).write(files)
	}
	for name, text := range after {
		if before[name] == text {
			continue
		}
		write("a", map[string]string{name: before[name]})
		write("b", map[string]string{name: text})
		git := exec.Command("git", "diff", "--no-index", "a/"+name, "b/"+name)
		git.Dir = dir
		text, _ := git.Output() // the exit code says that the files differ
		_, hunks, _ := strings.Cut(string(text), "\n@@ ")
		out = append(out, github.FileChange{Path: name, Patch: strings.TrimSuffix("@@ "+hunks, "\n")})
	}
	return out
}

func noteLines(notes []comment.LineNote) string {
	var b strings.Builder
	for _, n := range notes {
		fmt.Fprintf(&b, "%s %s:%d-%d %s: %s\n", n.Level, n.Path, n.Line, n.Last, n.Title, strings.ReplaceAll(n.Message, "\n", " / "))
	}
	return b.String()
}

// TestCausesOfAPlan holds that a plan's notes are on the lines of the head commit that cause its changes: in the
// project, in a module beside it, in a variable file and in lockstep.hcl.
func TestCausesOfAPlan(t *testing.T) {
	before := map[string]string{
		"net/main.tf": `variable "size" {}
variable "team" {}
variable "key" {
  sensitive = true
}
resource "terraform_data" "a" {
  input = "${var.size}-${var.team}"
}
resource "terraform_data" "secret" {
  input            = var.key
  triggers_replace = "one"
}
module "m" {
  source = "../modules/m"
}
`,
		"modules/m/main.tf": "locals {\n  text = \"old\"\n}\nresource \"terraform_data\" \"m\" {\n  input = local.text\n}\n",
		"envs/prod.tfvars":  "size = \"s\"\nkey  = \"hunter2-one\"\n",
		"lockstep.hcl":      "project \"net\" {\n  variables = {\n    team = \"core\"\n  }\n}\n",
	}
	after := map[string]string{
		"net/main.tf":       strings.Replace(before["net/main.tf"], `"one"`, `"two"`, 1),
		"modules/m/main.tf": strings.Replace(before["modules/m/main.tf"], `"old"`, "\"new | `x` **b**\"", 1),
		"envs/prod.tfvars":  "size = \"l\"\nkey  = \"hunter2-two\"\n",
		"lockstep.hcl":      strings.Replace(before["lockstep.hcl"], `"core"`, `"edge"`, 1),
	}
	b := newBench(t, before)
	b.job.VarFiles = []string{"envs/prod.tfvars"}
	b.job.Variables = map[string]json.RawMessage{"team": json.RawMessage(`"core"`)}
	first := b.plan()
	if o := b.apply(first.Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	b.write(after)
	b.job.Variables["team"] = json.RawMessage(`"edge"`)
	if res := b.plan(); res.Notes != nil {
		t.Errorf("notes without changed lines: %v", res.Notes)
	}
	b.job.Edited = edited(t, before, after)
	// The base branch has moved the lines of one file: notes have the line numbers of the head.
	b.write(map[string]string{"net/main.tf": "# a\n# b\n" + after["net/main.tf"]})
	res := b.plan()
	want := `warning net/main.tf:11-11 Replaces terraform_data.secret: replaces terraform_data.secret: triggers_replace "one" -> "two" forces it
notice envs/prod.tfvars:1-1 Updates terraform_data.a: updates terraform_data.a: input "s-core" -> "l-edge" (var.size)
notice envs/prod.tfvars:2-2 Replaces terraform_data.secret: replaces terraform_data.secret: input (sensitive value) -> (sensitive value) (var.key)
notice lockstep.hcl:3-3 Updates terraform_data.a: updates terraform_data.a: input "s-core" -> "l-edge" (var.team)
notice modules/m/main.tf:2-2 Updates module.m.terraform_data.m: updates module.m.terraform_data.m: input "old" -> "new | ` + "`x`" + ` **b**" (local.text)
`
	if diff := cmp.Diff(want, noteLines(res.Notes)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if strings.Contains(res.Report, "not caused") {
		t.Errorf("everything has a cause:\n%s", res.Report)
	}
	b.job.Edited = []github.FileChange{}
	if res = b.plan(); len(res.Notes) != 0 || !strings.Contains(res.Report, "3 changes are not caused by a line of this pull request: `terraform_data.a`, `terraform_data.secret`, `module.m.terraform_data.m` have changes that were there before") {
		t.Errorf("%v\n%s", res.Notes, res.Report)
	}
}

// TestNotesOfErrors holds that errors are shown beside their lines, on the line numbers of the head.
func TestNotesOfErrors(t *testing.T) {
	before := map[string]string{"net/main.tf": "locals {\n  a = 1\n}\n"}
	after := map[string]string{"net/main.tf": "locals {\n  a = 1\n  b = local.c\n}\n"}
	b := newBench(t, before)
	b.job.Edited = edited(t, before, after)
	b.write(map[string]string{"net/main.tf": "# a\n" + after["net/main.tf"]})
	if got := noteLines(b.plan().Notes); !strings.HasPrefix(got, " net/main.tf:3-3 Reference to undeclared local value: ") {
		t.Error(got)
	}
}
