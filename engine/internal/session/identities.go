package session

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// DecodeIdentity returns the identity of a stored object, upgraded by its provider to the current identity
// schema; cty.NilVal if the object or its type has none.
func (s *Session) DecodeIdentity(ctx context.Context, c provider.Client, addr addrs.AbsResourceInstance, rs *schema.Schema, o *states.Object) (cty.Value, diags.Diagnostics) {
	if rs.Identity == nil || o.Identity.JSON == nil {
		return cty.NilVal, nil
	}
	if o.Identity.Version > rs.Identity.Version {
		return cty.NilVal, diags.Errorf(nil, "Resource instance managed by newer provider version",
			"The state has the identity of %s in version %d, which a newer version of the provider wrote. The selected version of the provider knows version %d. Select a newer version of the provider: change its version constraint, then run \"lockstep init -upgrade\".",
			addr, o.Identity.Version, rs.Identity.Version)
	}
	if o.Identity.Version == rs.Identity.Version {
		v, err := storedIdentity(rs, o)
		if err != nil {
			return cty.NilVal, diags.FromError("Invalid identity in the state", fmt.Errorf("%s: %w", addr, err))
		}
		return v, nil
	}
	v, ds := c.UpgradeIdentity(ctx, provider.UpgradeIdentityRequest{TypeName: addr.Resource.Resource.Type, Version: o.Identity.Version, JSON: o.Identity.JSON})
	if ds.HasErrors() {
		return cty.NilVal, ds
	}
	return v, append(ds, checkIdentity(v, rs, addr, "when it upgraded the stored one")...)
}

// StoredIdentity returns the identity of an object that was written with the current identity schema;
// cty.NilVal if there is none.
func (s *Session) StoredIdentity(rs *schema.Schema, o *states.Object) cty.Value {
	if o == nil || rs.Identity == nil || o.Identity.JSON == nil || o.Identity.Version != rs.Identity.Version {
		return cty.NilVal
	}
	v, err := storedIdentity(rs, o)
	if err != nil {
		return cty.NilVal // planning has reported the error already
	}
	return v
}

func storedIdentity(rs *schema.Schema, o *states.Object) (cty.Value, error) {
	v, err := rs.Identity.JSON().Parse(o.Identity.JSON)
	if err == nil && v.IsNull() {
		v = cty.NilVal
	}
	return v, err
}

// checkIdentity returns errors about an identity that a provider has returned. The parameter when is the end
// of the error's sentence, such as "when it was read".
func checkIdentity(v cty.Value, rs *schema.Schema, addr fmt.Stringer, when string) diags.Diagnostics {
	if v == cty.NilVal {
		return nil
	}
	problem := ""
	if errs := v.Type().TestConformance(rs.Identity.Type()); len(errs) > 0 {
		problem = Describe(errs[0])
	} else if !v.IsWhollyKnown() {
		problem = "it has unknown values"
	}
	if problem == "" {
		return nil
	}
	return diags.Errorf(nil, "Provider produced invalid identity",
		"The provider gave an invalid identity for %s %s: %s.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.", addr, when, problem)
}

// EncodeIdentity returns the identity to store with an object. If the provider returned none (cty.NilVal), it
// returns previous, the identity that the object had before (zero for a new object), so that an identity is
// never lost.
func EncodeIdentity(v cty.Value, rs *schema.Schema, previous states.Identity) states.Identity {
	switch {
	case rs.Identity == nil:
		return previous
	case v == cty.NilVal || v.IsNull() || !v.IsWhollyKnown():
		if previous.JSON != nil && previous.Version <= rs.Identity.Version {
			return previous
		}
		return states.Identity{Version: rs.Identity.Version}
	}
	src, err := rs.Identity.JSON().Append(nil, v)
	if err != nil {
		return previous // cannot happen: v conforms to the type, and is known
	}
	return states.Identity{Version: rs.Identity.Version, JSON: src}
}

// NewIdentity checks an identity in a provider's answer, and encodes it, as [EncodeIdentity] does. If the
// identity is wrong, NewIdentity returns previous and errors.
func NewIdentity(v cty.Value, rs *schema.Schema, addr addrs.ResourceInstanceObject, previous states.Identity) (states.Identity, diags.Diagnostics) {
	ds := checkIdentity(v, rs, addr, "in its answer")
	if ds.HasErrors() {
		v = cty.NilVal
	}
	return EncodeIdentity(v, rs, previous), ds
}
