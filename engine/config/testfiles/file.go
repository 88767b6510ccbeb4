package testfiles

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/decoding"
)

// A File is one test file.
type File struct {
	Name string // its path from the root module's directory
	// Variables are the values that the runs give to variables, unless a run has its own value. It is nil if
	// there is no variables block.
	Variables map[string]hcl.Expression
	// Declared are the variables that expressions of the file may refer to, in addition to those with a value
	// in Variables.
	Declared map[string]*config.Variable
	// Parallel reports that runs may run at the same time, unless a run says otherwise.
	Parallel  bool
	Providers map[addrs.LocalProviderConfig]*Provider
	Overrides []*Override
	Runs      []*Run // in their order

	providers []*Provider
}

var overrideBlocks = []hcl.BlockHeaderSchema{{Type: overrideResource}, {Type: overrideData}, {Type: overrideModule}}

var fileSchema = &hcl.BodySchema{Blocks: append([]hcl.BlockHeaderSchema{
	{Type: "run", LabelNames: []string{"name"}},
	{Type: "variables"},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "test"},
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "mock_provider", LabelNames: []string{"name"}},
}, overrideBlocks...)}

var testSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "parallel"}}}

// decodeFile reads a test file. name is its path relative to the root module's directory, registry the host of
// module sources without a host.
func decodeFile(name string, body hcl.Body, registry string) (*File, hcl.Diagnostics) {
	f := &File{Name: name, Providers: map[addrs.LocalProviderConfig]*Provider{}, Declared: map[string]*config.Variable{}}
	r := &reader{registry: registry}
	// In OpenTofu, runs may have the same name. A reference to it means the last one that has finished.
	tofu := registry == addrs.OpenTofuRegistryHost || strings.Contains(path.Base(name), ".tofutest.")
	seen, overridden, runs := map[string]hcl.Range{}, overridden{}, map[string]*Run{}
	for _, b := range r.content(body, fileSchema).Blocks {
		switch b.Type {
		case "variables":
			if r.once(seen, b, "test file") {
				f.Variables = r.variables(b)
			}
		case "variable":
			v, ds := decoding.Variable(b)
			r.add(ds)
			if old := f.Declared[b.Labels[0]]; old != nil {
				r.errorf(&b.DefRange, "Duplicate variable declaration", "The test file declares the variable %q at %s already.", b.Labels[0], old.Range)
			} else if v != nil {
				f.Declared[v.Name] = v
			}
		case "test":
			if r.once(seen, b, "test file") {
				r.literal(r.content(b.Body, testSchema).Attributes["parallel"], &f.Parallel)
			}
		case "provider":
			f.addProvider(r, r.provider(b), b)
		case "mock_provider":
			f.addProvider(r, r.mockProvider(b), b)
		case "run":
			x := r.run(b)
			old, twice := runs[x.Name]
			switch {
			case twice && !tofu:
				r.errorf(&x.Range, `Duplicate "run" block names`, "There is a run %q at %s already. Other runs refer to a run by its name, so that it must be the only one of that name in its file.", x.Name, old.Range)
				continue
			case twice && old.Module != nil && x.Module != nil && old.Module.Address.String() != x.Module.Address.String():
				r.errorf(&x.Module.Range, "Different modules in runs of one name", "The run %q at %s has the module %q. A module is installed under the name of its run: give one of the two runs another name.", x.Name, old.Range, old.Module.Address)
				continue
			}
			if !twice || x.Module != nil {
				runs[x.Name] = x
			}
			f.Runs = append(f.Runs, x)
		default:
			if o := r.override(b); overridden.first(r, o, b) {
				f.Overrides = append(f.Overrides, o)
			}
		}
	}
	for _, x := range f.Runs {
		if x.parallel == nil {
			x.parallel = &f.Parallel
		}
	}
	return f, r.diags
}

// addProvider adds a provider configuration. If there is already one with its name, addProvider reports an
// error.
func (f *File) addProvider(r *reader, p *Provider, b *hcl.Block) {
	if old := f.Providers[p.Addr]; old != nil {
		r.errorf(&p.Range, "Duplicate provider block", "The test file has a configuration of %s at %s already, real or mocked. Give one of them another alias.", p.Addr, old.named)
		return
	}
	p.named = b.LabelRanges[0]
	f.Providers[p.Addr] = p
	f.providers = append(f.providers, p)
}
