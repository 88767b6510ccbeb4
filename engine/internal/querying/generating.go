package querying

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/generating"
)

// names are the names of the resource blocks that were generated for one list block.
type names map[string]bool

// blocks returns a resource block for an object, and the import block for it. The resource has the name of
// the list block, followed by the key of the block's instance and the number of the object: all_0.
func (used names) blocks(r *request, object, identity cty.Value, n int) (resource, imports string) {
	name := r.block.Name
	if !r.key.IsNone() {
		name += "_" + identifier(r.key.String())
	}
	base := fmt.Sprintf("%s_%d", name, n)
	name = base
	for i := 1; used[name]; i++ { // keys of two instances may become the same word
		name = fmt.Sprintf("%s_%d", base, i)
	}
	if !r.key.IsNone() { // else the number makes it unique, however many there are
		used[name] = true
	}
	to := addrs.Resource{Mode: addrs.Managed, Type: r.TypeName, Name: name}
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
