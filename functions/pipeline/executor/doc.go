// Package executor plans and applies one project of a checkout with our engine. It implements jobs.Engine.
//
// The author of a pull request wrote the checkout, and a plan runs programs in its name. So nothing in it is
// trusted:
//
//   - Modules, variable files and file functions see only the checkout, and nothing else of the machine
//     ([Engine.open]).
//   - Provisioners, and providers that the base branch does not grant, are refused before anything is
//     installed or started.
//   - Packages must have a granted checksum.
//   - Processes get an environment of their own, and nothing of ours.
//   - The state, its locks, its encryption and its credentials are those of the base branch (package
//     encryptionpolicy).
//   - Secrets are removed from reports by value, also if a message quotes one.
//
// This package does not know GitHub and permissions: the gate is a func, called with the state locked. Start
// reading at [Engine].
package executor

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"time"

	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/loading"
	"github.com/lockstep-iac/lockstep/engine/config/source"
	"github.com/lockstep-iac/lockstep/engine/config/testfiles"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// An Engine implements jobs.Engine. Many goroutines may use it. It must not be copied after its first use.
type Engine struct {
	// Version is Lockstep's version. Saved plans are for the same version only.
	Version string
	// Backend opens the backend of a project: [LocalStates], [S3States] or [States].
	Backend BackendFunc
	// KMS connects to AWS KMS for the keys of encryption blocks; if it is nil, such keys are refused. See
	// [KMSFunc].
	KMS KMSFunc
	// DataDir is the directory for installed providers, and needs as much space as they take. It is kept for
	// later runs, and shared with other processes. It is never in a checkout. "" allows only the built-in
	// provider, which starts nothing.
	DataDir string
	// Mirror is a directory with packages of providers, in the layout of filesystem mirrors; it is then their
	// only source. "" means their registries.
	Mirror string
	// Store and Keep find and store packages that other machines have downloaded: see [install.Installer]. nil
	// for none.
	Store func(context.Context, install.Kept) (install.Package, error)
	Keep  func(context.Context, install.Kept)
	// Registries makes the connections to registries of providers; nil means the usual ones.
	Registries http.RoundTripper
	// Room frees space in DataDir if no other process uses it; nil removes nothing.
	Room *install.Room
	// Modules installs the remote modules of a configuration, and loads it. dir is the project's directory on
	// this machine, and tree its files. early evaluates sources. token has the tokens from the environment's
	// secrets, for registries and git servers. env is the environment of plugins, for buckets. Modules go to
	// ".terraform" in dir, which does not exist before. If Modules is nil, a configuration with remote modules
	// is refused. An error is a failure that may pass, such as that of the network. See package
	// functions/pipeline/modules.
	Modules func(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error)
	// TestModules does the same as Modules for a configuration with its tests: those of a run's module are
	// installed, too.
	TestModules func(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (*testfiles.Suite, diags.Diagnostics, error)
	// CLIConfig is a file in Terraform's CLI configuration format. It selects the sources of providers if there
	// is no Mirror; "" means their registries. dev_overrides in it are refused, because such providers have no
	// checksum.
	CLIConfig string
	// InstallTimeout is how long installing providers may take; 0 means five minutes.
	InstallTimeout time.Duration
	// PluginEnv returns the environment of plugins and, if they are allowed, of provisioners' commands,
	// "NAME=value" each. Nothing of ours is added. Credentials for a job's resources come from there, and it is
	// called once they are needed. nil means an empty environment.
	PluginEnv func(ctx context.Context, j jobs.Job) ([]string, error)
	// Vault returns the secrets that the base branch grants a job's project, by the names of environment
	// variables. TF_VAR_x is the variable x, TF_ENCRYPTION adds to the encryption block, and TF_TOKEN_x is the
	// token of the host x. Tokens and all secrets with other names are passed to plugins. The secrets are in no
	// plan, no report and no environment of commands. nil means that there are none.
	Vault func(ctx context.Context, j jobs.Job) (map[string]string, error)
	// Gate asks a gate of the job about its plan, given as JSON without sensitive values. If Gate is nil, no
	// gate can be asked, so gates block the applies.
	Gate func(ctx context.Context, j jobs.Job, g requirements.Gate, plan []byte) (runs.Judgement, error)
	// Secrets returns texts that must be in no output, such as our present credentials; nil for none.
	Secrets func() []string
	// Rescued is the directory for states that could not be stored in their backend.
	Rescued string
	// Rescue stores a state that its backend refused, on machines that do not last. It returns the place as a
	// text for people. If it is nil, the state is stored in Rescued.
	Rescue func(ctx context.Context, j jobs.Job, name string, state []byte) (where string, err error)

	// Begin starts plugins and provisioners' commands with fewer rights; nil starts them normally.
	Begin func(*exec.Cmd) error
	// Memory is the last value that Remember got in an engine of another process: checksums of verified
	// providers. It saves downloading these providers again. The caller must ensure that no program of a pull
	// request can have written it.
	Memory   []byte
	Remember func([]byte)

	verified verified
}

var _ jobs.Engine = (*Engine)(nil)

const installTimeout = 5 * time.Minute

// describe names a project in errors.
func describe(j jobs.Job) string { return fmt.Sprintf("%s in %s", j.Project, j.Repo) }
