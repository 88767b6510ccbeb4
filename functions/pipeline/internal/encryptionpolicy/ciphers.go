package encryptionpolicy

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/early"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/internal/encrypting"
)

// Input is a Base, together with the values that the environment gives to its variables.
type Input struct {
	Base      Base
	Workspace string
	// Environment is the value of the environment variable that [encrypting.Variable] names. Secrets are the values of
	// those variables of the configuration that are set by secrets.
	Environment string
	Secrets     inputs.Source
	// KMS and Refuse are as in [encrypting.Input].
	KMS    encrypting.KMS
	Refuse func(argument string) string
	Budget *budget.Budget
}

// Ciphers are the ciphers that the encryption block of a [Base] defines.
type Ciphers struct {
	Set *encrypting.Set
	// Files are the files that diagnostics may quote. Their names say that they are files of the base branch.
	Files map[string]*hcl.File
	// Sensitive are the values of sensitive and ephemeral variables.
	Sensitive []cty.Value
}

// Ciphers evaluates the encryption block, and returns the ciphers that it defines.
func (in Input) Ciphers() (Ciphers, diags.Diagnostics) {
	b := &block{Input: in, out: Ciphers{Files: map[string]*hcl.File{}}}
	read := encrypting.Input{Environment: in.Environment, KMS: in.KMS, Refuse: in.Refuse}
	read.Evaluate = func(e hcl.Expression) (cty.Value, hcl.Diagnostics) { return e.Value(nil) }
	if root, ds := b.load(); ds.HasErrors() {
		return b.out, b.theirs(ds)
	} else if root != nil {
		read.Blocks = root.Encryption
		read.Evaluate = b.evaluator(root)
	}
	set, ds := encrypting.Read(read)
	b.out.Set = set
	return b.out, b.theirs(ds)
}

// A block is an encryption block that is being evaluated.
type block struct {
	Input
	out Ciphers
}

// load reads the root module. It returns nil if the project has no encryption block.
func (b *block) load() (*config.Module, diags.Diagnostics) {
	if len(b.Base.Files) == 0 {
		return nil, nil
	}
	files, mentioned := map[string][]byte{}, false
	for name, src := range b.Base.Files {
		if loading.IsFile(name) && path.Dir(name) == "." {
			files[name] = src
			mentioned = mentioned || bytes.Contains(src, []byte("encryption"))
		}
	}
	cfg, ds := loading.Load(loading.Input{Tree: source.Files(files), RootOnly: true, Budget: b.Budget})
	b.out.Files = cfg.Files
	switch {
	case !cfg.Root.Broken:
		return cfg.Root, nil
	case !mentioned:
		return nil, nil // a pull request that fixes the errors can be planned
	}
	return nil, ds
}

// evaluator returns the function that evaluates the expressions in the encryption block. root is the root
// module.
func (b *block) evaluator(root *config.Module) func(hcl.Expression) (cty.Value, hcl.Diagnostics) {
	sources := b.sources()
	values, _ := inputs.Values(root.Content, sources)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if v := root.Variables[name]; v.Sensitive || v.Ephemeral {
			b.out.Sensitive = append(b.out.Sensitive, values[name])
		}
	}
	evaluate := early.New(early.Input{Workspace: b.Workspace, Secrets: true, Budget: b.Budget, Sources: func() []inputs.Source { return sources }})
	return func(e hcl.Expression) (cty.Value, hcl.Diagnostics) {
		if config.IsLiteral(e) {
			return e.Value(nil)
		}
		return evaluate(root, e)
	}
}

// sources returns the sources of the variables' values, in the order in which a plan of the base branch reads
// them. A mistake in a source is reported for each variable that has no value because of it.
func (b *block) sources() []inputs.Source {
	var out []inputs.Source
	add := func(origin inputs.Origin, name string) {
		if src, ok := b.Base.Files[name]; ok {
			s, _ := inputs.File(origin, name, src)
			out = append(out, s)
		}
	}
	for _, name := range inputs.AutoFiles(slices.Collect(maps.Keys(b.Base.Files))) {
		if !strings.HasPrefix(name, "//") {
			add(inputs.FromAutoFile, name)
		}
	}
	for _, name := range b.Base.VarFiles {
		add(inputs.FromNamedFile, named(name))
	}
	if s, err := inputs.Settings("by variables in lockstep.hcl", b.Base.Variables); err == nil {
		out = append(out, s)
	}
	return append(out, b.Secrets)
}

// Branch is appended to the names of files on the base branch, for people.
const Branch = " (base branch)"

// theirs adds [Branch] to the file names in diagnostics, because the files of the pull request have the same
// names. It also removes the values of expressions, which may be secret.
func (b *block) theirs(ds diags.Diagnostics) diags.Diagnostics {
	files := map[string]*hcl.File{}
	for name, f := range b.out.Files {
		files[name+Branch] = f
	}
	b.out.Files = files
	failed := ds.HasErrors()
	for i := range ds {
		ds[i].Subject, ds[i].Context = theirs(ds[i].Subject), theirs(ds[i].Context)
		ds[i].Expression, ds[i].EvalContext = nil, nil
	}
	if failed && len(b.Base.Files) > 0 {
		ds = append(ds, diags.Errorf(nil, "The encryption of the base branch cannot be used",
			"Until a pull request is merged, its states and plans are encrypted as the base branch says, with the values that stand there: defaults and files of variables, lockstep.hcl, and secrets of the environment. Nothing was read or written. Correct the base branch in a pull request of its own, or have the environment set what is missing.")...)
	}
	return ds
}

func theirs(at *hcl.Range) *hcl.Range {
	if at == nil || at.Filename == encrypting.Variable {
		return at
	}
	out := *at
	out.Filename += Branch
	return &out
}
