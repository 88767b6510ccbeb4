package provisioning_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/provisioning"
)

func decode(t *testing.T, name, text string) cty.Value {
	t.Helper()
	f, hs := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	if hs.HasErrors() {
		t.Fatal(hs)
	}
	v, ds := provisioning.Schema(name).Decode(f.Body, nil)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return v
}

// TestLocalExec lists what blocks ask for.
func TestLocalExec(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, block string
		want        provisioning.Command
	}{
		{"a shell runs it", `command = "echo a"`,
			provisioning.Command{Text: "echo a", Args: []string{"/bin/sh", "-c", "echo a"}}},
		{"by an interpreter", "command = \"print(1)\"\ninterpreter = [\"python3\", \"-c\"]",
			provisioning.Command{Text: "print(1)", Args: []string{"python3", "-c", "print(1)"}}},
		{"with a directory, quietly", "command = \"a\"\nworking_dir = \"sub\"\nquiet = true",
			provisioning.Command{Text: "a", Args: []string{"/bin/sh", "-c", "a"}, Dir: "sub", Quiet: true}},
		{"with an environment, without what is null", "command = \"a\"\nenvironment = { B = 2, A = \"x\", C = null }",
			provisioning.Command{Text: "a", Args: []string{"/bin/sh", "-c", "a"}, Env: []string{"A=x", "B=2"}}},
	} {
		got, err := provisioning.LocalExec(decode(t, "local-exec", c.block))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
	if _, err := provisioning.LocalExec(decode(t, "local-exec", `command = ""`)); err == nil {
		t.Error("an empty command is accepted")
	}
}

// TestCheck lists which arguments go together.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provisioner, block string
		ok                 bool
	}{
		{"remote-exec", `inline = ["a"]`, true},
		{"remote-exec", `script = "a"`, true},
		{"remote-exec", `scripts = ["a", "b"]`, true},
		{"remote-exec", "", false},
		{"remote-exec", "inline = [\"a\"]\nscript = \"a\"", false},
		{"file", "destination = \"/x\"\nsource = \"x\"", true},
		{"file", "destination = \"/x\"\ncontent = \"\"", true},
		{"file", `destination = "/x"`, false},
		{"file", "destination = \"/x\"\nsource = \"x\"\ncontent = \"x\"", false},
		{"local-exec", `command = "a"`, true},
	} {
		if err := provisioning.Check(c.provisioner, decode(t, c.provisioner, c.block)); (err == nil) != c.ok {
			t.Errorf("%s { %s }: %v", c.provisioner, c.block, err)
		}
	}
}

// TestTail keeps the end of what is added.
func TestTail(t *testing.T) {
	t.Parallel()
	var tail provisioning.Tail
	for range 10000 {
		tail.Add("line")
	}
	tail.Add("the end")
	if got := tail.String(); len(got) > 8<<10 || !strings.HasSuffix(got, "line\nthe end\n") {
		t.Errorf("%d bytes, ending %q", len(got), got[max(0, len(got)-20):])
	}
}
