package schema

import (
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
)

// An Identity is the identity schema of a resource type: the attributes by which the provider finds an
// object, such as a region and a name. It must not be changed after the first call of a method. Its methods
// are safe for concurrent use.
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
	// RequiredForImport means that an import by identity must set the attribute, and OptionalForImport that
	// it may. An attribute with neither is set only by the provider.
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
