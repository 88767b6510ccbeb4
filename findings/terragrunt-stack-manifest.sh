#!/bin/sh
# Terragrunt 1.1.3: the files that it generates for a stack contain the absolute path of the repository, and its list of the files
# that a unit reads lacks those of file().
#
# "terragrunt stack generate" writes .terragrunt-stack/.terragrunt-stack-manifest beside the units, with the absolute path of each
# file. Two checkouts of one commit therefore differ, although the units are equal. Whoever compares or hashes the generated
# directory has to leave this file out.
# "terragrunt find --reading" names the files of read_terragrunt_config. It does not name a file that file() reads for an input,
# although a change of that file changes the unit. Whoever selects the units to plan by this list misses such a unit.
#
# Usage: sh findings/terragrunt-stack-manifest.sh      needs Go, and some minutes to build Terragrunt; exits with 1 if the behaviour
# has changed. With TERRAGRUNT=PATH, it uses a Terragrunt that is built already.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if [ -z "${TERRAGRUNT:-}" ]; then
	# Its go.mod replaces modules, so "go install" refuses to build it from elsewhere.
	source=$(GOFLAGS= go mod download -json github.com/gruntwork-io/terragrunt@v1.1.3 | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
	(cd "$source" && GOFLAGS= GOWORK=off CGO_ENABLED=0 go build -o "$dir/terragrunt" .)
	TERRAGRUNT=$dir/terragrunt
fi
for checkout in one two; do
	mkdir -p $checkout/units/app
	cat >$checkout/terragrunt.stack.hcl <<'HCL'
unit "app" {
  source = "./units/app"
  path   = "app"
}
HCL
	cat >$checkout/units/app/main.tf <<'HCL'
variable "text" {
  type = string
}
HCL
	cat >$checkout/units/app/terragrunt.hcl <<'HCL'
locals {
  common = read_terragrunt_config("${get_terragrunt_dir()}/common.hcl")
}

inputs = {
  text = file("${get_terragrunt_dir()}/note.txt")
}
HCL
	echo 'locals {}' >$checkout/units/app/common.hcl
	echo 'hello' >$checkout/units/app/note.txt
	(cd $checkout && "$TERRAGRUNT" stack generate >/dev/null 2>&1)
done
(
	diff -rq one two | sed 's/^Files one/different:/; s/ and two.*//'
	grep -rlF "$dir/one" one | sed 's#^one#contains the absolute path: #'
	cd "$dir/one/units"
	"$TERRAGRUNT" find --json --reading 2>/dev/null | tr -d ' \n' | grep -o '"reading":\[[^]]*\]'
) >out
cat out
cat >want <<'WANT'
different:/.terragrunt-stack/app/.terragrunt-stack-manifest
contains the absolute path: /.terragrunt-stack/app/.terragrunt-stack-manifest
"reading":["app/common.hcl"]
WANT
cmp -s out want || { echo "the behaviour has changed" >&2; exit 1; }
