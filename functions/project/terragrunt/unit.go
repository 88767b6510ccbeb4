// Package terragrunt understands what Terragrunt prints about the units of a repository. A unit is a directory with a
// terragrunt.hcl.
//
//	terragrunt find --json --dependencies --reading    which units there are, and which files they read
//	terragrunt render --json                           a unit with all values, in a file of its own
//
// This package is pure. It does not run Terragrunt (package functions/pipeline/subprocess does), and does not know
// projects. Start reading at [Read].
package terragrunt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/lockstep-iac/lockstep/engine/parsing"
)

// A Unit is a directory with a terragrunt.hcl. Paths are slash-separated and relative to the repository's root.
type Unit struct {
	Dir string
	// Reads are the files that Terragrunt reads for the unit, sorted: included files, files of
	// read_terragrunt_config, and the configuration files of its module. "**" means that it may read any file.
	Reads []string `json:",omitempty"`
	// DependsOn are the directories of the units that the unit names in dependency and dependencies blocks, sorted.
	DependsOn []string `json:",omitempty"`
	// Source is the directory of the unit's module. It is "" if the module is not in the repository. If the
	// unit names no source, Source is Dir.
	Source string `json:",omitempty"`
	// Remote is the source of the unit's module, in Terragrunt's form, if the module is not in the repository.
	Remote string `json:",omitempty"`
	// Backend is the type of the backend that the unit configures, and Config its arguments as JSON. Backend is ""
	// if the unit configures none: its module may have a backend block.
	Backend string                     `json:",omitempty"`
	Config  map[string]json.RawMessage `json:",omitempty"`
	// Generates is set if the unit has generate blocks, so its module may need no files.
	Generates bool `json:",omitempty"`
	// Excluded is set if an exclude block takes the unit out of plans.
	Excluded bool `json:",omitempty"`
	// Digest is a digest of everything that Terragrunt has evaluated for the unit, without the outputs of other
	// units. It is "" if Terragrunt could not evaluate the unit.
	Digest string `json:",omitempty"`
	// Problem is the reason, for people, if Terragrunt cannot evaluate the unit.
	Problem string `json:",omitempty"`
}

// FileName is the name of the file that makes a directory a unit, and StackName that of a file that generates units.
const (
	FileName  = "terragrunt.hcl"
	StackName = "terragrunt.stack.hcl"
)

// Cache is the name of the directories in which Terragrunt prepares working copies. They are never files of a commit.
const Cache = ".terragrunt-cache"

// StackDir is the name of the directory in which Terragrunt generates the units of a stack.
const StackDir = ".terragrunt-stack"

// Name returns the name of the project of a unit: its directory, without the directories that Terragrunt makes for stacks.
func (u Unit) Name() string {
	parts := slices.DeleteFunc(strings.Split(u.Dir, "/"), func(p string) bool { return p == StackDir })
	return path.Join(parts...)
}

// Generated reports whether Terragrunt has generated the unit from a stack.
func (u Unit) Generated() bool { return slices.Contains(strings.Split(u.Dir, "/"), StackDir) }

// An Output is what Terragrunt has printed about a repository.
type Output struct {
	// Root is the absolute path of the repository.
	Root string
	// Find is the standard output of "terragrunt find".
	Find []byte
	// Rendered are the evaluated units as JSON, by directory.
	Rendered map[string][]byte
	// Errors are the messages of "terragrunt render".
	Errors string
	// Backends are generated files with the backends of units that cannot be evaluated without the outputs of others, by
	// directory.
	Backends map[string]string
	// Dirs are all directories with a terragrunt.hcl.
	Dirs []string
}

// found is a unit in the output of "terragrunt find".
type found struct {
	Type         string   `json:"type"`
	Path         string   `json:"path"`
	Dependencies []string `json:"dependencies"`
	Reading      []string `json:"reading"`
}

// rendered is a unit in the output of "terragrunt render".
type rendered struct {
	Terraform *struct {
		Source string `json:"source"`
	} `json:"terraform"`
	RemoteState *struct {
		Backend string                     `json:"backend"`
		Config  map[string]json.RawMessage `json:"config"`
	} `json:"remote_state"`
	Generate map[string]struct {
		Path     string `json:"path"`
		Contents string `json:"contents"`
		Disable  bool   `json:"disable"`
	} `json:"generate"`
	Exclude *struct {
		If      bool     `json:"if"`
		Actions []string `json:"actions"`
	} `json:"exclude"`
}

// Read returns the units of a repository, sorted by directory. The error is for people.
func Read(o Output) ([]Unit, error) {
	var list []found
	if err := json.Unmarshal(o.Find, &list); err != nil {
		return nil, fmt.Errorf("Terragrunt has not printed a list of units: %w", err)
	}
	byDir, templates := map[string]Unit{}, map[string]bool{}
	for _, f := range list {
		if f.Type != "unit" {
			continue
		}
		if !fs.ValidPath(path.Clean(f.Path)) {
			continue // programs of a unit can write into Terragrunt's output
		}
		u := Unit{Dir: path.Clean(f.Path), Reads: inside(f.Reading), DependsOn: inside(f.Dependencies)}
		o.evaluate(&u)
		if !u.Generated() && strings.Contains(u.Problem, template) {
			templates[u.Dir] = true
			continue
		}
		byDir[u.Dir] = u
	}
	for _, dir := range o.Dirs {
		if _, ok := byDir[dir]; !ok && !templates[dir] && !o.included(dir, byDir) {
			byDir[dir] = Unit{Dir: dir, Problem: "Terragrunt does not list it as a unit. Units that depend on each other in a circle are not listed: remove one of their dependency blocks"}
		}
	}
	var out []Unit
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		out = append(out, byDir[dir])
	}
	return out, nil
}

// template is a part of Terragrunt's error about a unit that only stacks use, so that the unit itself
// has no values.
const template = `There is no variable named "values"`

// included reports whether a unit includes the terragrunt.hcl of a directory, which therefore is no unit.
func (o Output) included(dir string, all map[string]Unit) bool {
	for _, u := range all {
		if slices.Contains(u.Reads, path.Join(dir, FileName)) {
			return true
		}
	}
	return false
}

// evaluate completes a unit from what Terragrunt has evaluated.
func (o Output) evaluate(u *Unit) {
	data, ok := o.Rendered[u.Dir]
	var r rendered
	if ok {
		if err := json.Unmarshal(data, &r); err != nil {
			u.Problem = fmt.Sprintf("Terragrunt has not printed JSON for it: %s", err)
			return
		}
	}
	if !ok {
		if u.Problem = o.problem(*u); strings.Contains(u.Problem, unknownValue) {
			o.guess(u)
		}
		return
	}
	sum := sha256.Sum256([]byte(strings.ReplaceAll(string(data), o.Root, "")))
	u.Digest = hex.EncodeToString(sum[:16])
	u.Source = u.Dir
	if r.Terraform != nil && r.Terraform.Source != "" {
		if u.Source = o.local(u.Dir, r.Terraform.Source); u.Source == "" {
			u.Remote = r.Terraform.Source
		}
	}
	if x := r.Exclude; x != nil {
		u.Excluded = x.If && slices.ContainsFunc(x.Actions, func(a string) bool { return a == "all" || a == "all_except_output" || a == "plan" })
	}
	if r.RemoteState != nil {
		u.Backend, u.Config = r.RemoteState.Backend, r.RemoteState.Config
		maps.DeleteFunc(u.Config, func(name string, _ json.RawMessage) bool { return slices.Contains(bootstrapping, name) })
	}
	u.Generates = len(r.Generate) > 0
	for _, name := range slices.Sorted(maps.Keys(r.Generate)) {
		if g := r.Generate[name]; u.Backend == "" && !g.Disable && strings.HasSuffix(g.Path, ".tf") {
			u.Backend, u.Config = backendIn(g.Path, g.Contents)
		}
	}
}

// unknownValue is a part of the error about a generated file that contains the output of another unit.
const unknownValue = "value must be known"

// NeedsOutputs returns the directories of the units that cannot be evaluated without the outputs of others.
func (o Output) NeedsOutputs() (dirs []string, err error) {
	all, err := Read(o)
	for _, u := range all {
		if strings.Contains(u.Problem, unknownValue) {
			dirs = append(dirs, u.Dir)
		}
	}
	return dirs, err
}

// guess completes a unit that cannot be evaluated without the outputs of others, if its backend is known. The unit then
// counts as one that may read any file of the repository.
func (o Output) guess(u *Unit) {
	contents, ok := o.Backends[u.Dir]
	if !ok {
		return
	}
	u.Problem, u.Source = "", u.Dir
	u.Backend, u.Config = backendIn("backend.tf", contents)
	for _, name := range u.Reads {
		if strings.HasSuffix(name, ".tf") {
			u.Source = path.Dir(name)
			break
		}
	}
	u.Reads = append(u.Reads, "**")
}

// bootstrapping are the arguments of a remote_state block that tell Terragrunt how to make the bucket. They are no
// arguments of the backend.
// Source: https://docs.terragrunt.com/reference/hcl/blocks#remote_state
var bootstrapping = []string{
	"s3_bucket_tags", "dynamodb_table_tags", "accesslogging_bucket_tags", "skip_bucket_versioning", "skip_bucket_ssencryption", "skip_bucket_accesslogging",
	"skip_bucket_root_access", "skip_bucket_enforced_tls", "skip_bucket_public_access_blocking", "disable_bucket_update", "enable_lock_table_ssencryption",
	"accesslogging_bucket_name", "accesslogging_target_object_partition_date_source", "accesslogging_target_prefix", "skip_accesslogging_bucket_acl",
	"skip_accesslogging_bucket_enforced_tls", "skip_accesslogging_bucket_public_access_blocking", "skip_accesslogging_bucket_ssencryption",
	"bucket_sse_algorithm", "bucket_sse_kms_key_id", "disable_aws_client_checksums",
}

// local returns the directory of a module in the repository; "" if the source is elsewhere.
// Source: https://docs.terragrunt.com/reference/hcl/blocks#terraform
func (o Output) local(dir, source string) string {
	at := strings.Replace(source, "//", "/", 1)
	switch {
	case strings.HasPrefix(source, o.Root+"/"):
		at = strings.TrimPrefix(at, o.Root+"/")
	case source == "." || source == ".." || strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../"):
		at = path.Join(dir, at)
	default:
		return ""
	}
	if at = path.Clean(at); at == ".." || strings.HasPrefix(at, "../") {
		return ""
	}
	return at
}

// backendIn returns the backend in a generated file, and its arguments. Arguments that are no constants are left out.
func backendIn(name, contents string) (string, map[string]json.RawMessage) {
	f, ds := parsing.Config([]byte(contents), name)
	if ds.HasErrors() || f == nil {
		return "", nil
	}
	top, _, _ := f.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "terraform"}}})
	for _, t := range top.Blocks {
		in, _, _ := t.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "backend", LabelNames: []string{"type"}}}})
		for _, b := range in.Blocks {
			out := map[string]json.RawMessage{}
			attrs, _ := b.Body.JustAttributes()
			for name, a := range attrs {
				v, ds := a.Expr.Value(nil)
				if data, err := ctyjson.Marshal(v, v.Type()); err == nil && !ds.HasErrors() {
					out[name] = data
				}
			}
			return b.Labels[0], out
		}
	}
	return "", nil
}

// inside returns the paths that are in the repository, sorted.
func inside(all []string) (out []string) {
	for _, p := range all {
		if p = path.Clean(p); !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// problem returns why Terragrunt has not evaluated a unit: the first message about one of its files.
func (o Output) problem(u Unit) string {
	for line := range strings.Lines(o.Errors) {
		line = strings.ReplaceAll(strings.TrimSpace(line), o.Root+"/", "")
		_, text, ok := strings.Cut(line, "error ")
		if !ok {
			text = line
		}
		for _, name := range append([]string{path.Join(u.Dir, FileName)}, u.Reads...) {
			if strings.HasPrefix(text, name+":") {
				return "Terragrunt cannot evaluate it: " + strings.TrimSuffix(text, ".")
			}
		}
	}
	for line := range strings.Lines(o.Errors) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "error "); ok {
			return "Terragrunt cannot evaluate it: " + strings.ReplaceAll(text, o.Root+"/", "")
		}
	}
	return "Terragrunt cannot evaluate it"
}
