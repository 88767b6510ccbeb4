package encryptionpolicy

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// tree reads files from text: a line "-- NAME" begins each.
func tree(text string) fstest.MapFS {
	out := fstest.MapFS{}
	for _, part := range strings.Split(text, "-- ")[1:] {
		name, content, _ := strings.Cut(part, "\n")
		out[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

const sealed = `-- net/main.tf
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "${local.secret}-${terraform.workspace}"
      iterations = 200000
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method = method.aes_gcm.m
    }
  }
}
locals {
  secret = var.secret
}
variable "secret" {
  default   = "of-the-default"
  sensitive = true
}
`

// literal is the same with a literal passphrase.
func literal(passphrase string) string {
	return strings.ReplaceAll(sealed, "${local.secret}-${terraform.workspace}", passphrase)
}

// net is the project of a tree.
var net = project.Project{Name: "net", Dir: "net", Workspace: "default", VarFiles: []string{"vars/prod.tfvars"}, Encrypts: true}

// TestValues is a table of base commits, and of the passphrase by their values, the last of which wins.
func TestValues(t *testing.T) {
	t.Parallel()
	const files = sealed + "-- net/terraform.tfvars\nsecret = \"of-a-file\"\n-- net/sub/x.auto.tfvars\nsecret = \"of-no-file\"\n"
	const named = files + "-- vars/prod.tfvars\nsecret = \"of-a-named-file\"\n-- vars/other.auto.tfvars\nsecret = \"of-no-file\"\n"
	for name, c := range map[string]struct {
		files              string
		variables, secrets string // of secret
		want               string
	}{
		"default":      {files: sealed, want: "of-the-default-default"},
		"file":         {files: files, want: "of-a-file-default"},
		"named file":   {files: named, want: "of-a-named-file-default"},
		"lockstep.hcl": {files: named, variables: `"of-lockstep.hcl"`, want: "of-lockstep.hcl-default"},
		"secret":       {files: named, variables: `"of-lockstep.hcl"`, secrets: "of-the-environment", want: "of-the-environment-default"},
	} {
		p := net
		if c.variables != "" {
			p.Variables = map[string]json.RawMessage{"secret": json.RawMessage(c.variables)}
		}
		in := Input{Base: readBase(t, c.files, p), Workspace: "default", Secrets: inputs.Source{Origin: inputs.FromEnvironment, Literals: map[string]string{}}}
		if c.secrets != "" {
			in.Secrets.Literals["secret"] = c.secrets
		}
		got, ds := in.Ciphers()
		want, more := Input{Base: readBase(t, literal(c.want), net)}.Ciphers()
		if ds.HasErrors() || more.HasErrors() {
			t.Fatal(name, ds, more)
		}
		if d := encrypting.Compare(got.Set, want.Set); d.Any() || got.Set.State() == nil {
			t.Errorf("%s: another passphrase", name)
		}
		if len(got.Sensitive) != 1 || got.Sensitive[0].AsString()+"-default" != c.want {
			t.Errorf("%s: sensitive: %#v", name, got.Sensitive)
		}
	}
}

func readBase(t *testing.T, files string, p project.Project) Base {
	t.Helper()
	b, err := Read(tree(files), p, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	// As it is after its way to another process.
	data, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var out Base
	if err := json.Unmarshal(data, &out); err != nil || out.Size() != b.Size() {
		t.Fatal(err)
	}
	return out
}

// TestMistakes is a table of base commits whose encryption cannot be used, and of a part of the errors.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ files, environment, want string }{
		"a file":                 {strings.ReplaceAll(sealed, "= var.secret", "= file(\"key\")"), "", "permission denied"},
		"no value":               {strings.ReplaceAll(sealed, "  default   = \"of-the-default\"\n", ""), "", "Variable has no value"},
		"broken":                 {sealed + "resource {\n", "", "main.tf (base branch)"},
		"twice":                  {sealed + "-- net/b.tf\n" + sealed[strings.Index(sealed, "terraform"):], "", "Duplicate encryption configuration"},
		"an output of resources": {strings.ReplaceAll(sealed, "= var.secret", "= terraform_data.a.id"), "", "not known early enough"},
		"in the environment":     {sealed, "state {\n  method = method.aes_gcm.x\n}\n", "no block for method.aes_gcm.x"},
	} {
		got, ds := Input{Base: readBase(t, c.files, net), Workspace: "default", Environment: c.environment}.Ciphers()
		text := ds.Error()
		for _, d := range ds {
			if d.Subject != nil {
				text += " " + d.Subject.Filename
				if got.Files[d.Subject.Filename] == nil && d.Subject.Filename != encrypting.Variable {
					t.Errorf("%s: no file %s to show", name, d.Subject.Filename)
				}
			}
		}
		if !ds.HasErrors() || got.Set != nil || !strings.Contains(text, c.want) || !strings.Contains(text, "The encryption of the base branch cannot be used") {
			t.Errorf("%s: %s", name, text)
		}
		if strings.Contains(text, "of-the-default") {
			t.Errorf("%s: the passphrase is shown: %s", name, text)
		}
	}
}

// TestWithoutBlock holds that the environment counts by itself, and that a base with errors and without a
// block has none.
func TestWithoutBlock(t *testing.T) {
	t.Parallel()
	const body = "key_provider \"pbkdf2\" \"k\" {\n  passphrase = \"of-the-environment\"\n}\nmethod \"aes_gcm\" \"m\" {\n  keys = key_provider.pbkdf2.k\n}\nstate {\n  method = method.aes_gcm.m\n}\n"
	for name, b := range map[string]Base{"no project": {}, "broken": readBase(t, "-- net/main.tf\nresource {\n", net)} {
		if got, ds := (Input{Base: b}).Ciphers(); ds.HasErrors() || got.Set != nil {
			t.Errorf("%s: %v, %v", name, got.Set, ds)
		}
		if got, ds := (Input{Base: b, Environment: body}).Ciphers(); ds.HasErrors() || got.Set.State() == nil {
			t.Errorf("%s: %v, %v", name, got.Set, ds)
		}
	}
	if b := readBase(t, "-- net/main.tf\nresource \"x\" \"a\" {}\n", project.Project{Dir: "net"}); b.Size() != 0 {
		t.Errorf("%+v", b)
	}
}

// TestRead holds which files travel, and how many bytes of them.
func TestRead(t *testing.T) {
	t.Parallel()
	files := tree(sealed + `-- net/more.tofu
-- net/x.auto.tfvars
-- net/README.md
-- net/.hidden.tf
-- net/sub/main.tf
-- vars/prod.tfvars
secret = "a"
-- vars/other.tfvars
`)
	b, err := Read(files, net, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range b.Files {
		names = append(names, name)
	}
	if d := cmp.Diff(map[string]bool{"main.tf": true, "more.tofu": true, "x.auto.tfvars": true, "//vars/prod.tfvars": true}, set(names)); d != "" {
		t.Error(d)
	}
	if _, err := Read(files, net, b.Size()); err != nil {
		t.Error(err)
	}
	if _, err := Read(files, net, b.Size()-1); !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "vars/prod.tfvars") {
		t.Error(err)
	}
}

func set(names []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}
