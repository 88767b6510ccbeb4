package schema

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// An Identity describes the identities of the objects of a resource type: the attributes by which the provider finds
// an object, such as a region and a name. It is immutable once its first method was called. Its methods may be
// called by many goroutines at once.
//
// Source: https://developer.hashicorp.com/terraform/plugin/framework/resources/identity
type Identity struct {
	// Version is the version of the identity schema. It is independent of [Schema.Version].
	Version    int64
	Attributes map[string]*IdentityAttribute

	once  sync.Once
	codec *jsonvalues.Codec
}

// An IdentityAttribute describes one attribute of an [Identity].
type IdentityAttribute struct {
	Type        cty.Type
	Description string
	// RequiredForImport and OptionalForImport say whether an import by identity must or may set the attribute. An
	// attribute with neither is known to the provider alone.
	RequiredForImport bool
	OptionalForImport bool
}

// Type returns the object type of identities.
func (i *Identity) Type() cty.Type { return i.JSON().Type() }

// JSON returns the codec for identities.
func (i *Identity) JSON() *jsonvalues.Codec {
	i.once.Do(func() {
		types := make(map[string]cty.Type, len(i.Attributes))
		for name, a := range i.Attributes {
			types[name] = a.Type
		}
		i.codec = jsonvalues.NewCodec(cty.Object(types))
	})
	return i.codec
}
