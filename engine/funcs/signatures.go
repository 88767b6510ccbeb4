package funcs

import (
	"strings"

	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/lockstep-iac/lockstep/engine/internal/converting"
)

// A Signature describes how to call a function, for people and editors.
type Signature struct {
	Description string
	Params      []function.Parameter
	Variadic    *function.Parameter // nil: there is none
	// Return is the type of the result; dynamic if it depends on the arguments.
	Return cty.Type
}

// Signatures returns the signatures of all functions by name, and again with the prefix `core::`. Removed
// functions, which only return an error, are left out. An argument that a function takes as an expression has
// the type of the expression's value.
func Signatures() map[string]Signature {
	t := Table(Scope{})
	out := make(map[string]Signature, len(t))
	for name, f := range t {
		if bare := strings.TrimPrefix(name, namespace); descriptions[bare] != "" {
			out[name] = newSignature(bare, f)
		}
	}
	return out
}

func newSignature(name string, f function.Function) Signature {
	s := Signature{Description: descriptions[name], Return: cty.DynamicPseudoType}
	var types []cty.Type
	lazy := false
	told := func(p function.Parameter) function.Parameter {
		p.Description = "" // Descriptions of parameters come from the library, and only some parameters have one.
		types = append(types, p.Type)
		if p.Type == customdecode.ExpressionClosureType || p.Type == converting.TargetType {
			p.Type, lazy = cty.DynamicPseudoType, true
		}
		return p
	}
	for _, p := range f.Params() {
		s.Params = append(s.Params, told(p))
	}
	if p := f.VarParam(); p != nil {
		v := told(*p)
		s.Variadic = &v
	}
	switch {
	case name == "templatestring":
		s.Params[0].Type, s.Return = cty.String, cty.String
	case name == "can":
		s.Return = cty.Bool
	case !lazy:
		if ty, err := f.ReturnType(types); err == nil {
			s.Return = ty
		}
	}
	return s
}
