package executor

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// inS3 is a project's backend block, without what is for the machine to say.
const inS3 = `terraform {
  backend "s3" {
    bucket                      = "states"
    key                         = "net/terraform.tfstate"
    region                      = "us-east-1"
    dynamodb_table              = "locks"
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
  }
}

`

// TestStatesInS3 tells the story of a project whose state is in S3 and whose lock is in
// DynamoDB, on real servers: planned, applied, stale, locked, unlocked.
func TestStatesInS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL_S3", statebackendtest.StartVersitygw(t))
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", statebackendtest.StartDynoxide(t))
	b := newBench(t, map[string]string{"net/main.tf": inS3 + two})
	b.engine.Backend = States(b.parent)
	b.granted("default")
	first, second := b.plan(), b.plan()
	if first.Plan == nil || second.Plan == nil || first.State != (runs.StateID{}) {
		t.Fatalf("%+v\n%+v", first, second)
	}
	b.apply(first.Plan, false)
	o := b.apply(first.Plan, true)
	if o.Failed || o.Counts != (counting.Counts{Add: 2}) || o.State.Serial != 1 || o.State.Version == "" {
		t.Fatalf("%+v", o)
	}
	var seen runs.StateID
	if _, err := b.engine.Apply(t.Context(), b.job, second.Plan, whether(func(s runs.StateID) bool { seen = s; return false })); err != nil || seen != o.State {
		t.Errorf("the stale plan meets %+v, %v", seen, err)
	}
	if p := b.plan(); p.Applyable || p.State != o.State {
		t.Errorf("a plan after the apply: %+v", p)
	}
	staging := *b
	staging.granted("staging")
	if p := staging.plan(); p.Counts.Add != 2 || p.State != (runs.StateID{}) {
		t.Errorf("another workspace: %+v", p)
	}

	w := b.workspace()
	lock := func(text string) {
		t.Helper()
		info := statebackend.NewLockInfo("OperationTypeApply", "1.0")
		info.Info = text
		if _, err := w.Lock(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	// A run that died has left its lock.
	lock(lockText(b.job))
	p := b.plan()
	if p.Plan == nil {
		t.Errorf("a plan while it is locked: %+v", p)
	}
	if o := b.apply(p.Plan, true); !o.Failed || !strings.Contains(flat(o.Report), `comment "lockstep unlock -p net" on pull request #7`) {
		t.Errorf("while it is locked: %+v", o)
	}
	other := *b
	other.job.Owner, other.job.Number = "lockstep acme/infra#71", 71
	if u, err := other.engine.Unlock(t.Context(), other.job); u.Locks != 0 || err != nil {
		t.Errorf("unlocked by another pull request: %+v, %v", u, err)
	}
	other.job.Owner, other.job.Number, other.job.Repo.ID = "lockstep acme/other#7", 7, 2
	if u, err := other.engine.Unlock(t.Context(), other.job); u.Locks != 0 || err != nil {
		t.Errorf("unlocked by another repository: %+v, %v", u, err)
	}
	b.job.Owner = "lockstep acme/platform#7" // as its repository is called by now
	if u, err := b.engine.Unlock(t.Context(), b.job); u.Locks == 0 || err != nil {
		t.Errorf("unlocked: %+v, %v", u, err)
	}
	if p := b.plan(); p.Plan == nil {
		t.Errorf("afterwards: %+v", p)
	}
}

// granted has a workspace's state where the project's configuration says, as if the base
// branch said the same.
func (b *bench) granted(workspace string) {
	b.t.Helper()
	b.job.Workspace = workspace
	found, ds := project.Discover(os.DirFS(b.job.Checkout))
	all := found.Projects
	if len(all) != 1 {
		b.t.Fatal(all, ds)
	}
	settings := all[0].Place.Block()
	at, err := places.Of("s3", settings, workspace)
	if err != nil {
		b.t.Fatal(err)
	}
	b.job.State = at
}

// workspace opens the state of a bench's project.
func (b *bench) workspace() statebackend.Workspace {
	b.t.Helper()
	o, _, err := b.engine.open(b.t.Context(), b.job, false)
	if err != nil {
		b.t.Fatal(err)
	}
	defer o.Close()
	backend, ds := o.backend(b.t.Context())
	if ds.HasErrors() {
		b.t.Fatal(ds)
	}
	w, err := backend.Open(statebackend.DefaultWorkspace)
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

// TestS3Denied holds that a refusal of S3 is said, without the key that it was made with.
func TestS3Denied(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret-key")
	t.Setenv("AWS_ENDPOINT_URL_S3", statebackendtest.StartVersitygw(t))
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", statebackendtest.StartDynoxide(t))
	b := newBench(t, map[string]string{"net/main.tf": inS3 + two})
	b.engine.Backend = S3States(nil)
	b.granted("default")
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "Read s3://states/net/terraform.tfstate: access denied") || strings.Contains(p.Report, "not-the-secret-key") {
		t.Errorf("%+v", p)
	}
}

// TestOnlyS3 is a table of backends that are refused where states are in S3.
func TestOnlyS3(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{
		"": `in the backend "local", on a machine that does not last`,
		"terraform {\n  backend \"local\" {\n  }\n}\n": `on main.tf line 2`,
		"terraform {\n  backend \"gcs\" {\n  }\n}\n":   `Lockstep does not support the backend type "gcs"`,
	} {
		b := newBench(t, map[string]string{"net/main.tf": block + two})
		b.engine.Backend = S3States(nil)
		if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), want) {
			t.Errorf("%q: %s", block, p.Report)
		}
	}
}

// TestStateAsGranted holds that no state is opened but the one that was granted, whatever
// the configuration says by now, and that it is opened by the granted locks.
func TestStateAsGranted(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", statebackendtest.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", statebackendtest.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL_S3", statebackendtest.StartVersitygw(t))
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", statebackendtest.StartDynoxide(t))
	b := newBench(t, map[string]string{"net/main.tf": inS3 + two})
	b.engine.Backend = States(b.parent)
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "nobody has granted it") {
		t.Errorf("without a grant: %s", p.Report)
	}
	b.job.NoState = "its configuration was broken"
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "was not looked at on the base branch: its configuration was broken") {
		t.Errorf("where none could be given: %s", p.Report)
	}
	b.granted("default")
	first := b.plan()
	for what, change := range map[string][2]string{
		"another key": {"net/terraform.tfstate", "db/terraform.tfstate"}, "another bucket": {`"states"`, `"others"`},
	} {
		b.write(map[string]string{"net/main.tf": strings.Replace(inS3, change[0], change[1], 1) + two})
		if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "what was granted is s3://states/net/terraform.tfstate") {
			t.Errorf("%s, planned: %s", what, p.Report)
		}
		if o := b.apply(first.Plan, true); !o.Failed || !strings.Contains(flat(o.Report), "what was granted is s3://states/net/terraform.tfstate") {
			t.Errorf("%s, applied: %+v", what, o)
		}
		if u, err := b.engine.Unlock(t.Context(), b.job); err == nil {
			t.Errorf("%s, unlocked: %+v", what, u)
		}
	}
	b.job.Workspace = "blue"
	b.write(map[string]string{"net/main.tf": inS3 + two})
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "s3://states/env:/blue/net/terraform.tfstate") {
		t.Errorf("another workspace: %s", p.Report)
	}
	b.job.Workspace = "default"
	w := b.workspace()
	info := statebackend.NewLockInfo("OperationTypeApply", "1.0")
	if _, err := w.Lock(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	if at := w.Place(); at != "s3://states/net/terraform.tfstate" {
		t.Error(at)
	}
	b.write(map[string]string{"net/main.tf": strings.Replace(inS3, `    dynamodb_table              = "locks"`+"\n", "", 1) + two})
	p := b.plan()
	if p.Plan == nil {
		t.Fatalf("without the lock table: %s", p.Report)
	}
	if o := b.apply(p.Plan, true); !o.Failed || !strings.Contains(flat(o.Report), "is locked since") {
		t.Errorf("without the lock table: %s", o.Report)
	}
}

// TestWhoseCredentials holds that no pull request says by which credentials and hosts
// states are reached.
func TestWhoseCredentials(t *testing.T) {
	t.Parallel()
	attributes := map[string]any{}
	for _, a := range s3.Attributes {
		name := a.Name
		if !places.Selects(name) {
			continue
		}
		attributes[name] = "x"
	}
	for _, name := range strings.Fields(`access_key secret_key token profile shared_config_files shared_credentials_file shared_credentials_files
		assume_role_with_web_identity custom_ca_bundle ec2_metadata_service_endpoint endpoint endpoints dynamodb_endpoint iam_endpoint
		sts_endpoint http_proxy https_proxy no_proxy insecure`) {
		some := maps.Clone(attributes)
		some[name] = "x"
		_, ds := S3States(nil)(t.Context(), jobs.Job{}, &workdir.Settings{Type: "s3", Attributes: some})
		if want := fmt.Sprintf("The backend sets %s, which is not", name); !ds.HasErrors() || !strings.Contains(ds.Error(), want) {
			t.Errorf("%s: %v", name, ds)
		}
		if places.Selects(name) {
			t.Errorf("%s is allowed", name)
		}
	}
	b := newBench(t, map[string]string{"net/main.tf": strings.Replace(inS3, "region ", "endpoints = { s3 = \"http://127.0.0.1:1\" }\n    region ", 1) + two})
	b.engine.Backend = States(b.parent)
	if p := b.plan(); p.Plan != nil || !strings.Contains(flat(p.Report), "The backend sets endpoints") || !strings.Contains(p.Report, "on main.tf line 2") {
		t.Errorf("%+v", p)
	}
}
