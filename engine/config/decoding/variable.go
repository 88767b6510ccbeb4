package decoding

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/config"
)

var variableSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "description"}, {Name: "default"}, {Name: "type"},
		{Name: "sensitive"}, {Name: "nullable"}, {Name: "ephemeral"}, {Name: "deprecated"}, {Name: "const"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "validation"}},
}

// reservedVariables are the names that have a meaning in module blocks.
var reservedVariables = map[string]bool{
	"source": true, "version": true, "providers": true, "count": true,
	"for_each": true, "lifecycle": true, "depends_on": true, "locals": true,
}

// A variable is a variable block that is being read.
type variable struct {
	*reader
	*config.Variable
	rawDefault   cty.Value // as written, before conversion; NilVal if there is none
	defaultRange hcl.Range
	given        map[string]bool
}

// variable reads a variable block.
func (d *Decoder) variable(b *hcl.Block) {
	v := &variable{reader: &d.reader, Variable: &config.Variable{
		Name: b.Labels[0], Type: cty.DynamicPseudoType, Nullable: true, Range: b.DefRange, ParseLiteral: true,
	}}
	content := d.contentOf(b.Body, variableSchema)
	d.name(b, 0, "Invalid variable name")
	if reservedVariables[v.Name] {
		d.errorf(&b.LabelRanges[0], "Invalid variable name",
			"The name %q is reserved: it means something else inside module blocks.", v.Name)
	}
	attrs := content.Attributes
	v.given = d.givenArgs(content)
	d.literal(attrs["description"], &v.Description)
	d.deprecated(attrs["deprecated"], &v.Deprecated)
	d.literal(attrs["sensitive"], &v.Sensitive)
	d.literal(attrs["nullable"], &v.Nullable)
	d.literal(attrs["ephemeral"], &v.Ephemeral)
	d.literal(attrs["const"], &v.Const)
	if a := attrs["type"]; a != nil {
		v.typeConstraint(a.Expr)
	}
	if a := attrs["default"]; a != nil {
		v.DefaultExpr = a.Expr
		v.defaultValue(a)
	}
	for _, x := range content.Blocks {
		if d.override {
			d.errorf(&x.DefRange, "Can't override validation blocks", "Validations can stand in normal files only, not in override files.")
			continue
		}
		c := d.condition(x)
		v.validation(c)
		v.Validations = append(v.Validations, c)
	}
	old := d.variables[v.Name]
	switch {
	case d.override && old == nil:
		d.missingBase(v.Range, "Missing base variable declaration to override", "var."+v.Name)
	case d.override:
		v.replace(old)
	case old != nil:
		d.duplicate(v.Range, "Duplicate variable declaration", "var."+v.Name, old.Range)
	default:
		d.variables[v.Name] = v
		d.content.Variables[v.Name] = v.Variable
	}
}

// refuseSecretConst adds an error for each const variable that is sensitive or ephemeral. The value of a const
// variable can be part of a module source. Module sources appear in messages and in the files that init writes.
func (d *Decoder) refuseSecretConst() {
	for _, name := range slices.Sorted(maps.Keys(d.content.Variables)) {
		v := d.content.Variables[name]
		for _, secret := range []struct {
			set  bool
			word string
		}{{v.Sensitive, "sensitive"}, {v.Ephemeral, "ephemeral"}} {
			if v.Const && secret.set {
				d.errorf(&v.Range, "Const variable cannot be "+secret.word,
					"The variable %q has const = true, so that sources of modules can be made of its value. Such values appear in messages and in the files that init writes. Remove const or %s.", name, secret.word)
			}
		}
	}
}
