package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// A demoUnit is a unit of the story about Terragrunt. In that story this program takes the place of Terragrunt, which the
// demo cannot bring along. It knows only the commands that Lockstep gives, and only what the story's units have:
//
//	terraform { source = "../modules/x" }
//	dependency "x" { config_path = "../x" }
//	inputs = { range = dependency.x.outputs.range }
//
// The state of a unit is in the bucket in the file "bucket" at the top of the repository.
type demoUnit struct {
	dir, source string
	on          map[string]string // config_path by name
	inputs      hcl.Expression
}

// prepareUnits does the work of Terragrunt. It returns the exit code.
func prepareUnits(args []string, out, errs io.Writer) int {
	var err error
	switch {
	case slices.Contains(args, "find"):
		err = listUnits(out)
	case slices.Contains(args, "render"):
		err = renderUnits(args[slices.Index(args, "--out")+1])
	default:
		err = planUnit()
	}
	if err != nil {
		fmt.Fprintln(errs, "error", err)
		return 1
	}
	return 0
}

// readUnit reads the unit in a directory.
func readUnit(dir string) (u demoUnit, err error) {
	src, err := os.ReadFile(filepath.Join(dir, terragrunt.FileName))
	if err != nil {
		return u, err
	}
	f, ds := parsing.Config(src, terragrunt.FileName)
	if ds.HasErrors() {
		return u, ds
	}
	content, ds := f.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "inputs"}}, Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}, {Type: "dependency", LabelNames: []string{"name"}}}})
	if ds.HasErrors() {
		return u, ds
	}
	u = demoUnit{dir: dir, on: map[string]string{}}
	if a := content.Attributes["inputs"]; a != nil {
		u.inputs = a.Expr
	}
	for _, b := range content.Blocks {
		attrs, _ := b.Body.JustAttributes()
		for _, a := range attrs {
			v, ds := a.Expr.Value(nil)
			if ds.HasErrors() || v.Type() != cty.String {
				return u, errors.Join(ds, fmt.Errorf("%s: write a text", a.Range))
			}
			if b.Type == "terraform" {
				u.source = v.AsString()
			} else {
				u.on[b.Labels[0]] = v.AsString()
			}
		}
	}
	return u, nil
}

// allUnits returns the units in and below the working directory.
func allUnits() (all []demoUnit, err error) {
	dirs, _, err := terragrunt.Dirs(".")
	for _, dir := range dirs {
		u, broken := readUnit(dir)
		if broken != nil {
			return nil, broken
		}
		all = append(all, u)
	}
	return all, err
}

func listUnits(out io.Writer) error {
	all, err := allUnits()
	list := []any{}
	for _, u := range all {
		var on []string
		for _, at := range u.on {
			on = append(on, filepath.Join(u.dir, at))
		}
		list = append(list, map[string]any{"type": "unit", "path": u.dir, "dependencies": on})
	}
	return errors.Join(err, json.NewEncoder(out).Encode(list))
}

// backendOf returns the arguments of the backend of the unit in a directory of a repository.
func backendOf(top, dir string) (map[string]any, error) {
	bucket, err := os.ReadFile(filepath.Join(top, "bucket"))
	return map[string]any{
		"bucket": strings.TrimSpace(string(bucket)), "key": filepath.ToSlash(dir) + "/terraform.tfstate", "region": "eu-west-1", "use_lockfile": true,
		"skip_credentials_validation": true, "skip_requesting_account_id": true,
	}, err
}

func renderUnits(name string) error {
	all, err := allUnits()
	for _, u := range all {
		backend, failed := backendOf(".", u.dir)
		data, broken := json.Marshal(map[string]any{"terraform": map[string]any{"source": u.source}, "remote_state": map[string]any{"backend": "s3", "config": backend}})
		err = errors.Join(err, failed, broken, os.WriteFile(filepath.Join(u.dir, name), data, 0o600))
	}
	return err
}

// planUnit prepares the unit in the working directory, and has Terraform plan it.
func planUnit() error {
	u, err := readUnit(".")
	if err != nil {
		return err
	}
	outputs := map[string]cty.Value{}
	for name, at := range u.on {
		cmd := exec.Command(os.Getenv("TG_TF_PATH"), "output", "-json")
		cmd.Dir = at
		data, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("outputs of %s: %w", at, err)
		}
		var all map[string]struct{ Type, Value json.RawMessage }
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
		values := map[string]cty.Value{}
		for name, o := range all {
			t, err := ctyjson.UnmarshalType(o.Type)
			if err != nil {
				return err
			}
			if values[name], err = ctyjson.Unmarshal(o.Value, t); err != nil {
				return err
			}
		}
		outputs[name] = cty.ObjectVal(map[string]cty.Value{"outputs": cty.ObjectVal(values)})
	}
	inputs, ds := u.inputs.Value(&hcl.EvalContext{Variables: map[string]cty.Value{"dependency": cty.ObjectVal(outputs)}})
	if ds.HasErrors() {
		return ds
	}
	work := filepath.Join(terragrunt.Cache, "a", "b")
	if err := os.CopyFS(work, os.DirFS(u.source)); err != nil {
		return err
	}
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return err
	}
	repository := strings.TrimSpace(string(top))
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := filepath.Rel(repository, here)
	if err != nil {
		return err
	}
	backend, err := backendOf(repository, dir)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"terraform": map[string]any{"backend": map[string]any{"s3": backend}}})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "backend.tf.json"), data, 0o600); err != nil {
		return err
	}
	cmd := exec.Command(os.Getenv("TG_TF_PATH"), "plan")
	cmd.Dir, cmd.Env = work, os.Environ()
	for name, v := range inputs.AsValueMap() {
		cmd.Env = append(cmd.Env, "TF_VAR_"+name+"="+v.AsString())
	}
	return cmd.Run()
}

// terragruntName is the name of the tool in the story.
const terragruntName = requirements.TerragruntTool
