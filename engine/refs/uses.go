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

// FindUses finds the references of a content. What mentions something that does not exist
// is left out.
func FindUses(c *config.Content) *Uses {
	scratch := &Refs{exprs: map[hcl.Expression][]Reference{}, blocks: map[any][]Reference{}}
	a := analysis{r: scratch, content: c, uses: map[addrs.Object][]*Reference{}}
	a.blocks()
	return &Uses{of: a.uses, exprs: scratch.exprs}
}

// Of returns what an object of the content, with its address local, mentions: a variable in
// its validations, a call in count, for_each and depends_on. Import blocks do not count.
func (u *Uses) Of(o addrs.Object) []*Reference { return u.of[o] }

// OfExpr returns what an expression of the content mentions.
func (u *Uses) OfExpr(x hcl.Expression) []Reference { return u.exprs[x] }
