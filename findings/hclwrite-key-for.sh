#!/bin/sh
# hcl v2.25.0: hclwrite writes an object whose first key is "for" as text that hclsyntax refuses.
#
# hclwrite.TokensForValue writes each key that is an identifier without quotation marks, in the order of the keys. An object
# that begins with the key for is a for expression in HCL's syntax. So the text for {"for" = "5m"} does not parse: "Invalid 'for'
# expression". With a key that sorts before it, such as alert, the same key is accepted without quotation marks. Rules for alerts
# have such keys, so generated configuration can have them, too.
#
# The script writes three values, and parses what was written.
#
# Usage: sh findings/hclwrite-key-for.sh      needs Go; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

func main() {
	text := cty.StringVal("5m")
	for _, v := range []cty.Value{
		cty.ObjectVal(map[string]cty.Value{"for": text}),
		cty.ObjectVal(map[string]cty.Value{"alert": text, "for": text}),
		cty.ObjectVal(map[string]cty.Value{"if": text}),
	} {
		written := hclwrite.TokensForValue(v).Bytes()
		_, ds := hclsyntax.ParseExpression(written, "x.hcl", hcl.InitialPos)
		what := "is read"
		if ds.HasErrors() {
			what = "is refused: " + ds[0].Summary
		}
		fmt.Printf("%s %s\n", strings.Join(strings.Fields(string(written)), " "), what)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/hashicorp/hcl/v2/hclwrite@v2.25.0 github.com/zclconf/go-cty/cty@v1.19.0 >/dev/null 2>&1
go run . >out
cat out
cat >want <<'WANT'
{ for = "5m" } is refused: Invalid 'for' expression
{ alert = "5m" for = "5m" } is read
{ if = "5m" } is read
WANT
cmp -s out want || { echo "the behaviour has changed"; exit 1; }
