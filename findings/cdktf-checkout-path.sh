#!/bin/sh
# cdktf 0.21.0: a stack without a backend names the absolute path of its checkout in the generated configuration.
#
# App.synth writes a backend block for each stack. For a stack without a backend, it is a local one, whose path begins with the
# working directory. So the same program at the same commit generates another cdk.tf.json in each checkout. Whoever compares
# the generated file with a reviewed one finds a difference each time, and a state lands outside of the stack's directory.
# With a backend of its own, the file is the same in each checkout, byte for byte.
#
# Usage: sh findings/cdktf-checkout-path.sh      needs node and npm; exits with 1 if the behaviour has changed
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --prefix lib cdktf@0.21.0 constructs@10.4.2 >/dev/null 2>&1
cat >main.js <<'JS'
const { App, TerraformStack, TerraformOutput, S3Backend } = require("cdktf");
class Example extends TerraformStack {
  constructor(scope, name, backend) {
    super(scope, name);
    if (backend) new S3Backend(this, { bucket: "states", key: name, region: "eu-central-1" });
    new TerraformOutput(this, "answer", { value: 42 });
  }
}
const app = new App();
new Example(app, "without", false);
new Example(app, "with", true);
app.synth();
JS
for checkout in one two; do
	mkdir $checkout
	cp main.js $checkout
	(cd $checkout && NODE_PATH=$dir/lib/node_modules CHECKPOINT_DISABLE=1 node main.js)
done
for stack in without with; do
	file=cdktf.out/stacks/$stack/cdk.tf.json
	cmp -s one/$file two/$file && same=equal || same=different
	echo "$stack a backend: the files of two checkouts are $same"
	grep -o '"path": "[^"]*tfstate"' one/$file | sed "s#$dir#ROOT#" || true
done >out
cat out
cat >want <<'WANT'
without a backend: the files of two checkouts are different
"path": "ROOT/one/terraform.without.tfstate"
with a backend: the files of two checkouts are equal
WANT
cmp -s out want || { echo "the behaviour has changed" >&2; exit 1; }
