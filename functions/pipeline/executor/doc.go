// Package executor plans and applies one project of a checkout with Lockstep's engine. It implements
// jobs.Engine.
//
// The author of a pull request wrote the checkout, and a plan runs programs that the checkout names. So nothing
// in it is trusted:
//
//   - Modules, variable files and file functions see only the checkout, and nothing else of the machine
//     ([Engine.open]).
//   - Provisioners, and providers that the base branch does not grant, are refused before anything is installed
//     or started.
//   - Packages must have a granted checksum.
//   - Processes get their own environment variables, and none of Lockstep's.
//   - The state, its locks, its encryption and its credentials are those of the base branch (package
//     encryptionpolicy).
//   - Secrets are removed from reports by value, even if a message quotes one.
//
// The package does not know GitHub or permissions: the gate is a function, which it calls with the state
// locked. Start reading at [Engine].
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
	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/engine/provider/install"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/runs"
	"github.com/lockstep-iac/lockstep/functions/project/requirements"
)

// An Engine implements jobs.Engine. It is safe for concurrent use. It must not be copied after its first use.
type Engine struct {
	// Version is Lockstep's version. A saved plan can be applied only by the same version.
	Version string
	// Backend opens the backend of a project: [LocalStates], [S3States] or [States].
	Backend BackendFunc
	// KMS connects to AWS KMS for the keys of encryption blocks; if it is nil, such keys are refused. See
	// [KMSFunc].
	KMS KMSFunc
	// DataDir is the directory for installed providers; it needs enough space for them. Later runs and other
	// processes use it, too. It is never in a checkout. If it is "", only the built-in provider is available,
	// which starts no program.
	DataDir string
	// Builtin is [workdir.PoolOptions.Builtin]. The demo has objects there that somebody changes outside of Lockstep.
	Builtin func(provider.Client) provider.Client
	// Events is called with each event of an apply, and of a plan whose progress somebody wants to know. The event
	// already counts in the reported progress. The change or the plan waits until Events returns. Events may be nil.
	Events events.Listener
	// Mirror is a directory with provider packages, in the layout of filesystem mirrors. If it is set,
	// providers are installed only from there; "" means from their registries.
	Mirror string
	// Store returns a provider package that another machine has downloaded, and Keep stores one: see
	// [install.Installer]. Both may be nil.
	Store func(context.Context, install.Kept) (install.Package, error)
	Keep  func(context.Context, install.Kept)
	// Registries makes the connections to registries of providers; nil means the usual ones.
	Registries http.RoundTripper
	// Room frees space in DataDir if no other process uses that directory. nil removes nothing.
	Room *install.Room
	// Modules installs the remote modules of a configuration, and loads the configuration.
	//   - dir is the project's directory on this machine, and tree its files. Modules are installed in
	//     ".terraform" in dir, which does not exist before.
	//   - early evaluates the sources of modules.
	//   - token returns tokens for registries and git servers, from the environment's secrets.
	//   - env returns the environment variables of plugins, for modules in buckets.
	//
	// An error means a failure that may pass, such as that of a network. If Modules is nil, configurations with
	// remote modules are refused. See package functions/pipeline/modules.
	Modules func(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (*config.Config, diags.Diagnostics, error)
	// TestModules is like Modules, for a configuration with its tests. It also installs the modules that the
	// runs of the tests use.
	TestModules func(ctx context.Context, j jobs.Job, dir string, tree source.Tree, early loading.Early, token hosts.Tokens, env func(context.Context) ([]string, error)) (*testfiles.Suite, diags.Diagnostics, error)
	// CLIConfig is a file in Terraform's CLI configuration format. If there is no Mirror, it says where
	// providers are installed from; "" means their registries. dev_overrides in it are refused, because such
	// providers have no checksum.
	CLIConfig string
	// InstallTimeout is how long installing providers may take; 0 means five minutes.
	InstallTimeout time.Duration
	// PluginEnv returns the environment variables, "NAME=value" each, of plugins and of the commands of
	// provisioners, if these are allowed. None of Lockstep's own variables are added. The variables contain the
	// credentials for a job's resources, so PluginEnv is called only when these are needed. nil means no
	// variables.
	PluginEnv func(ctx context.Context, j jobs.Job) ([]string, error)
	// Vault returns the secrets that the base branch grants to a job's project, by names of environment
	// variables:
	//   - TF_VAR_x is the value of the variable x.
	//   - TF_ENCRYPTION adds to the encryption block.
	//   - TF_TOKEN_x is the token for the host x. Plugins get it, too.
	//   - All others are environment variables of plugins.
	//
	// No secret is written to a plan or a report, or passed to commands. If Vault is nil, there are no secrets.
	Vault func(ctx context.Context, j jobs.Job) (map[string]string, error)
	// Gate asks a gate of the job about the job's plan. plan is JSON without sensitive values. If Gate is nil,
	// no gate can be asked, and each gate blocks the applies.
	Gate func(ctx context.Context, j jobs.Job, g requirements.Gate, plan []byte) (runs.Judgement, error)
	// PrepareUnit has Terragrunt prepare a project whose directory is a unit. If it is nil, such projects are refused.
	PrepareUnit jobs.PrepareUnitFunc
	// Secrets returns texts that must not be in any output, such as Lockstep's present credentials; nil means
	// none.
	Secrets func() []string
	// Rescued is the directory for states that could not be stored in their backend.
	Rescued string
	// Rescue stores a state that its backend has refused to store. It is for machines that do not last. where
	// says, for people, where the state is. If Rescue is nil, the state is stored in the directory Rescued.
	Rescue func(ctx context.Context, j jobs.Job, name string, state []byte) (where string, err error)

	// Begin starts plugins and commands of provisioners with fewer rights; nil starts them normally.
	Begin func(*exec.Cmd) error
	// Memory is what Remember received in the engine of an earlier process: checksums of verified providers.
	// These providers need not be downloaded to verify them. The caller must ensure that no program of a pull
	// request can have written it.
	Memory   []byte
	Remember func([]byte)

	verified verified
}

var _ jobs.Engine = (*Engine)(nil)

const installTimeout = 5 * time.Minute

// describe returns the name of the job's project for error messages.
func describe(j jobs.Job) string { return fmt.Sprintf("%s in %s", j.Project, j.Repo) }
