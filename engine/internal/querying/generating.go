package querying

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/generating"
)

// names are the names of the resource blocks that were generated, and that a later block could get, too.
type names map[string]bool

// blocks returns a resource block for an object, and the import block for it. The resource has the name of
// the list block, followed by the key of the block's instance and the number of the object: all_0. If the
// configuration has such a resource already, a further number follows: all_0_1.
func (used names) blocks(root *config.Module, r *request, object, identity cty.Value, n int) (resource, imports string) {
	name := r.block.Name
	if !r.key.IsNone() {
		name += "_" + identifier(r.key.String())
	}
	base := fmt.Sprintf("%s_%d", name, n)
	to := addrs.Resource{Mode: addrs.Managed, Type: r.TypeName, Name: base}
	for i := 1; used[to.Name] || root.Resources[to] != nil; i++ { // keys of two instances may become the same word
		to.Name = fmt.Sprintf("%s_%d", base, i)
	}
	if !r.key.IsNone() || to.Name != base { // else the number makes it unique, however many there are
		used[to.Name] = true
	}
	p := r.block.Provider.String()
	return generating.Block(to, p, r.of.Block, object), generating.Import(to, p, identity)
}

// identifier turns an instance key into a part of a resource name.
func identifier(key string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, key), "_")
}
