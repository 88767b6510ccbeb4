package executor

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
)

const horse = "correct-horse-battery-staple"

// secretly is a configuration that uses a secret without keeping it, and that quotes it in errors.
const secretly = `variable "token" {
  type      = string
  sensitive = true
}

variable "fails" {
  default = false
}

resource "terraform_data" "x" {
  input = "made"

  lifecycle {
    precondition {
      condition     = length(var.token) > 20 && !var.fails
      error_message = "The token is ${nonsensitive(var.token)} and ${base64encode(nonsensitive(var.token))}."
    }
  }
}
`

// vaulted is a bench whose job has secrets.
func vaulted(t *testing.T, files map[string]string, values map[string]string) *bench {
	b := newBench(t, files)
	b.engine.Vault = func(context.Context, jobs.Job) (map[string]string, error) { return values, nil }
	return b
}

// found returns the names of the files and the entries of archives in which a text stands.
func found(t *testing.T, dir, text string, more ...[]byte) []string {
	t.Helper()
	var out []string
	look := func(name string, data []byte) {
		if bytes.Contains(data, []byte(text)) {
			out = append(out, name)
		}
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, f := range archive.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			inner, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(inner, []byte(text)) {
				out = append(out, name+":"+f.Name)
			}
		}
	}
	for _, data := range more {
		look("an artifact", data)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		look(path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSecretsAreNowhere holds that a secret reaches the evaluation of a plan and of its apply, where it
// is read again, and is in no report, no saved plan, no state and no other file.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	values := map[string]string{"TF_VAR_token": horse, "TF_VAR_elsewhere": "of another configuration"}
	for _, fails := range []string{"false", "true"} {
		b := vaulted(t, map[string]string{"net/main.tf": secretly, "net/terraform.tfvars": "token = \"short\"\nfails = " + fails + "\n"}, values)
		p := b.plan()
		if (p.Plan == nil) != (fails == "true") || strings.Contains(p.Report, "The token is") != (fails == "true") || strings.Contains(p.Report, "not sensitive") {
			t.Fatal(p.Report)
		}
		if got := found(t, b.parent, horse, p.Plan, []byte(p.Report), []byte(p.Full)); len(got) > 0 {
			t.Errorf("the secret is in %v", got)
		}
		if strings.Contains(p.Report, "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ") {
			t.Errorf("the secret is in the report, encoded: %s", p.Report)
		}
		if p.Plan == nil {
			continue
		}
		values["TF_VAR_token"] = horse + "-changed" // since the plan
		o := b.apply(p.Plan, true)
		if o.Failed || o.Counts.Add != 1 {
			t.Errorf("the apply: %+v", o)
		}
		if got := found(t, b.parent, horse, []byte(o.Report)); len(got) > 0 {
			t.Errorf("after the apply, the secret is in %v", got)
		}
		values["TF_VAR_token"] = horse
	}
	// The saved plan of a variable that is no secret has it: the search finds such things.
	b := newBench(t, map[string]string{"net/main.tf": strings.Replace(secretly, "sensitive = true", "", 1), "net/terraform.tfvars": "token = \"" + horse + "\"\n"})
	if got := found(t, t.TempDir(), horse, b.plan().Plan); len(got) == 0 {
		t.Error("the search finds nothing")
	}
}

// TestSecretsThatAreNotCovered is a table of what people are told.
func TestSecretsThatAreNotCovered(t *testing.T) {
	t.Parallel()
	open := strings.Replace(secretly, "sensitive = true", "", 1)
	b := vaulted(t, map[string]string{"net/main.tf": open}, map[string]string{"TF_VAR_token": horse})
	if p := b.plan(); p.Plan == nil || !strings.Contains(flat(p.Report), "Secret in a variable that is not sensitive on main.tf line 1") || strings.Contains(p.Report, horse) {
		t.Errorf("%+v", p)
	}
	typed := strings.Replace(secretly, "type      = string", "type      = number", 1)
	b = vaulted(t, map[string]string{"net/main.tf": typed}, map[string]string{"TF_VAR_token": "\"" + horse + "\""})
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "set by secrets in lockstep.hcl") || strings.Contains(p.Report, horse) {
		t.Errorf("%+v", p)
	}
	b.engine.Vault = func(context.Context, jobs.Job) (map[string]string, error) {
		return nil, errors.New("the secret TF_VAR_token cannot be read: AccessDenied")
	}
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "A secret of the environment cannot be read The secret TF_VAR_token cannot be read: AccessDenied") {
		t.Errorf("%+v", p)
	}
	// Nobody needs a secret to release a lock.
	if _, err := b.engine.Unlock(t.Context(), b.job); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfPluginsAreHidden holds that a secret which is no variable, and whose name does not tell that it is one, is taken out of
// whatever a plugin says.
func TestSecretsOfPluginsAreHidden(t *testing.T) {
	t.Parallel()
	o := &checkout{engine: &Engine{}, vault: secretVariables{"DATABASE": "postgres://" + horse}}
	if got := o.secrets(nil, nil).From("cannot connect to postgres://" + horse + ": refused"); strings.Contains(got, horse) || !strings.HasPrefix(got, "cannot connect") {
		t.Error(got)
	}
}
