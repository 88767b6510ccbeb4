#!/bin/sh
# tflint v0.64.0 (ruleset terraform v0.15.0): the rule terraform_required_providers names another file from run to run.
#
# Two files use a provider, and nothing states its version. tflint reports that once, at the first use of the provider in
# one of the files, which it chooses at random. The configuration, the arguments and the exit code (2) are equal each time.
# Whoever compares the findings of two runs by their file and line finds a new one and a resolved one where nothing has
# changed. Of 60 runs, 57 named b.tf and 3 named a.tf; of 24 others, it was 20 and 4.
#
# Usage: sh findings/tflint-provider-file.sh      needs Go; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
CGO_ENABLED=0 GOFLAGS= GOBIN=$dir/bin go install github.com/terraform-linters/tflint@v0.64.0
mkdir stack
cd stack
cat >a.tf <<'TF'
terraform {
  required_version = ">= 1.5"
}

resource "random_id" "a" {
  byte_length = 4
}
TF
cat >b.tf <<'TF'
resource "random_id" "b" {
  byte_length = 4
}
TF
../bin/tflint --version
for _ in $(seq 400); do
	code=0
	../bin/tflint --format=compact >out || code=$?
	[ $code = 2 ] || { echo "the exit code is $code, and was 2" >&2; exit 1; }
	grep terraform_required_providers out >>../all
	sort -u ../all >../out
	[ "$(wc -l <../out)" = 1 ] || break
done
sort ../all | uniq -c
cat >../want <<'WANT'
a.tf:5:1: Warning - Missing version constraint for provider "random" in `required_providers` (terraform_required_providers)
b.tf:1:1: Warning - Missing version constraint for provider "random" in `required_providers` (terraform_required_providers)
WANT
cmp -s ../out ../want || { echo "the behaviour has changed" >&2; exit 1; }
