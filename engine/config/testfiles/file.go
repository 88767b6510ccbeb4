package testfiles

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// A File is one test file.
type File struct {
	// Variables are the values that the runs give to variables, unless they have some of their own;
	// nil if there is no such block.
	Variables map[string]hcl.Expression
	Providers map[addrs.LocalProviderConfig]*Provider
	Overrides []*Override
	Runs      []*Run // in their order

	name      string // its path from the root module's directory
	providers []*Provider
}

var overrideBlocks = []hcl.BlockHeaderSchema{{Type: overrideResource}, {Type: overrideData}, {Type: overrideModule}}

var fileSchema = &hcl.BodySchema{Blocks: append([]hcl.BlockHeaderSchema{
	{Type: "run", LabelNames: []string{"name"}},
	{Type: "variables"},
	{Type: "provider", LabelNames: []string{"name"}},
	{Type: "mock_provider", LabelNames: []string{"name"}},
}, overrideBlocks...)}

// decodeFile reads a test file, whose path from the root module's directory is name.
func decodeFile(name string, body hcl.Body) (*File, hcl.Diagnostics) {
	f := &File{name: name, Providers: map[addrs.LocalProviderConfig]*Provider{}}
	r := &reader{}
	seen, overridden, runs := map[string]hcl.Range{}, overridden{}, map[string]hcl.Range{}
	for _, b := range r.content(body, fileSchema).Blocks {
		switch b.Type {
		case "variables":
			if r.once(seen, b, "test file") {
				f.Variables = r.variables(b)
			}
		case "provider":
			f.addProvider(r, r.provider(b), b)
		case "mock_provider":
			f.addProvider(r, r.mockProvider(b), b)
		case "run":
			x := r.run(b)
			if old, twice := runs[x.Name]; twice {
				r.errorf(&x.Range, `Duplicate "run" block names`, "There is a run %q at %s already. Other runs refer to a run by its name, so that it must be the only one of that name in its file.", x.Name, old)
				continue
			}
			runs[x.Name] = x.Range
			f.Runs = append(f.Runs, x)
		default:
			if o := r.override(b); overridden.first(r, o, b) {
				f.Overrides = append(f.Overrides, o)
			}
		}
	}
	return f, r.diags
}

// addProvider adds a provider configuration unless there is one of its name.
func (f *File) addProvider(r *reader, p *Provider, b *hcl.Block) {
	if old := f.Providers[p.Addr]; old != nil {
		r.errorf(&p.Range, "Duplicate provider block", "The test file has a configuration of %s at %s already, real or mocked. Give one of them another alias.", p.Addr, old.named)
		return
	}
	p.named = b.LabelRanges[0]
	f.Providers[p.Addr] = p
	f.providers = append(f.providers, p)
}
