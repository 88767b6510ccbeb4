package executor

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// raw are values as JSON, by name.
func raw(values map[string]string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, v := range values {
		out[name] = json.RawMessage(v)
	}
	return out
}

// TestVariablesOfSettings holds which values win, and that errors in them name lockstep.hcl.
func TestVariablesOfSettings(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"net/main.tf": `variable "a" {
  type    = list(string)
  default = []
}

variable "b" {
  default = "default"
}

variable "size" {
  type    = number
  default = 0
}

module "m" {
  source = "../${var.b}"
}

resource "terraform_data" "x" {
  input = "${join("+", var.a)} ${var.b} ${var.size}"
}
`,
		"net/terraform.tfvars": "a = [\"file\"]\nsize = 1\n",
		"vars/prod.tfvars":     "size = 2\n",
		"default/main.tf":      "",
		"named/main.tf":        "",
	}
	for _, test := range []struct {
		values map[string]string
		want   string
	}{
		{nil, `"file default 2"`},
		{map[string]string{"a": `["x","y"]`, "b": `"named"`, "size": `3`, "other": `"of another configuration"`}, `"x+y named 3"`},
		{map[string]string{"size": `"4"`}, `"file default 4"`},
		{map[string]string{"size": `"many"`}, `The value of variable "size", set by variables in lockstep.hcl, does not fit the type`},
		{map[string]string{"size": `{`}, `The variables in lockstep.hcl cannot be read`},
	} {
		b := newBench(t, files)
		b.job.VarFiles, b.job.Variables = []string{"vars/prod.tfvars"}, raw(test.values)
		p := b.plan()
		if !strings.Contains(flat(p.Report), test.want) || strings.Contains(p.Report, "undeclared") {
			t.Errorf("%v: want %s\n%s", test.values, test.want, p.Report)
		}
		if p.Plan == nil {
			continue
		}
		if o := b.apply(p.Plan, true); o.Failed || o.Counts.Add != 1 {
			t.Errorf("%v: %s", test.values, o.Report)
		}
	}
}

// TestPartialBackend holds that a state is where block and backend_config together put it, in S3 as on
// this machine, and that backend_config may bring no more than the block.
func TestPartialBackend(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL_S3", statebackendtest.StartVersitygw(t))
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", statebackendtest.StartDynoxide(t))
	const partial = "terraform {\n  backend \"s3\" {\n    region = \"us-east-1\"\n    use_lockfile = true\n    use_path_style = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    skip_metadata_api_check = true\n  }\n}\n"
	b := newBench(t, map[string]string{"net/main.tf": partial + two})
	b.engine.Backend = S3States(nil)
	b.job.BackendConfig = raw(map[string]string{"bucket": `"states"`, "key": `"net/partial.tfstate"`, "encrypt": "null"})
	at, err := places.Of("s3", map[string]any{"bucket": "states", "key": "net/partial.tfstate", "region": "us-east-1", "use_lockfile": true, "use_path_style": true,
		"skip_credentials_validation": true, "skip_requesting_account_id": true, "skip_metadata_api_check": true}, "default")
	if err != nil {
		t.Fatal(err)
	}
	b.job.State = at
	if o := b.apply(b.plan().Plan, true); o.Failed || o.Counts.Add != 2 {
		t.Fatal(o.Report)
	}
	if p := b.plan(); p.Applyable || p.State.Serial != 1 {
		t.Errorf("a plan after the apply: %+v", p)
	}
	for name, want := range map[string]string{
		"key":        "what was granted is s3://states/net/partial.tfstate",
		"access_key": "The backend sets access_key, which is not for a pull request to say",
		"endpoints":  "The backend sets endpoints, which is not for a pull request to say",
		"kye":        `The backend configuration argument "kye" given by backend_config in lockstep.hcl is not expected`,
	} {
		other := *b
		other.job.BackendConfig = raw(map[string]string{"bucket": `"states"`, "key": `"net/partial.tfstate"`, name: `"net/other.tfstate"`})
		if p := other.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), want) {
			t.Errorf("%s: %s", name, p.Report)
		}
	}
	here := newBench(t, map[string]string{"net/main.tf": "terraform {\n  backend \"local\" {}\n}\n" + two})
	here.job.BackendConfig = raw(map[string]string{"path": `"../../elsewhere.tfstate"`})
	if o := here.apply(here.plan().Plan, true); o.Failed {
		t.Fatal(o.Report)
	}
	if found, _ := filepath.Glob(filepath.Join(here.parent, "elsewhere*")); len(found) > 0 {
		t.Errorf("the state is at %v", found)
	}
}
