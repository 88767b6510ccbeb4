package testruns

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// checkMocks checks the mocks of the file against the schemas of their providers.
func (f *file) checkMocks(ctx context.Context) (ds diags.Diagnostics) {
	for _, p := range f.Sorted() {
		if p.Mock == nil || len(p.Mock.Objects) == 0 {
			continue
		}
		addr := f.in.Config.Root.ProviderOf(p.Addr.LocalName)
		declared, more := f.in.Base.Providers.Schema(ctx, addr)
		if more.HasErrors() {
			continue // the runs that need it report it
		}
		keys := slices.SortedFunc(maps.Keys(p.Mock.Objects), func(a, b testfiles.ObjectType) int {
			return cmp.Or(cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Type, b.Type))
		})
		for _, k := range keys {
			x := p.Mock.Objects[k]
			if x.Shared {
				continue
			}
			rs := declared.Resource(k.Mode.String(), k.Type)
			if rs == nil {
				ds = append(ds, diags.Errorf(&x.Range, "Mock of an unknown type", "The provider %s has no %s %q.%s Correct the name, or remove the block.", addr.ForDisplay(), word(k.Mode), k.Type, diags.Suggest(k.Type, declared.Names(k.Mode.String())))...)
				continue
			}
			if x.Defaults == cty.NilVal || !x.Defaults.Type().IsObjectType() {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(x.Defaults.Type().AttributeTypes())) {
				if !rs.Block.ImpliedType().HasAttribute(name) {
					ds = append(ds, diags.Warningf(&x.Range, "Mock of an unknown attribute", "The type %q has no attribute %q: the value has no effect. Correct the name, or remove it.", k.Type, name)...)
				}
			}
		}
	}
	return ds
}

// word returns the word for a resource in messages: "data source" or "resource type".
func word(m addrs.ResourceMode) string {
	if m == addrs.Data {
		return "data source"
	}
	return "resource type"
}
