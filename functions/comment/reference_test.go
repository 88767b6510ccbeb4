package comment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// TestReference generates the documentation's page of commands that are not understood: each kind of problem has an example.
func TestReference(t *testing.T) {
	t.Parallel()
	examples := []string{
		"lockstep plan -x", "lockstep plan -var-file=x.tfvars", "lockstep plan net", "lockstep apply -auto-approve", "lockstep apply -destroy", "lockstep unlock -var x=y", "lockstep plan -p",
		"lockstep plan --failed=no", "lockstep plan -p a -p b", "lockstep plan -target=a.b -exclude=c.d", "lockstep help -p a", "lockstep lock", "lockstep import aws_instance.web", "lockstep lock --reason \"\"",
		"lockstep plan -target=web", "lockstep invoke aws_instance.web", "lockstep plan -var x", "lockstep plan -refresh=maybe", "lockstep apply 123", "lockstep apply 1234567 7654321", "lockstep plan -w $(id)", "lockstep import aws_instance.web " + strings.Repeat("x", 2000),
		"lockstep plan 'a", "lockstep plan -p a\u202eb", "lockstep deploy", "lockstep", "`lockstep plan`", "lockstep plan -p " + strings.Repeat("x", 5000), "atlantis plan", "atlantis approve_policies",
		strings.Join(numbered("lockstep plan -p x%d\n", 11), ""), "lockstep plan" + strings.Join(numbered(" -target=a.b%d", 51), ""),
	}
	found := map[grammar.Kind][]string{}
	for _, x := range examples {
		lines := grammar.Parse(x)
		l := lines[len(lines)-1]
		if l.Problem.IsZero() {
			t.Errorf("%q is understood", x)
		}
		found[l.Problem.Kind] = append(found[l.Problem.Kind], Misunderstood{l}.markdown())
	}
	var b strings.Builder
	b.WriteString("# Messages: commands that are not understood\n\nThis page lists the answers to comments that are like a command, and that Lockstep cannot read.\n\n" +
		"Lockstep does nothing then. Write the corrected command in a new comment: an edited comment is not read again. [Commands in comments](comments.md) has all commands and options.\n")
	var kinds []grammar.Kind
	for kind := range problemWords {
		kinds = append(kinds, kind)
	}
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(append(kinds, grammar.Foreign)))) {
		if found[kind] == nil {
			t.Errorf("%s has no example", kind)
		}
		for _, x := range found[kind] {
			fmt.Fprintf(&b, "\n> %s\n", x)
		}
	}
	golden.File(t, "../../cmd/docs/reference/not-understood.md", b.String())
}

// numbered returns a text with the numbers from 1 to n.
func numbered(format string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, i+1))
	}
	return out
}
