#!/bin/sh
# go-cty-yaml v1.2.0: a key "<<" in quotation marks is a merge key, so that a value does not survive yamlencode and yamldecode.
#
# In YAML 1.1, the plain scalar << is the merge key. A scalar in quotation marks is a text, whatever it looks like, and yamlencode
# writes the key of { "<<" = true } in quotation marks for this reason. But the decoder merges by the text of the key alone. So it
# refuses a value that is no mapping, and silently spreads one that is. Terraform and OpenTofu use this package for both functions.
# The same text as a value of a key comes back as it was.
#
# Usage: sh findings/cty-yaml-quoted-merge-key.sh      needs Go; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
)

func main() {
	for _, v := range []cty.Value{
		cty.ObjectVal(map[string]cty.Value{"<<": cty.True}),
		cty.ObjectVal(map[string]cty.Value{"<<": cty.ObjectVal(map[string]cty.Value{"a": cty.True})}),
		cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("<<")}),
	} {
		written, err := yaml.Marshal(v)
		if err != nil {
			panic(err)
		}
		got, err := read(written)
		text := fmt.Sprintf("%#v", got)
		if err != nil {
			text = err.Error()
		}
		fmt.Printf("%s -> %s\n", strings.Join(strings.Fields(string(written)), " "), text)
	}
}

func read(text []byte) (cty.Value, error) {
	ty, err := yaml.ImpliedType(text)
	if err != nil {
		return cty.NilVal, err
	}
	return yaml.Unmarshal(text, ty)
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/zclconf/go-cty-yaml@v1.2.0 github.com/zclconf/go-cty/cty@v1.19.0 >/dev/null 2>&1
go run . >out
cat out
cat >want <<'WANT'
"<<": true -> cannot merge bool into mapping
"<<": "a": true -> cty.ObjectVal(map[string]cty.Value{"a":cty.True})
"a": "<<" -> cty.ObjectVal(map[string]cty.Value{"a":cty.StringVal("<<")})
WANT
cmp -s out want || { echo "the behaviour has changed"; exit 1; }
