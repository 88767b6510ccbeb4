package executor

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// vpc is the state of another configuration.
const vpc = `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"vpc","outputs":{
  "subnet":{"value":"subnet-0a1b2c","type":"string"},
  "password":{"value":"correct-horse","type":"string","sensitive":true}},"resources":[],"check_results":null}`

// readsVPC is a project that reads it. Its second resource fails as it is applied, and tells the password.
const readsVPC = `data "terraform_remote_state" "vpc" {
  backend = "s3"
  config = {
    bucket         = "states"
    key            = "vpc/terraform.tfstate"
    use_path_style = true
    MORE
  }
}

resource "terraform_data" "a" {
  input = [data.terraform_remote_state.vpc.outputs.subnet, data.terraform_remote_state.vpc.outputs.password]
}

resource "terraform_data" "b" {
  lifecycle {
    postcondition {
      condition     = self.id == ""
      error_message = "Nobody logs in with ${data.terraform_remote_state.vpc.outputs.password}."
    }
  }
}
`

// providersHave has the providers of a bench get these credentials.
func providersHave(b *bench, key, secret string) {
	b.engine.PluginEnv = func(context.Context, jobs.Job) ([]string, error) {
		return []string{"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=" + key, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_SESSION_TOKEN="}, nil
	}
}

// TestRemoteState reads another configuration's state from a real server, with the credentials of
// the project's providers, and shows its sensitive output neither in the plan nor after the apply.
func TestRemoteState(t *testing.T) {
	server := statebackendtest.StartVersitygw(t)
	store(t, server, "vpc/terraform.tfstate", vpc)
	t.Setenv("AWS_ENDPOINT_URL_S3", server)
	for _, atApply := range []string{statebackendtest.SecretKey, "the right to read it has gone"} {
		b := newBench(t, map[string]string{"net/main.tf": strings.Replace(readsVPC, "MORE", "skip_credentials_validation = true", 1)})
		providersHave(b, statebackendtest.AccessKey, statebackendtest.SecretKey)
		p := b.plan()
		if p.Plan == nil || !strings.Contains(flat(p.Report), "subnet-0a1b2c") || strings.Contains(flat(p.Report), "correct-horse") {
			t.Fatalf("%s", p.Report)
		}
		providersHave(b, statebackendtest.AccessKey, atApply)
		o := b.apply(p.Plan, true)
		if report := flat(o.Report); !o.Failed || !strings.Contains(report, "Nobody logs in with") || strings.Contains(report, "correct-horse") {
			t.Errorf("applied with %s: %s", atApply, o.Report)
		}
	}
}

// store puts a state into the bucket of a server.
func store(t *testing.T, server, key, state string) {
	t.Helper()
	b, err := s3.Open(t.Context(), map[string]any{
		"bucket": "states", "key": key, "region": "us-east-1", "access_key": statebackendtest.AccessKey, "secret_key": statebackendtest.SecretKey,
		"endpoints": map[string]any{"s3": server}, "use_path_style": true, "skip_credentials_validation": true, "skip_requesting_account_id": true,
	}, s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := b.Open(statebackend.DefaultWorkspace)
	if err == nil {
		_, err = w.Put(t.Context(), []byte(state), "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRemoteStateIsRefused holds that a pull request reads states with the credentials of the project's
// providers only, never with Lockstep's own, and at no other addresses.
func TestRemoteStateIsRefused(t *testing.T) {
	server := statebackendtest.StartVersitygw(t)
	store(t, server, "vpc/terraform.tfstate", vpc)
	t.Setenv("AWS_ENDPOINT_URL_S3", server)
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey) // Lockstep's own
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	const skip = "skip_credentials_validation = true"
	for _, c := range []struct{ name, more, key, secret, want string }{
		{"no credentials", skip, "", "", "The project's providers have no AWS credentials to read it with: give the project's environment a plan_role"},
		{"others", skip, statebackendtest.AccessKey, "another", "403"},
		{"a host", skip + "\nendpoints = { s3 = \"http://127.0.0.1:1\" }", "k", "s", `The argument "endpoints" is not for a pull request to say`},
		{"a profile", skip + "\nprofile = \"default\"", "k", "s", `The argument "profile" is not for a pull request to say`},
		{"a file", skip + "\nshared_credentials_files = [\"/root/.aws/credentials\"]", "k", "s", `The argument "shared_credentials_files" is not`},
		{"a proxy", skip + "\nhttp_proxy = \"http://127.0.0.1:1\"", "k", "s", `The argument "http_proxy" is not`},
	} {
		b := newBench(t, map[string]string{"net/main.tf": strings.Replace(readsVPC, "MORE", c.more, 1)})
		providersHave(b, c.key, c.secret)
		p := b.plan()
		if report := flat(p.Report); p.Plan != nil && p.Applyable || !strings.Contains(report, c.want) || strings.Contains(report, statebackendtest.SecretKey) {
			t.Errorf("%s: %s", c.name, p.Report)
		}
	}
	b := newBench(t, map[string]string{"net/main.tf": "data \"terraform_remote_state\" \"x\" {\n  backend = \"local\"\n  config  = { path = \"../../states/x\" }\n}\n"})
	providersHave(b, "k", "s")
	if p := b.plan(); !strings.Contains(flat(p.Report), `which runs of pull requests cannot reach: keep it in S3`) {
		t.Errorf("on this machine: %s", p.Report)
	}
}
