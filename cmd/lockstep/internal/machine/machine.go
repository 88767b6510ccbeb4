// Package machine is the whole pipeline on one machine, common to `lockstep demo` and `lockstep
// serve`. Records, queues and saved plans are in a data directory, and so are the states of the
// "local" backend; webhooks arrive by HTTP.
//
// It connects parts, and refuses to know which GitHub it uses, and who may see its pages. Start at
// [Open].
package machine

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/apart"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// A Config lists the parts of a machine.
type Config struct {
	Dir     string // the data directory; made if missing
	Version string // Lockstep's
	App     *github.App
	// Secret signs the webhooks.
	Secret github.Secret
	// States returns the backends of states, given the directory for local ones; nil is
	// executor.States.
	States func(dir string) executor.BackendFunc
	// OwnStates are patterns of addresses where every repository may have states of its own in S3.
	OwnStates places.Own
	// Serves are the owners and repositories to serve.
	Serves intake.Serves
	// PluginEnv is the environment of provider plugins, "NAME=value" each. If it is nil no
	// providers are installed, and only the built-in one can be used.
	PluginEnv []string
	// CLIConfig is a file of Terraform's CLI configuration, with the sources of providers; "":
	// their registries.
	CLIConfig string
	// Environ is the process' own environment: its secrets appear in no output.
	Environ []string
	// Secrets are other texts that appear in no output, such as the App's key: a plugin can read
	// files of ours.
	Secrets []string
	// Modules makes the connections for modules of registries and archives; nil stands for
	// one that connects to public addresses only.
	Modules http.RoundTripper
	// Apart makes each run use a process of its own: this program, whose main calls [Main]. States
	// and Modules must be left to their defaults then. nil: runs use this process, which suits
	// configurations that nobody else writes.
	Apart *Apart
	// Calls asks the gates of base branches, calls their hooks, and delivers their notifications. nil: nobody can, which holds applies with
	// gates or hooks.
	Calls *callouts.Caller
	// Deployment is the name of this one, "" for none.
	Deployment string
	// URL is the address of the pages for people, without a slash at the end.
	URL string
	// Log is told of errors after which there was, or will be, another attempt.
	Log func(error)
}

// A Machine is a pipeline with all its parts. It may be used by many goroutines.
type Machine struct {
	Data     *localstore.Dir
	Pipeline *dispatch.Pipeline
	Webhook  http.Handler
	States   executor.BackendFunc

	changed page.Bell // rung after each message
	janitor *reconcile.Janitor
	scratch *apart.Scratch
	log     func(error)
}

// The number of messages that are handled at a time: plans and applies mostly wait.
const atATime = 4

// Open opens the data directory. It makes no request yet.
func Open(c Config) (*Machine, error) {
	data, err := localstore.Open(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := renumber(context.Background(), data); err != nil && c.Log != nil {
		c.Log(err)
	}
	if c.States == nil {
		c.States = executor.States
	}
	e := &executor.Engine{Version: c.Version, Backend: c.States(data.States), Rescued: filepath.Join(c.Dir, "rescued")}
	e.Modules = modules.Remote{App: c.App, Transport: c.Modules}.Install
	hidden := slices.Concat(c.Secrets, ownSecrets(c.Environ))
	e.Secrets = func() []string { return hidden }
	e.Vault = vault
	if c.Calls != nil {
		c.Calls.Hide = func(text string) string { return executor.Redact(hidden, text) }
		e.Gate = c.Calls.Judge
	}
	if c.PluginEnv != nil {
		e.DataDir, e.CLIConfig = filepath.Join(c.Dir, "providers"), c.CLIConfig
		e.PluginEnv = pluginEnv(c.PluginEnv)
	}
	var hook jobs.StepFunc
	var notify jobs.NotifyFunc
	if c.Calls != nil {
		hook, notify = c.Calls.Step, c.Calls.Notify
	}
	m := &Machine{Data: data, States: e.Backend, log: c.Log}
	p := &dispatch.Pipeline{
		Bases:   &evidence.Bases{Repositories: c.App},
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return c.App.Repository(p.Installation, p.Repo) },
		Records: data.Records, Artifacts: data.Artifacts, Queue: data.Queue, Engine: e, Hook: hook, Notify: notify,
		Serves: c.Serves, Deployment: c.Deployment, States: c.OwnStates, Log: c.Log,
		Runners: []string{environments.CodeBuild}, // a process here has no end, and does what a build would
		Secrets: secrets(c.Secret, hidden),
		Where:   func(a pipeline.Artifact) string { return where(c.URL, a) },
	}
	if c.Apart != nil {
		if err := m.apart(c, p, hidden); err != nil {
			return nil, errors.Join(err, data.Close())
		}
	}
	m.Pipeline, m.Webhook = p, intake.Webhook{Intake: p.Intake(), Secrets: []github.Secret{c.Secret}, Log: c.Log}
	m.janitor = &reconcile.Janitor{Pipeline: p, App: c.App, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return c.App.Repository(installation, r)
	}}
	return m, nil
}

// ownSecrets returns the secrets of our environment. Our own options are none: they name files.
func ownSecrets(environ []string) []string {
	return executor.SecretsIn(slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "LOCKSTEP_") }))
}

// secrets returns the texts to remove from comments: each whole, and by lines, since a quotation
// may break up a key. Short lines are left out, since they are parts of too many texts.
func secrets(first github.Secret, texts []string) []github.Secret {
	out := []github.Secret{first}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= shortestSecret {
				out = append(out, github.NewSecret(line))
			}
		}
	}
	return out
}

const shortestSecret = 8

// Close closes the data directory. No work may be under way.
func (m *Machine) Close() error {
	err := m.Data.Close()
	if m.scratch != nil {
		err = errors.Join(err, m.scratch.Close())
	}
	return err
}

// Settle handles messages one after the other until none is left, and returns their number. After
// an error it tries again at once, a few times.
func (m *Machine) Settle(ctx context.Context) (int, error) {
	return m.Data.Queue.Drain(ctx, m.worker(1))
}

// Work handles messages until ctx ends. Then messages under way begin nothing new, and are finished
// first.
func (m *Machine) Work(ctx context.Context) error { return m.Data.Queue.Work(ctx, m.worker(atATime)) }

func (m *Machine) worker(limit int) localstore.Worker {
	handle := func(ctx context.Context, msg pipeline.Message) error {
		defer m.changed.Ring()
		return m.Pipeline.Handle(ctx, msg)
	}
	return localstore.Worker{Handle: handle, Abandon: m.Pipeline.Abandon, Limit: limit, Log: m.log}
}

// Round runs the janitor once.
func (m *Machine) Round(ctx context.Context) (reconcile.Found, error) {
	return m.janitor.Round(ctx, time.Now())
}
