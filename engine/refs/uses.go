package refs

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
)

// Uses are the references of one content as they are written, for those who want more
// than who depends on whom.
type Uses struct {
	of    map[addrs.Object][]*Reference
	exprs map[hcl.Expression][]Reference
}

// FindUses finds the references of a content. Those to objects that do not exist are left out.
func FindUses(c *config.Content) *Uses {
	scratch := &Refs{exprs: map[hcl.Expression][]Reference{}, blocks: map[any][]Reference{}, callers: map[*config.Resource]bool{}}
	a := analysis{r: scratch, module: &config.Module{Content: c}, content: c, uses: map[addrs.Object][]*Reference{}}
	a.blocks()
	return &Uses{of: a.uses, exprs: scratch.exprs}
}

// Of returns the references of an object of the content, by its local address: of a variable in its
// validations, of a call in count, for_each and depends_on. Those of import blocks are left out.
func (u *Uses) Of(o addrs.Object) []*Reference { return u.of[o] }

// OfExpr returns the references of an expression of the content.
func (u *Uses) OfExpr(x hcl.Expression) []Reference { return u.exprs[x] }
