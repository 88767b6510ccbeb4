package operating

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
)

// A BackendFunc opens the backend of a job; s is what its configuration says, nil if
// nothing.
type BackendFunc func(ctx context.Context, j run.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics)

// LocalStates keeps the states of all projects in a directory, under repository,
// project and workspace, whatever path their "local" backend names. Other backends
// are refused.
func LocalStates(dir string) BackendFunc {
	return func(ctx context.Context, j run.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		if s.Name() != "local" {
			return nil, diags.Errorf(nil, "Backend not available", "The configuration keeps its state in the backend %q, and only states on this machine are available here: use the backend \"local\".", s.Type)
		}
		at := filepath.Join(dir, url.PathEscape(j.Repo.Owner), url.PathEscape(j.Repo.Name), segment(j.Project), segment(j.Workspace))
		b, err := local.Open(nil, local.Options{Dir: at})
		if err != nil {
			return nil, diags.FromError("Error configuring the backend", err)
		}
		return b, nil
	}
}

// S3States keeps states where the configuration's "s3" backend says, with our own
// credentials: a configuration that brings its own, or that would send ours elsewhere,
// is refused. So is one with another backend, whose state would be lost with the
// machine that it is on.
func S3States(ctx context.Context, _ run.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
	if s.Name() != "s3" {
		return nil, diags.Errorf(nil, "Backend not available",
			"The configuration keeps its state in the backend %q, on a machine that does not last. Lockstep keeps states in S3: add terraform { backend \"s3\" { bucket = ..., key = ..., region = ... } } to the project, run \"lockstep init -migrate-state\" where the state is, and push.", s.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		if !slices.Contains(ofTheConfiguration, name) {
			return nil, diags.Errorf(nil, "Backend argument not allowed",
				"The backend sets %s, which is not for a pull request to say: Lockstep reaches states with credentials and endpoints of its own. Remove the argument; on other machines, give it by -backend-config or the environment.", name)
		}
	}
	d, ds := workdir.Open("", machineEnv(""))
	if ds.HasErrors() {
		return nil, ds
	}
	b, more := d.OpenBackend(ctx, s, workdir.LocalPaths{})
	return b, append(ds, more...)
}

// ofTheConfiguration are the arguments of the backend "s3" that say which state it is
// and how it is stored. The others say by whose credentials (a role that is assumed is
// told tags and names that a pull request would choose), from which files of the machine,
// and by which hosts.
var ofTheConfiguration = strings.Fields(`acl allowed_account_ids bucket dynamodb_table encrypt forbidden_account_ids
	force_path_style key kms_key_id max_retries region retry_mode skip_credentials_validation skip_metadata_api_check
	skip_region_validation skip_requesting_account_id skip_s3_checksum sse_customer_key sts_region use_dualstack_endpoint
	use_fips_endpoint use_lockfile use_path_style workspace_key_prefix`)

// States is [S3States] for projects with that backend, and [LocalStates] for others.
func States(dir string) BackendFunc {
	onMachine := LocalStates(dir)
	return func(ctx context.Context, j run.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		if s.Name() == "s3" {
			return S3States(ctx, j, s)
		}
		return onMachine(ctx, j, s)
	}
}

// segment makes any name the name of a directory.
func segment(name string) string {
	switch name = url.PathEscape(name); name {
	case ".", "..":
		return "%2E" + name[1:]
	}
	return name
}
