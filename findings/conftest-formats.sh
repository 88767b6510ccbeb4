#!/bin/sh
# conftest v0.71.1: a report in a machine's format is empty if a policy cannot be compiled, and JUnit has no messages in its
# attributes.
#
# With --output sarif, junit or json, a policy with a syntax error leaves the standard output empty: neither a SARIF run with
# executionSuccessful = false nor an error of a test suite. Only the exit code 1 and the text on the standard error say so,
# and a failure of a policy has the exit code 1, too. Whoever reads the report alone sees no findings, or an invalid file.
# In JUnit, each failure has the attribute message="Failed". Its text is in the name of the test case and in the element.
#
# Usage: sh findings/conftest-formats.sh      needs Go; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
CGO_ENABLED=0 GOFLAGS= GOBIN=$dir/bin go install github.com/open-policy-agent/conftest@v0.71.1
mkdir good broken
echo '{"a": 1}' >x.json
cat >good/a.rego <<'REGO'
package main

deny contains msg if {
	input.a == 1
	msg := "a must not be 1"
}
REGO
sed 's/:= "a must not be 1"/:=/' good/a.rego >broken/a.rego
for format in sarif junit json; do
	for policy in good broken; do
		code=0
		bin/conftest test --policy $policy --output $format x.json >report 2>errors || code=$?
		empty() { [ -s "$1" ] && echo "not empty" || echo "empty"; }
		echo "$format, $policy policy: exit code $code, report $(empty report), standard error $(empty errors)"
		[ $format-$policy != junit-good ] || grep -o '<failure.*</failure>' report
	done
done >out
cat out
cat >want <<'WANT'
sarif, good policy: exit code 1, report not empty, standard error empty
sarif, broken policy: exit code 1, report empty, standard error not empty
junit, good policy: exit code 1, report not empty, standard error empty
<failure message="Failed" type="">a must not be 1</failure>
junit, broken policy: exit code 1, report empty, standard error not empty
json, good policy: exit code 1, report not empty, standard error empty
json, broken policy: exit code 1, report empty, standard error not empty
WANT
cmp -s out want || { echo "the behaviour has changed" >&2; exit 1; }
