package generating

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
)

// Import returns the import block for the object with the given identity, which must be known. provider is the
// block's provider argument, as in [Block]. Null attributes are left out. Attributes whose names are no
// identifiers are also left out.
func Import(to addrs.Resource, provider string, identity cty.Value) string {
	w := &writer{}
	w.line(0, "import {")
	w.line(2, "to = %s", to)
	if provider != "" {
		w.line(2, "provider = %s", provider)
	}
	w.line(2, "identity = {")
	attrs := identity.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if v := attrs[name]; !v.IsNull() && hclsyntax.ValidIdentifier(name) {
			w.line(4, "%s = %s", key(cty.StringVal(name)), literal(v))
		}
	}
	w.line(2, "}")
	w.line(0, "}")
	return strings.TrimSuffix(string(hclwrite.Format([]byte(w.String()))), "\n")
}
