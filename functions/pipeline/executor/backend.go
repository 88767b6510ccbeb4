package executor

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/workdir"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/local"
	"github.com/lockstep-iac/lockstep/statebackend/s3"
)

// A BackendFunc opens the backend with a job's state, which is in the default workspace there. s are the
// settings of the configuration's backend block; nil if there is none.
type BackendFunc func(ctx context.Context, j jobs.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics)

// LocalStates stores the states of all projects in a directory, by repository, project and workspace. It
// ignores the path in the project's "local" backend block, and refuses all other backends. A repository is
// identified by its ID, because another repository may get its name.
func LocalStates(dir string) BackendFunc {
	return func(_ context.Context, j jobs.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		if s.Name() != "local" {
			return nil, diags.Errorf(nil, "Backend not available", "The configuration keeps its state in the backend %q, and only states on this machine are available here: use the backend \"local\".", s.Type)
		}
		b, err := local.Open(nil, local.Options{Dir: LocalState(ownDir(dir, j.App), j.Repo.ID, j.Project, j.Workspace)})
		if err != nil {
			return nil, diags.FromError("Error configuring the backend", err)
		}
		return b, nil
	}
}

// ownDir returns the directory for the states of the repositories of one App.
func ownDir(dir, app string) string {
	if app == "" {
		return dir
	}
	return filepath.Join(dir, "app-"+app)
}

// Numbered is the beginning of directory names that contain a repository's ID. No account on GitHub has a name
// with a dot.
const Numbered = "id."

// LocalState returns the directory in dir in which [LocalStates] stores one state.
func LocalState(dir string, repo int64, project, workspace string) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d", Numbered, repo), segment(project), segment(workspace))
}

// Sessions returns credentials that are valid only for the state of a job. They may expire and be renewed while
// the job runs.
type Sessions func(ctx context.Context, j jobs.Job) (aws.CredentialsProvider, error)

// S3States returns a function that opens states at their granted places in S3. sessions returns the
// credentials; if it is nil, Lockstep's credentials are used.
//
// That function refuses configurations that contain credentials, or that would send Lockstep's credentials to
// another host. It also refuses every backend except "s3", because a local state would be lost with the
// machine. The granted place includes locking, encryption and the role of an assume_role: a configuration
// cannot change them.
func S3States(sessions Sessions) BackendFunc {
	return func(ctx context.Context, j jobs.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
		if s.Name() != "s3" {
			return nil, diags.Errorf(nil, "Backend not available",
				"The configuration keeps its state in the backend %q, on a machine that does not last. Lockstep keeps states in S3: add terraform { backend \"s3\" { bucket = ..., key = ..., region = ... } } to the project, run \"lockstep init -migrate-state\" where the state is, and push.", s.Name())
		}
		block := j.State.Block()
		for _, arguments := range []map[string]any{s.Attributes, block} {
			for _, name := range slices.Sorted(maps.Keys(arguments)) {
				if name != places.RoleArgument && !places.Selects(name) {
					return nil, diags.Errorf(nil, "Backend argument not allowed",
						"The backend sets %s, which is not for a pull request to say: Lockstep reaches states with credentials and endpoints of its own. Remove the argument; on other machines, give it by -backend-config or the environment.", name)
				}
			}
		}
		if ds := granted(j, s); ds.HasErrors() {
			return nil, ds
		}
		options := s3.Options{}
		if sessions != nil {
			delete(block, places.RoleArgument) // the session has that role already
			var err error
			if options.Credentials, err = sessions(ctx, j); err != nil {
				return nil, diags.FromError("No credentials for the state", err)
			}
		}
		b, err := s3.Open(ctx, block, options)
		if err != nil {
			return nil, diags.FromError("Error configuring the backend", err)
		}
		return b, nil
	}
}

// States uses [S3States] with Lockstep's credentials for projects with the backend "s3". It uses [LocalStates]
// for all others.
func States(dir string) BackendFunc { return StatesBy(nil)(dir) }

// StatesBy is like [States], but uses the credentials that sessions returns.
func StatesBy(sessions Sessions) func(dir string) BackendFunc {
	inS3 := S3States(sessions)
	return func(dir string) BackendFunc {
		onMachine := LocalStates(dir)
		return func(ctx context.Context, j jobs.Job, s *workdir.Settings) (statebackend.Backend, diags.Diagnostics) {
			if s.Name() == "s3" {
				return inS3(ctx, j, s)
			}
			return onMachine(ctx, j, s)
		}
	}
}

// granted returns errors if the state in the configuration's backend block is not the one that the base branch
// grants.
func granted(j jobs.Job, s *workdir.Settings) diags.Diagnostics {
	wanted, err := places.Of(s.Type, s.Attributes, j.Workspace)
	switch {
	case err != nil:
		return diags.Errorf(nil, "State cannot be found", "Where the state of %s is cannot be told: %s.", j.Project, err)
	case j.State.String() == "":
		why := j.NoState
		if why == "" {
			why = "nobody has granted it"
		}
		return diags.Errorf(nil, "State cannot be opened", "The state of %s would be at %s, which was not looked at on the base branch: %s.", j.Project, wanted, why)
	case !wanted.Is(j.State):
		return diags.Errorf(nil, "State is elsewhere", "The configuration keeps the state of %s at %s, and what was granted is %s.", j.Project, wanted, j.State)
	}
	return nil
}

// segment escapes a name, so that it can be the name of a directory.
func segment(name string) string {
	switch name = url.PathEscape(name); name {
	case ".", "..":
		return "%2E" + name[1:]
	}
	return name
}
