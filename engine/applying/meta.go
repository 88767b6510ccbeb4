package applying

import (
	"context"

	"github.com/zclconf/go-cty/cty"
)

// meta returns what the module sends along to the provider; cty.NilVal for nothing. Planning has
// found what is wrong with it.
func (x *object) meta(ctx context.Context) cty.Value {
	v, ds := x.a.s.Meta(ctx, x.r, x.c.Provider.Provider, x.c.Addr.Instance)
	x.a.report(ds)
	if ds.HasErrors() {
		return cty.NilVal
	}
	return v
}
