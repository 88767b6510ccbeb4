package funcs

import (
	"reflect"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// TypeType is the type of the results of type(): a capsule around a *cty.Type. Only the console can show it,
// with FormatType. It must not be a part of another value.
var TypeType = cty.Capsule("type", reflect.TypeFor[cty.Type]())

var typeFunc = function.New(&function.Spec{
	Params: []function.Parameter{open("value")},
	Type:   function.StaticReturnType(TypeType),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		ty := args[0].Type()
		return cty.CapsuleVal(TypeType, &ty), nil
	},
})

// FormatType returns a type as Terraform's console shows it. Nested types are on separate lines, indented by
// four spaces. Attributes are sorted by name.
func FormatType(ty cty.Type) string {
	var b strings.Builder
	writeType(&b, ty, "\n")
	return b.String()
}

// writeType writes ty; indent is the line break and indentation before ty's closing bracket.
func writeType(b *strings.Builder, ty cty.Type, indent string) {
	inner := indent + "    "
	switch {
	case ty.IsCollectionType():
		b.WriteString(collectionKind(ty) + "(")
		if elem := ty.ElementType(); elem.IsPrimitiveType() || elem == cty.DynamicPseudoType {
			b.WriteString(elem.FriendlyName())
		} else {
			b.WriteString(inner)
			writeType(b, elem, inner)
			b.WriteString("," + indent)
		}
		b.WriteString(")")
	case ty.IsObjectType():
		b.WriteString("object({")
		for _, name := range sortedKeys(ty.AttributeTypes()) {
			b.WriteString(inner + name + ": ")
			writeType(b, ty.AttributeType(name), inner)
			b.WriteString(",")
		}
		if len(ty.AttributeTypes()) > 0 {
			b.WriteString(indent)
		}
		b.WriteString("})")
	case ty.IsTupleType():
		b.WriteString("tuple([")
		for _, elem := range ty.TupleElementTypes() {
			b.WriteString(inner)
			writeType(b, elem, inner)
			b.WriteString(",")
		}
		if ty.Length() > 0 {
			b.WriteString(indent)
		}
		b.WriteString("])")
	default:
		b.WriteString(ty.FriendlyName())
	}
}

func collectionKind(ty cty.Type) string {
	switch {
	case ty.IsListType():
		return "list"
	case ty.IsSetType():
		return "set"
	}
	return "map"
}
