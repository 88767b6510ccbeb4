package refs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// Uses are the references in one module's content, as they are written. They have more detail than the graph
// of [Refs].
type Uses struct {
	of    map[addrs.Object][]*Reference
	exprs map[hcl.Expression][]Reference
}

// FindUses finds the references in a module's content. It leaves out references to objects that do not exist.
func FindUses(c *config.Content) *Uses {
	scratch := &Refs{exprs: map[hcl.Expression][]Reference{}, blocks: map[any][]Reference{}, callers: map[*config.Resource]bool{}}
	a := analysis{r: scratch, module: &config.Module{Content: c}, content: c, uses: map[addrs.Object][]*Reference{}}
	a.blocks()
	return &Uses{of: a.uses, exprs: scratch.exprs}
}

// Of returns the references that are written in the object o of the content. The address o is relative to the
// module. For a variable, these are the references in its validations; for a call, the references in count,
// for_each and depends_on. The references of import blocks are left out.
func (u *Uses) Of(o addrs.Object) []*Reference { return u.of[o] }

// OfExpr returns the references of an expression of the content.
func (u *Uses) OfExpr(x hcl.Expression) []Reference { return u.exprs[x] }
