package session

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// An ImportKey is the ID or the identity by which an import block finds its object.
type ImportKey struct {
	ID       string
	Identity cty.Value // cty.NilVal if the object is imported by ID
	Secret   bool      // the ID comes from a sensitive value: only the provider may see it
}

// Shown returns the ID as messages and plans show it: a placeholder if the ID is secret.
func (k ImportKey) Shown() string {
	if k.Secret {
		return "(sensitive value)"
	}
	return k.ID
}

// ImportKeyOf evaluates the ID or the identity of an import block. rs is the schema of the resource. known is
// false if the key depends on unknown values.
func ImportKeyOf(e *eval.Evaluator, im *config.Import, rs *schema.Schema, s eval.Scope) (k ImportKey, known bool, ds diags.Diagnostics) {
	if im.Identity != nil {
		k.Identity, known, ds = importIdentity(e, im, rs, s)
		return k, known, ds
	}
	if k, known, ds = importID(e, im, s); !im.Typed || !known {
		return k, known, ds
	}
	k, more := TypedImportKey(k.ID, rs, im.ID.Range())
	return k, known, append(ds, more...)
}

// TypedImportKey returns the key that somebody typed as one word, such as "name=a,region=eu". The word is an
// identity if every name in it is an attribute of the type's identity. Otherwise the word is an ID. (IDs of
// some types have the same form, such as IDs of kubernetes_manifest.) at is the place for diagnostics about an
// identity.
func TypedImportKey(word string, rs *schema.Schema, at hcl.Range) (ImportKey, diags.Diagnostics) {
	if rs.Identity == nil {
		return ImportKey{ID: word}, nil
	}
	given := map[string]cty.Value{}
	for part := range strings.SplitSeq(word, ",") {
		name, value, ok := strings.Cut(part, "=")
		if _, twice := given[name]; !ok || twice || rs.Identity.Attributes[name] == nil {
			return ImportKey{ID: word}, nil
		}
		given[name] = cty.StringVal(value)
	}
	v := cty.ObjectVal(given)
	identity, ds := convertIdentity(hcl.StaticExpr(v, at), v, rs.Identity)
	return ImportKey{Identity: identity}, ds
}

// importID evaluates the ID of an import block. known is false if the ID is unknown, or after an error.
func importID(e *eval.Evaluator, im *config.Import, s eval.Scope) (k ImportKey, known bool, ds diags.Diagnostics) {
	v, ds := e.Expr(im.ID, s)
	if ds.HasErrors() {
		return k, false, ds
	}
	bad := func(detail string) (ImportKey, bool, diags.Diagnostics) {
		return k, false, append(ds, BadImportKey(im, detail)...)
	}
	if marks.Contains(v, marks.Ephemeral) {
		return bad("The import ID value is ephemeral, which means that it can be different in each run.")
	}
	k.Secret = marks.Contains(v, marks.Sensitive)
	v, _ = v.Unmark()
	switch {
	case !v.IsKnown():
		return k, false, ds
	case v.IsNull() || v.Type() != cty.String && v.Type() != cty.Number:
		return bad("The import ID must be a string that is not null.")
	case v.Type() == cty.Number:
		k.ID = v.AsBigFloat().Text('f', -1)
		return k, true, ds
	case v.AsString() == "":
		return bad("The import ID is an empty string, which is no object's ID.")
	}
	k.ID = v.AsString()
	return k, true, ds
}

// importIdentity evaluates the identity of an import block. An identity is stored and shown in clear text, so
// it must contain nothing sensitive. An attribute that is not in the identity schema is an error. (Terraform
// 1.16 drops it, and so might import another object than intended.)
func importIdentity(e *eval.Evaluator, im *config.Import, rs *schema.Schema, s eval.Scope) (identity cty.Value, known bool, ds diags.Diagnostics) {
	if rs.Identity == nil {
		return cty.NilVal, false, diags.Errorf(im.Identity.Range().Ptr(), "Resource type without identities",
			"The provider declares no identities for the type %s, so the object cannot be imported by one. Replace the \"identity\" argument with \"id\".", im.Resource.Resource.Type)
	}
	v, ds := e.Expr(im.Identity, s)
	if ds.HasErrors() {
		return cty.NilVal, false, ds
	}
	switch {
	case marks.Contains(v, marks.Ephemeral):
		return cty.NilVal, false, append(ds, BadImportKey(im, "The import identity has an ephemeral value, which can be different in each run. Use a value that is not ephemeral.")...)
	case marks.Contains(v, marks.Sensitive):
		return cty.NilVal, false, append(ds, BadImportKey(im, "The import identity has a sensitive value. Plans and states show identities in plain text. Use a value that is not sensitive, or import the object by its ID.")...)
	}
	v = marks.Plain(v)
	ty := v.Type()
	switch {
	case v.IsKnown() && v.IsNull():
		return cty.NilVal, false, append(ds, BadImportKey(im, "The import identity is null. Set "+identityArguments(rs.Identity)+".")...)
	case !v.IsKnown() && ty == cty.DynamicPseudoType:
		return cty.NilVal, false, ds
	case !ty.IsObjectType() && !ty.IsMapType():
		return cty.NilVal, false, append(ds, wrongIdentity(im.Identity.Range(), "The import identity must be an object with "+identityArguments(rs.Identity)+".")...)
	case !v.IsKnown():
		return cty.NilVal, false, ds
	}
	identity, more := convertIdentity(im.Identity, v, rs.Identity)
	return identity, !more.HasErrors() && identity.IsWhollyKnown(), append(ds, more...)
}

// convertIdentity converts v, an object or a map, to the type that an identity with these attributes has.
// Optional attributes may be missing.
func convertIdentity(x hcl.Expression, v cty.Value, attributes *schema.Identity) (cty.Value, diags.Diagnostics) {
	var ds diags.Diagnostics
	given := v.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if attributes.Attributes[name] == nil {
			ds = append(ds, diags.Errorf(identityItem(x, name, true).Ptr(), "Unsupported identity attribute",
				"The identity has no attribute %q.%s Set %s.", name, diags.Suggest(name, maps.Keys(attributes.Attributes)), identityArguments(attributes))...)
		}
	}
	attrs := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(attributes.Attributes)) {
		a, g := attributes.Attributes[name], given[name]
		if attrs[name] = cty.NullVal(a.Type); g == cty.NilVal || g.IsKnown() && g.IsNull() {
			if a.RequiredForImport {
				ds = append(ds, wrongIdentity(x.Range(), "The import identity needs the attribute \""+name+"\". Set "+identityArguments(attributes)+".")...)
			}
			continue
		}
		c, err := convert.Convert(g, a.Type)
		if err != nil {
			ds = append(ds, wrongIdentity(identityItem(x, name, false), "The attribute \""+name+"\" of the import identity has the wrong type: "+err.Error()+".")...)
			continue
		}
		attrs[name] = c
	}
	return cty.ObjectVal(attrs), ds
}

// identityItem returns the source range of an attribute in an identity that is written as an object. If key
// is true, this is the range of the attribute's name, otherwise of its value. If the attribute is not found,
// it returns the range of the whole expression.
func identityItem(x hcl.Expression, name string, key bool) hcl.Range {
	object, ok := x.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return x.Range()
	}
	for _, item := range object.Items {
		if k, hs := item.KeyExpr.Value(nil); hs.HasErrors() || !k.IsKnown() || k.IsNull() || k.Type() != cty.String || k.AsString() != name {
			continue
		}
		if key {
			return item.KeyExpr.Range()
		}
		return item.ValueExpr.Range()
	}
	return x.Range()
}

// identityArguments returns a text that lists the attributes to set for an import.
func identityArguments(attributes *schema.Identity) string {
	var required, optional []string
	for _, name := range slices.Sorted(maps.Keys(attributes.Attributes)) {
		if attributes.Attributes[name].RequiredForImport {
			required = append(required, name)
		} else {
			optional = append(optional, name+" (optional)")
		}
	}
	return strings.Join(append(required, optional...), ", ")
}

func wrongIdentity(at hcl.Range, detail string) diags.Diagnostics {
	return diags.Errorf(&at, "Incorrect value type", "%s", detail)
}

// BadImportKey returns an error about the ID or the identity of an import block.
func BadImportKey(im *config.Import, detail string) diags.Diagnostics {
	if im.Identity != nil {
		return diags.Errorf(im.Identity.Range().Ptr(), "Invalid import identity argument", "%s", detail)
	}
	return diags.Errorf(im.ID.Range().Ptr(), "Invalid import id argument", "%s", detail)
}
