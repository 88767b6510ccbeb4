package planning

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/internal/jsonscan"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Most objects of a plan do not change. The plan of such an object is the object itself, in the prior state. So
// the plan keeps neither a second object nor a decoded value, which has several times the memory of its text.
// What needs a value decodes it: see [plans.ResourceChange.Decoded] and [expanded.collected].

// mayLeave reports whether the plan need not keep a second object for an instance, nor its value. A plan that
// destroys or only refreshes uses all values. A current object is compared with the deposed ones of its
// instance. An object with another provider configuration is written anew.
func (b *block) mayLeave(a addrs.ResourceInstanceObject) bool {
	return b.p.in.Mode == plans.NormalMode && b.r != nil && a.Deposed == addrs.NotDeposed && b.p.prior.Alone(a.Instance, b.pc)
}

// leave removes the values from a no-op of the instance, unless people see them: those of objects that are
// imported or moved.
func (x *instance) leave(c *plans.ResourceChange) {
	_, moved := x.p.moved.Origins[x.addr]
	if moved || x.imported || !x.mayLeave(c.Addr) {
		return
	}
	c.Unchanged = x.p.prior.Object(c.Addr)
	c.Before, c.After = cty.NilVal, cty.NilVal
	x.unchanged = true
}

// sameObject reports whether the object next, which was made from the stored object o, says the same, and is
// also written alike.
func sameObject(o, next *states.Object) bool {
	return len(o.AttrsJSON) > 0 && len(o.AttrsJSON) == len(next.AttrsJSON) && &o.AttrsJSON[0] == &next.AttrsJSON[0] &&
		o.Status == next.Status && o.SchemaVersion == next.SchemaVersion && o.Dependencies == next.Dependencies &&
		o.CreateBeforeDestroy == next.CreateBeforeDestroy && o.SkipDestroy == next.SkipDestroy &&
		o.Identity.Version == next.Identity.Version && bytes.Equal(o.Identity.JSON, next.Identity.JSON) && bytes.Equal(o.Private, next.Private) &&
		slices.EqualFunc(o.Sensitive, next.Sensitive, cty.Path.Equals)
}

// dependencyText has the dependencies of a block as a state file lists them, and knows which lists of the state
// are spelt alike.
type dependencyText struct {
	once sync.Once
	text []byte   // without white space
	same sync.Map // the results of stores, by *states.Dependencies
}

// stores reports whether a list of dependencies from the state is the list of the block, in the same order. Then
// the object can keep its list. Most objects of a block share one list, which is compared once.
func (b *block) stores(stored *states.Dependencies) bool {
	own := b.p.deps.Stored(b.cr)
	if own == stored || stored.Encoded() == nil {
		return own == stored
	}
	if is, ok := b.listed.same.Load(stored); ok {
		return is.(bool)
	}
	b.listed.once.Do(func() {
		names := make([]string, 0, 8)
		for _, x := range own.All() {
			names = append(names, `"`+x.String()+`"`)
		}
		b.listed.text = []byte("[" + strings.Join(names, ",") + "]")
	})
	is := bytes.Equal(jsonscan.AppendCompact(nil, stored.Encoded()), b.listed.text)
	b.listed.same.Store(stored, is)
	return is
}
