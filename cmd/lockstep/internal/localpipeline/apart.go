package localpipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// Apart configures runs that have their own processes.
type Apart struct {
	Limits confine.Limits
	// Ports are TCP ports of this process, to which programs of a run cannot connect.
	Ports []int
	// Show are files and directories that programs of a run may read, in addition to the run's own files.
	Show []string
	// Credentials returns the credentials for a job's state in S3. If it is nil, runs have Lockstep's
	// credentials.
	Credentials func(context.Context, jobs.Job) (aws.CredentialsProvider, error)
	// Remedy is advice in Markdown, shown to users after a run has exceeded a limit.
	Remedy string
	// Protection is called once, with lines that say how the programs of runs are confined.
	Protection func(lines []string)
}

// childSettings are the settings of a machine that it sends to the process of each run.
type childSettings struct {
	Version, States, Providers, CLIConfig string
	Show                                  []string
}

// Main must be the first call in main. If this process was started for a run, Main does the run's work and does
// not return.
func Main() { subprocess.Main(child) }

// child returns the engine that a run's process uses.
func child(c *subprocess.Child) (jobs.Engine, error) {
	var s childSettings
	if err := json.Unmarshal(c.Settings, &s); err != nil {
		return nil, fmt.Errorf("read the settings of the run: %w", err)
	}
	c.Show(s.Show...)
	if s.Providers != "" {
		c.Show(s.Providers)
	}
	e := executor.InChild(c, executor.StatesBy(c.Sessions)(s.States))
	e.Version, e.DataDir, e.CLIConfig = s.Version, s.Providers, s.CLIConfig
	return e, nil
}

// openScratch opens the directory in which the processes of runs have their files.
func (m *Machine) openScratch(c Config) (err error) {
	if m.dir, err = filepath.Abs(c.Dir); err == nil {
		m.scratch, err = subprocess.OpenScratch(filepath.Join(m.dir, "runs"))
	}
	return err
}

// apart makes the pipeline p start a process for each run. hidden are texts, such as secrets, to remove from
// outputs.
func (m *Machine) apart(c Config, p *dispatch.Pipeline, hidden []string) {
	dir := m.dir
	s := childSettings{Version: c.Version, States: filepath.Join(dir, "states"), CLIConfig: c.CLIConfig, Show: c.Apart.Show}
	if c.PluginEnv != nil {
		s.Providers = filepath.Join(dir, "providers")
	}
	e := &subprocess.Engine{
		Settings: s,
		Environment: func(context.Context, jobs.Job) ([]string, error) {
			return childEnv(c.Environ, c.Apart.Credentials != nil), nil
		},
		Credentials: c.Apart.Credentials,
		PluginEnv:   pluginEnv(c.PluginEnv),
		Secrets:     vault,
		Fetch:       modules.Remote{App: c.App}.Fetch,
		Redact:      func(text string, others []string) string { return executor.Redact(slices.Concat(hidden, others), text) },
		Rescue: func(_ context.Context, _ jobs.Job, name string, state []byte) (string, error) {
			return executor.KeepRescued(filepath.Join(dir, "rescued"), name, state)
		},
		Scratch: m.scratch.Dir, Limits: c.Apart.Limits, Ports: c.Apart.Ports, Remedy: c.Apart.Remedy, Protection: c.Apart.Protection,
	}
	if c.Calls != nil {
		e.Gate = c.Calls.Judge
	}
	e.Tool = toolIn(dir)
	p.Engine, p.Projects, p.TryPolicies, p.Step, p.FindUnits, p.Scratch = e, e, e.Rehearse, e.Step, e.FindUnits, e.Scratch
	if err := e.Look(context.Background()); err != nil && c.Log != nil {
		c.Log(fmt.Errorf("find out what programs of runs are kept from: %w", err))
	}
}

// childEnv returns the environment variables for the process of a run. It leaves out Lockstep's options,
// because they name files with secrets. If narrowed is set, the run gets credentials for its state only.
// childEnv then also leaves out Lockstep's credentials.
func childEnv(environ []string, narrowed bool) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "LOCKSTEP_") || narrowed && slices.Contains(ownCredentials, name)
	})
}

// ownCredentials are the environment variables in which the AWS SDK finds credentials.
// Source: https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html
var ownCredentials = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
	"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
}
