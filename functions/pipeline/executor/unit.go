package executor

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider/builtin"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/project/terragrunt"
)

// If the directory of a project is a unit of Terragrunt, Terragrunt first prepares a working copy: the unit's module with
// the generated files, and values of variables. The engine plans and applies the working copy as it does any directory.
//
// Terragrunt gets the outputs of the units on which the unit depends, as Terraform would print them. Outputs that are not
// known before the apply of another project are texts that nobody can guess. In the values of variables, they become
// unknown values again; everywhere else, such a text is an error.
//
// An apply prepares the unit once more. It goes on only if the working copy and the values are those of the plan.

// A unit is the unit of a checkout, as Terragrunt has prepared it.
type unit struct {
	jobs.PreparedUnit
	unknown string   // the beginning of texts in the place of unknown outputs
	root    string   // the directory with all copied files
	given   []string // values of variables in extra_arguments: NAME=VALUE
}

// prepareUnit prepares the unit of the job, if there is one. The working copy becomes the job's directory.
func (o *checkout) prepareUnit(ctx context.Context) (diags.Diagnostics, error) {
	if o.job.Unit == nil || o.job.Access == jobs.Tests {
		return nil, nil
	}
	if o.engine.PrepareUnit == nil {
		return diags.Errorf(nil, "Terragrunt cannot run here", "The directory %s is a unit of Terragrunt, which this deployment cannot run. Run `lockstep deploy` to update the deployment.", o.job.Dir), nil
	}
	u := &unit{unknown: "lockstep-unknown-" + strings.ToLower(rand.Text())}
	outputs, ds := o.unitOutputs(ctx, u)
	if ds.HasErrors() {
		return ds, nil
	}
	// A commit may have anything in the place of a working copy.
	if err := o.root.RemoveAll(path.Join(o.job.Dir, terragrunt.Cache)); err != nil {
		return diags.FromError("Terragrunt cannot prepare the unit", err), nil
	}
	from, ds, err := o.fetchSource(ctx)
	if err != nil || ds.HasErrors() {
		return ds, err
	}
	if u.PreparedUnit, err = o.engine.PrepareUnit(ctx, o.job, from, outputs); err != nil {
		return nil, err
	}
	if u.Problem != "" {
		shown := regexp.MustCompile(u.unknown+`-[\w-]*`).ReplaceAllString(u.Problem, "(known after apply)")
		return diags.Errorf(nil, "Terragrunt cannot prepare the unit", "%s", shown), nil
	}
	u.root = path.Dir(u.Dir)
	if cache := path.Join(o.job.Dir, terragrunt.Cache) + "/"; strings.HasPrefix(u.Dir, cache) {
		parts := strings.Split(strings.TrimPrefix(u.Dir, cache), "/")
		u.root = cache + path.Join(parts[:min(2, len(parts))]...)
	}
	if ds := u.known(o.root.FS()); ds.HasErrors() {
		return ds, nil
	}
	ds = o.unitOptions(u)
	o.unit, o.job.Dir = u, u.Dir
	return ds, nil
}

// fetchSource installs the module of the unit, if the module is not in the checkout. It does so in the same way as for a
// module call: with the permissions of the base branch, and without running a program. It returns the source for
// Terragrunt.
func (o *checkout) fetchSource(ctx context.Context) (string, diags.Diagnostics, error) {
	address, version := terragrunt.ModuleSource(o.job.Unit.Remote)
	if address == "" || o.engine.Modules == nil {
		return "", nil, nil
	}
	if strings.HasPrefix(address, ".") || strings.HasPrefix(address, "/") {
		return "", diags.Errorf(nil, "Source outside of the repository", "The source of the unit is %q, which is not in the repository. Correct the source in %s.", address, path.Join(o.job.Dir, terragrunt.FileName)), nil
	}
	f := hclwrite.NewEmptyFile()
	call := f.Body().AppendNewBlock("module", []string{unitModule}).Body()
	call.SetAttributeValue("source", cty.StringVal(address))
	if version != "" {
		call.SetAttributeValue("version", cty.StringVal(version))
	}
	at := path.Join(o.job.Dir, terragrunt.Cache, "source")
	if err := errors.Join(o.root.MkdirAll(at, 0o700), o.root.WriteFile(path.Join(at, "main.tf"), f.Bytes(), 0o600)); err != nil {
		return "", nil, err
	}
	dir := filepath.Join(o.job.Checkout, filepath.FromSlash(at))
	cfg, ds, err := o.engine.Modules(budget.With(ctx, o.Budget), o.job, dir, source.FS(o.root.FS(), at), o.early(), o.vault.token, moduleEnv(o))
	if err != nil || cfg == nil || cfg.Root == nil || cfg.Root.Children[unitModule] == nil {
		return "", append(ds, diags.Errorf(nil, "The module of the unit cannot be fetched", "Terragrunt's source is %q. Correct the source in %s.", o.job.Unit.Remote, path.Join(o.job.Dir, terragrunt.FileName))...), err
	}
	// Here, the variables of the module have no values. The errors about them do not matter.
	top := path.Join(dataDir, "modules", unitModule)
	below := strings.TrimPrefix(strings.TrimPrefix(cfg.Root.Children[unitModule].Dir, top), "/")
	if top = filepath.Join(dir, filepath.FromSlash(top)); below == "" {
		return top, nil, nil
	}
	return top + "//" + below, nil, nil
}

// unitModule is the name of the module call by which the module of a unit is installed.
const unitModule = "unit"

// unitOutputs returns the outputs of the units on which the unit of the job depends, by their directories. A text takes
// the place of outputs that cannot be read: Terragrunt fails with it only if it needs them.
func (o *checkout) unitOutputs(ctx context.Context, u *unit) (jobs.UnitOutputs, diags.Diagnostics) {
	out := jobs.UnitOutputs{}
	if len(o.job.Unit.Linked) == 0 || !rights(o) {
		return out, nil
	}
	env, ds := o.environment(ctx)
	if ds.HasErrors() {
		return nil, ds
	}
	o.env = env
	for dir, name := range o.job.Unit.Linked {
		i := slices.IndexFunc(o.job.Linked, func(l jobs.Linked) bool { return l.Project == name })
		if i < 0 {
			continue
		}
		from := o.job.Linked[i]
		if from.Nowhere != "" {
			out[dir] = unreadable(name, from.Nowhere)
			continue
		}
		found, err := readerOf(o).Outputs(ctx, "project."+name, from.Place)
		if errors.Is(err, builtin.ErrNoState) {
			continue // Without an entry, Terragrunt uses mock outputs, or reports that there are no outputs.
		}
		if err != nil {
			out[dir] = unreadable(name, err.Error())
			continue
		}
		data, err := u.encode(found)
		if err != nil {
			return nil, diags.FromError("The outputs of the unit "+dir+" cannot be passed to Terragrunt", err)
		}
		out[dir] = data
	}
	return out, nil
}

// unreadable returns the text that Terragrunt gets in the place of a project's outputs.
func unreadable(name, why string) json.RawMessage {
	data, _ := json.Marshal(fmt.Sprintf("the outputs of the project %q cannot be read: %s", name, strings.TrimSuffix(why, ".")))
	return data
}

// encode returns outputs in the form of "terraform output -json".
func (u *unit) encode(all map[string]states.Output) (json.RawMessage, error) {
	type output struct {
		Sensitive bool            `json:"sensitive"`
		Type      json.RawMessage `json:"type"`
		Value     json.RawMessage `json:"value"`
	}
	out := map[string]output{}
	for name, o := range all {
		v := marks.Plain(o.Value)
		data, err := json.Marshal(u.plain(v, name))
		if err != nil {
			return nil, err
		}
		t := v.Type()
		if !v.IsWhollyKnown() {
			if t, err = ctyjson.ImpliedType(data); err != nil {
				return nil, err
			}
		}
		form, err := ctyjson.MarshalType(t)
		if err != nil {
			return nil, err
		}
		out[name] = output{o.Sensitive, form, data}
	}
	return json.Marshal(out)
}

// plain returns a value in the form for package json. A text takes the place of each unknown part.
func (u *unit) plain(v cty.Value, name string) any {
	switch {
	case !v.IsKnown():
		return u.unknown + "-" + name
	case v.IsNull():
		return nil
	case v.IsWhollyKnown():
		data, err := ctyjson.Marshal(v, v.Type())
		if err != nil {
			return nil
		}
		return json.RawMessage(data)
	case v.Type().IsMapType() || v.Type().IsObjectType():
		out := map[string]any{}
		for key, e := range v.AsValueMap() {
			out[key] = u.plain(e, name)
		}
		return out
	default:
		var out []any
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			out = append(out, u.plain(e, name))
		}
		return out
	}
}

// known returns an error if a file of the working copy contains an unknown output.
func (u *unit) known(repository fs.FS) (ds diags.Diagnostics) {
	_ = fs.WalkDir(repository, u.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ds.HasErrors() || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxGenerated {
			return nil
		}
		data, err := fs.ReadFile(repository, name)
		if err != nil {
			return nil
		}
		if _, rest, ok := bytes.Cut(data, []byte(u.unknown+"-")); ok {
			ds = diags.Errorf(nil, "Output is not known yet", "The file %s, which Terragrunt generates, contains the output %q of a unit. This output is known only after that unit is applied. Apply the unit first, then comment \"lockstep plan\".", path.Base(name), identifier(rest))
		}
		return nil
	})
	return ds
}

// maxGenerated is the maximum size of a file in which unknown outputs are looked for, in bytes. Terragrunt generates small
// files.
const maxGenerated = 1 << 20

// identifier returns the name at the beginning of a text.
func identifier(text []byte) string {
	end := bytes.IndexFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(text)
	}
	return string(text[:end])
}

// source returns the values of variables that Terragrunt passes.
func (u *unit) source() inputs.Source {
	s := inputs.Source{Origin: inputs.FromEnvironment, Literals: map[string]string{}, Expressions: map[string]hcl.Expression{}, By: "by the inputs of the unit"}
	for name, text := range u.Variables {
		if !strings.Contains(text, u.unknown) {
			s.Literals[name] = text
			continue
		}
		s.Expressions[name] = hcl.StaticExpr(u.value(text), hcl.Range{})
	}
	return s
}

// value returns the value of a variable whose text contains an unknown output.
func (u *unit) value(text string) cty.Value {
	t, err := ctyjson.ImpliedType([]byte(text))
	if err != nil || !t.IsObjectType() && !t.IsTupleType() {
		return cty.DynamicVal
	}
	v, err := ctyjson.Unmarshal([]byte(text), t)
	if err != nil {
		return cty.DynamicVal
	}
	v, err = cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if v.Type() == cty.String && !v.IsNull() && strings.Contains(v.AsString(), u.unknown) {
			return cty.DynamicVal, nil
		}
		return v, nil
	})
	if err != nil {
		return cty.DynamicVal
	}
	return v
}

// harmless are options of "plan" and "init" by extra_arguments that change nothing in Lockstep's plan.
var harmless = []string{"input", "no-color", "compact-warnings", "lock", "lock-timeout", "parallelism", "refresh", "detailed-exitcode", "json", "out", "get", "reconfigure", "upgrade", "migrate-state", "force-copy", "backend", "plugin-dir", "lockfile"}

// unitOptions adds the arguments that Terragrunt passes to the job: files and values of variables, and arguments of the
// backend. Options that Lockstep does not obey are errors.
func (o *checkout) unitOptions(u *unit) (ds diags.Diagnostics) {
	files := []string{}
	for name, value := range optionsIn(slices.Concat(u.Arguments, u.Init)) {
		switch {
		case name == "var-file":
			at, err := filepath.Rel(o.job.Checkout, value)
			if !filepath.IsAbs(value) {
				at, err = path.Join(u.Dir, value), nil
			}
			if at = filepath.ToSlash(at); err != nil || at == ".." || strings.HasPrefix(at, "../") {
				ds = append(ds, diags.Errorf(nil, "File outside of the repository", "Terragrunt passes the option -var-file=%s, whose file is not in the repository. Correct extra_arguments.", value)...)
				continue
			}
			files = append(files, at)
		case name == "var":
			u.given = append(u.given, value)
		case name == "backend-config":
			key, text, ok := strings.Cut(value, "=")
			if !ok {
				ds = append(ds, diags.Errorf(nil, "Unsupported option of Terragrunt", "Terragrunt passes the option -backend-config=%s. Lockstep reads values only. Write the arguments into the remote_state block.", value)...)
				continue
			}
			if _, set := o.job.BackendConfig[key]; !set {
				o.job.BackendConfig = maps.Clone(o.job.BackendConfig)
				if o.job.BackendConfig == nil {
					o.job.BackendConfig = map[string]json.RawMessage{}
				}
				o.job.BackendConfig[key], _ = json.Marshal(text)
			}
		case name == "refresh" && value == "false" || !slices.Contains(harmless, name):
			ds = append(ds, diags.Errorf(nil, "Unsupported option of Terragrunt", "Terragrunt passes the option -%s, which Lockstep does not obey. Remove it from extra_arguments. Comment it instead: `lockstep plan` has the option, too, if pull requests may use it.", name)...)
		}
	}
	o.job.VarFiles = append(files, o.job.VarFiles...)
	return ds
}

// optionsIn returns the options among arguments, with their values. An option of Terraform and its value can be two
// arguments.
func optionsIn(args []string) func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for i := 0; i < len(args); i++ {
			name, value, ok := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
			if !ok && slices.Contains([]string{"var", "var-file", "backend-config"}, name) && i+1 < len(args) {
				i++
				value = args[i]
			}
			if !yield(name, value) {
				return
			}
		}
	}
}

// original returns the path of a file of the commit from which a file of the working copy was copied. ok is false if
// there is none.
func (o *checkout) original(name string) (at string, ok bool) {
	if o.unit == nil || !strings.HasPrefix(name+"/", o.unit.root+"/") {
		return name, true
	}
	source := o.job.Unit.Source
	if source == "" {
		return "", false
	}
	rel, err := filepath.Rel(o.unit.Dir, name)
	if err != nil {
		return "", false
	}
	at = path.Join(source, filepath.ToSlash(rel))
	_, err = fs.Lstat(o.root.FS(), at)
	return at, err == nil
}

// unitDiffers returns an error if the working copy, or the values of variables, differ from those in the plan to apply.
func (o *checkout) unitDiffers(planned map[string]cty.Value) diags.Diagnostics {
	if o.unit == nil {
		return nil
	}
	var what []string
	later := map[string][]byte{}
	for name, f := range o.merged.config.Files {
		later[name] = f.Bytes
	}
	if !maps.EqualFunc(o.merged.planned, later, bytes.Equal) {
		what = append(what, "files that Terragrunt generates")
	}
	for _, name := range slices.Sorted(maps.Keys(o.merged.variables)) {
		was, ok := planned[name]
		if now := o.merged.variables[name]; ok && was.IsWhollyKnown() && !marks.Plain(now).RawEquals(marks.Plain(was)) {
			what = append(what, "the variable "+name)
		}
	}
	if what == nil {
		return nil
	}
	return diags.Errorf(nil, "Terragrunt prepares something else now", "Since the plan, this has changed: %s. Comment \"lockstep plan -p %s\" for a new plan. If this happens each time, make the unit evaluate to the same values each time: do not use timestamp(), or hooks and run_cmd whose results differ.", strings.Join(what, ", "), o.job.Project)
}
