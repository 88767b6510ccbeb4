package decoding

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/language"
)

// olderSchemas maps today's schemas to those of Terraform 1.11, where the two differ. So HCL reports an argument
// or a block that Terraform got later, in the words of Terraform 1.11. The arguments and blocks that only OpenTofu
// has are allowed in all versions.
var olderSchemas = map[*hcl.BodySchema]*hcl.BodySchema{
	lifecycleSchema: without(lifecycleSchema, "action_trigger", "destroy"), // since Terraform 1.14 and 1.16
	variableSchema:  without(variableSchema, "const", "deprecated"),        // since Terraform 1.15
	outputSchema:    without(outputSchema, "type", "deprecated"),           // since Terraform 1.15
	importSchema: {Attributes: []hcl.AttributeSchema{ // an identity since Terraform 1.12
		{Name: "provider"}, {Name: "for_each"}, {Name: "id", Required: true}, {Name: "to", Required: true},
	}},
}

// schemas returns the schemas of configuration files and of query files in a version of the language. Terraform has
// actions and lists since version 1.14.
func (d *Decoder) schemas() (file, query *hcl.BodySchema) {
	if d.language == language.V1_11 {
		return without(fileSchema, "action"), without(querySchema, "list")
	}
	return fileSchema, querySchema
}

// without returns a copy of s without the arguments and blocks of these names.
func without(s *hcl.BodySchema, names ...string) *hcl.BodySchema {
	return &hcl.BodySchema{
		Attributes: slices.DeleteFunc(slices.Clone(s.Attributes), func(a hcl.AttributeSchema) bool { return slices.Contains(names, a.Name) }),
		Blocks:     slices.DeleteFunc(slices.Clone(s.Blocks), func(b hcl.BlockHeaderSchema) bool { return slices.Contains(names, b.Type) }),
	}
}

// schemaIn returns the schema s as it is in a version of the language.
func schemaIn(v language.Version, s *hcl.BodySchema) *hcl.BodySchema {
	if old := olderSchemas[s]; old != nil && v == language.V1_11 {
		return old
	}
	return s
}
