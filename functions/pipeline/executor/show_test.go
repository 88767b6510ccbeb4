package executor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

const showable = `
resource "terraform_data" "a" {
  count = 2
  input = { open = "door-${count.index}", secret = sensitive("correct-horse-battery") }
}
resource "terraform_data" "b" { input = "plain" }
resource "terraform_data" "copy" { input = "it has hunter2hunter2, unmarked" }
output "open" { value = "${terraform_data.b.output}-out" }
output "token" {
  value     = "hunter2hunter2"
  sensitive = true
}
output "long" { value = [for i in range(300) : "element-${i}"] }
`

// TestShow is a table of the commands that show an applied state, each with parts of its answer. No answer has a sensitive value.
func TestShow(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"net/main.tf": showable})
	done := b.apply(b.plan().Plan, true)
	for _, part := range []string{"Outputs: 3\n\n", `open = "plain-out"`, "token = <sensitive>\n", "Objects: 4\n\nterraform_data.a[0]\nterraform_data.a[1]\n"} {
		if !strings.Contains(done.Contents, part) || strings.Contains(done.Contents, "hunter2") {
			t.Errorf("the contents of the state lack %q:\n%s", part, done.Contents)
		}
	}
	for _, test := range []struct {
		verb comment.Verb
		name string
		want []string
	}{
		{comment.Output, "", []string{"total 3, hidden 1", `open = "plain-out"`, "token = <sensitive>", "element-299"}},
		{comment.Output, "open", []string{"total 1, hidden 0", `open = "plain-out"`}},
		{comment.Output, "token", []string{"total 1, hidden 1", "token = <sensitive>"}},
		{comment.Output, "opne", []string{`The state has no output "opne". Did you mean "open"?`}},
		{comment.Show, "", []string{"total 4, hidden 0", "terraform_data.a[0]\nterraform_data.a[1]\nterraform_data.b\nterraform_data.copy\n"}},
		{comment.Show, "terraform_data.a", []string{"total 2, hidden 0", "terraform_data.a[0]\nterraform_data.a[1]\n"}},
		{comment.Show, "terraform_data.a[1]", []string{"total 1, hidden 0", "# terraform_data.a[1]:", "door-1", "(sensitive value)"}},
		{comment.Show, "terraform_data.b", []string{"total 1, hidden 0", `"plain"`}},
		{comment.Show, "terraform_data.copy", []string{"total 1, hidden 0", "it has "}},
		{comment.Show, "terraform_data.c", []string{"The state has no object of terraform_data.c.", `Did you mean "terraform_data.b"?`}},
		{comment.Show, "module.m", []string{"The state has no object of module.m."}},
	} {
		c := comment.Command{Verb: test.verb}
		if test.name != "" {
			c.Arguments = []string{test.name}
		}
		shown, failure, err := b.engine.Show(t.Context(), b.job, c)
		if err != nil {
			t.Fatal(err)
		}
		got := flat(failure)
		if failure == "" {
			got = "total " + fmt.Sprintf("%d, hidden %d\n", shown.Total, shown.Hidden) + shown.Text
		}
		for _, w := range test.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %s, want %q", c, got, w)
			}
		}
		if strings.Contains(got, "horse") || strings.Contains(got, "hunter2") {
			t.Errorf("%s: a secret: %s", c, got)
		}
	}
	b.job = jobs.Unprivileged(b.job, jobs.Snapshot{})
	if _, _, err := b.engine.Show(t.Context(), b.job, comment.Command{Verb: comment.Show}); err == nil {
		t.Error("a job without rights is shown a state")
	}
}
