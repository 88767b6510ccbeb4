package program

import (
	"testing"
)

// A refresh that finds nothing has nothing to apply, also where an attribute is sensitive, or an object has a number
// that a plugin sends as such.
func TestRefreshOnlyFindsNothing(t *testing.T) {
	t.Parallel()
	const lab = "terraform {\n  required_providers {\n    lab = { source = \"lockstep/lab\" }\n  }\n}\n"
	d := newLab(t, "main.tf", lab+"resource \"lab_thing\" \"a\" {\n  name   = \"a\"\n  secret = \"s\"\n}\n")
	d.want(0, "init")
	d.want(0, "apply -auto-approve")
	d.want(0, "plan -refresh-only -detailed-exitcode", "No changes.")
	d.Write("main.tf", lab+"resource \"lab_thing\" \"a\" {\n  name = \"a\"\n  size = 3\n}\n")
	d.want(0, "apply -auto-approve")
	d.want(0, "plan -refresh-only -detailed-exitcode", "No changes.")
}
