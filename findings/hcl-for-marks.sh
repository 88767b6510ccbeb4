#!/bin/sh
# hcl v2.25.0 with go-cty v1.19.0: the mark of a collection reaches an element by an index, and not in a for expression.
#
# A list has a mark as a whole, as a sensitive variable has. A function that is called with secret[0] gets a marked value.
# The same function, called in [for s in secret : f(s)], gets the element without the mark; the mark returns on the result
# of the whole expression alone. So whatever a function does with its argument meanwhile (an error message that quotes it,
# for example) cannot know that it is sensitive. An element that is marked itself keeps its mark.
#
# Usage: sh findings/hcl-for-marks.sh      needs Go; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func main() {
	seen := function.New(&function.Spec{
		Params: []function.Parameter{{Name: "v", Type: cty.DynamicPseudoType, AllowMarked: true}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return cty.BoolVal(args[0].IsMarked()), nil },
	})
	ctx := &hcl.EvalContext{
		Variables: map[string]cty.Value{
			"whole": cty.ListVal([]cty.Value{cty.StringVal("a")}).Mark("sensitive"),
			"each":  cty.ListVal([]cty.Value{cty.StringVal("a").Mark("sensitive")}),
		},
		Functions: map[string]function.Function{"marked": seen},
	}
	for _, src := range []string{"[marked(whole[0])]", "[for s in whole : marked(s)]", "[for s in each : marked(s)]"} {
		x, ds := hclsyntax.ParseExpression([]byte(src), "x", hcl.InitialPos)
		v, more := x.Value(ctx)
		if ds.HasErrors() || more.HasErrors() {
			panic(src)
		}
		plain, _ := v.Unmark()
		fmt.Printf("%s: in the call %t, the result %t\n", src, plain.Index(cty.Zero).True(), v.IsMarked())
	}
}
GO
cat >go.mod <<'MOD'
module finding

go 1.26

require (
	github.com/hashicorp/hcl/v2 v2.25.0
	github.com/zclconf/go-cty v1.19.0
)
MOD
go mod tidy >/dev/null 2>&1
go run . >out
cat out
cat >want <<'WANT'
[marked(whole[0])]: in the call true, the result false
[for s in whole : marked(s)]: in the call false, the result true
[for s in each : marked(s)]: in the call true, the result false
WANT
cmp -s out want || { echo "the behaviour has changed" >&2; exit 1; }
