package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/jsonvalues"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// Decode returns the value of a stored object, upgraded by its provider to the current schema, with sensitive
// marks.
func (s *Session) Decode(ctx context.Context, c provider.Client, addr addrs.AbsResourceInstance, rs *schema.Schema, o *states.Object) (cty.Value, diags.Diagnostics) {
	if o.Value != cty.NilVal {
		return o.Value, nil
	}
	typeName := addr.Resource.Resource.Type
	if o.SchemaVersion > rs.Version {
		return cty.DynamicVal, diags.Errorf(nil, "Resource instance managed by newer provider version",
			"The current state of %s was created by a newer provider version than is currently selected. Upgrade the provider to work with this state.", addr)
	}
	attributes := o.AttrsJSON
	if o.SchemaVersion == rs.Version {
		// If the object has another schema version, the provider renames or drops attributes.
		attributes = rs.Block.JSON().Strip(attributes)
	}
	if addr.Resource.Resource.Mode != addrs.Managed {
		v, err := rs.Block.JSON().Parse(attributes)
		if err != nil {
			return cty.DynamicVal, diags.FromError("Invalid object in the state", fmt.Errorf("%s: %w", addr, err))
		}
		return s.mark(v, rs, o), nil
	}
	v, ds := c.UpgradeState(ctx, provider.UpgradeRequest{TypeName: typeName, Version: o.SchemaVersion, JSON: attributes, Flatmap: o.AttrsFlat})
	if ds.HasErrors() {
		return cty.DynamicVal, ds
	}
	for _, err := range v.Type().TestConformance(rs.Block.ImpliedType()) {
		ds = append(ds, diags.Errorf(nil, "Invalid resource state upgrade",
			"The provider upgraded the state of %s from a previous version, but produced an invalid result: %s.", addr, err)...)
	}
	return s.mark(v, rs, o), ds
}

// mark marks the values that the object or the schema declares sensitive.
func (s *Session) mark(v cty.Value, rs *schema.Schema, o *states.Object) cty.Value {
	return MarkSensitive(v, rs, o.Sensitive)
}

// MarkSensitive returns v with sensitive marks at the given paths, at the paths that the schema declares
// sensitive, and at the paths whose values repeat one of these values.
func MarkSensitive(v cty.Value, rs *schema.Schema, paths []cty.Path) cty.Value {
	return rs.Block.MarkSensitive(v, paths)
}

// LacksPaths reports whether the stored object o does not list all paths that the schema declares sensitive.
// Either the provider now declares more, or an older Terraform, which listed none, has written the state. v
// is the object's value.
func LacksPaths(o *states.Object, rs *schema.Schema, v cty.Value) bool {
	if v.IsNull() || !rs.Block.ContainsSensitive() {
		return false
	}
	return slices.ContainsFunc(rs.Block.SensitivePaths(marks.Plain(v)), func(p cty.Path) bool {
		return !slices.ContainsFunc(o.Sensitive, p.Equals)
	})
}

// An Encoding has what [Encode] stores with the attributes of an object: its status, identity, private data and
// dependencies.
type Encoding struct {
	Status              states.Status
	Identity            states.Identity // see [EncodeIdentity]
	Private             []byte
	Dependencies        *states.Dependencies
	CreateBeforeDestroy bool
	SkipDestroy         bool
	// Stored are the attributes as already stored, perhaps with other white space. If the attributes are
	// unchanged, the object shares this text and needs no memory for a copy.
	Stored json.RawMessage
}

// Encode returns an object to store. The object also has the marks of v. It does not have write-only values. An
// unknown value is a bug: Lockstep's, or the provider's, which the caller must have detected.
func Encode(v cty.Value, rs *schema.Schema, e Encoding) (*states.Object, error) {
	plain, sensitive := marks.Paths(v, marks.Sensitive)
	if rs.Block.ContainsSensitive() {
		for _, p := range rs.Block.SensitivePaths(plain) {
			if !slices.ContainsFunc(sensitive, p.Equals) {
				sensitive = append(sensitive, p)
			}
		}
	}
	if rs.Block.ContainsWriteOnly() {
		plain = rs.Block.WithoutWriteOnly(plain)
	}
	src, err := attributes(plain, rs, e.Stored)
	if err != nil {
		return nil, err
	}
	return &states.Object{
		Status:              e.Status,
		SchemaVersion:       rs.Version,
		AttrsJSON:           src,
		Sensitive:           states.SortPaths(sensitive),
		Identity:            e.Identity,
		Private:             e.Private,
		Dependencies:        e.Dependencies,
		CreateBeforeDestroy: e.CreateBeforeDestroy,
		SkipDestroy:         e.SkipDestroy,
		Value:               marks.At(plain, marks.Sensitive, sensitive),
	}, nil
}

// drafts are reusable buffers for encoding. Most texts equal a stored one and are dropped; the others are
// copied at their exact size.
var drafts = sync.Pool{New: func() any { return new([]byte) }}

// attributes returns a value as JSON; stored itself, if it has the same content.
func attributes(v cty.Value, rs *schema.Schema, stored json.RawMessage) (json.RawMessage, error) {
	draft := drafts.Get().(*[]byte)
	defer drafts.Put(draft)
	src, err := rs.Block.JSON().Append((*draft)[:0], v)
	if err != nil {
		return nil, err
	}
	*draft = src[:0]
	if stored != nil && jsonvalues.SameText(src, stored) {
		return stored, nil
	}
	return bytes.Clone(src), nil
}

// ObjectID returns an object's id for progress messages.
func ObjectID(v cty.Value) string {
	if v == cty.NilVal || v.IsMarked() || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute("id") {
		return ""
	}
	id := v.GetAttr("id")
	if id.IsMarked() || !id.IsKnown() || id.IsNull() || id.Type() != cty.String {
		return ""
	}
	return id.AsString()
}

// SameID reports whether two objects of an instance have the same ID, sensitive or not. They may still be
// different real objects: an ID may be unique only in a bucket or a directory.
func SameID(a, b cty.Value) bool {
	id := ObjectID(marks.Plain(a))
	return id != "" && id == ObjectID(marks.Plain(b))
}

// SameObject reports whether two objects of an instance have the same ID and the same values after reading. A
// provider cannot distinguish them: deleting one deletes the other.
func SameObject(a, b cty.Value) bool {
	return SameID(a, b) && marks.Plain(a).RawEquals(marks.Plain(b))
}

// Stored returns the value of an object that was written with the current schema, with sensitive marks.
func (s *Session) Stored(addr addrs.AbsResourceInstance, rs *schema.Schema, o *states.Object) (cty.Value, diags.Diagnostics) {
	if o.Value != cty.NilVal {
		return o.Value, nil
	}
	v, err := rs.Stored(o.AttrsJSON, o.Sensitive)
	if err != nil {
		return cty.DynamicVal, diags.FromError("Invalid object in the state", fmt.Errorf("%s: %w", addr, err))
	}
	return v, nil
}

// SameMarks reports whether the same paths of two values are sensitive.
func SameMarks(a, b cty.Value) bool {
	_, pa := marks.Paths(a, marks.Sensitive)
	_, pb := marks.Paths(b, marks.Sensitive)
	if len(pa)+len(pb) == 0 {
		return true
	}
	return cty.NewPathSet(pa...).Equal(cty.NewPathSet(pb...))
}
