// Package machine is the whole pipeline on one machine: what `lockstep demo` and
// `lockstep serve` have in common. Records, queues and saved plans are in a data
// directory, and so are the states of the "local" backend; webhooks come in by HTTP.
//
// It puts parts together and refuses to know which GitHub it talks to, and who looks
// at its pages. Start at [Open].
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
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Config says what a machine is made of.
type Config struct {
	Dir     string // the data directory; made if it is not there
	Version string // Lockstep's
	App     *github.App
	// Secret is the webhooks'.
	Secret github.Secret
	// States returns where states are kept, given the directory for local ones; nil is
	// executor.States.
	States func(dir string) executor.BackendFunc
	// OwnStates are where every repository may have states of its own in S3.
	OwnStates places.Own
	// Serves are the owners and repositories that are served.
	Serves intake.Serves
	// PluginEnv is the environment of provider plugins, "NAME=value" each. Providers are
	// installed only if it is not nil; otherwise there is but the built-in one.
	PluginEnv []string
	// CLIConfig is a file of Terraform's CLI configuration, which says where providers come
	// from; "": from their registries.
	CLIConfig string
	// Environ is the process' own environment: what is secret in it is in no output.
	Environ []string
	// Secrets are other texts that are in no output, such as the App's key: a plugin can
	// read files of ours.
	Secrets []string
	// Modules makes the connections for modules of registries and archives; nil stands for
	// one that connects to public addresses only.
	Modules http.RoundTripper
	// Apart has each run done in a process of its own: this program, whose main calls [Main].
	// States and Modules must be left to their defaults then. nil: runs are done here, as fits
	// configurations that nobody else has written.
	Apart *Apart
	// URL is where people find the pages, without a slash at the end.
	URL string
	// Log is told what went wrong and was, or will be, tried again.
	Log func(error)
}

// A Machine is a pipeline with all that it needs. It may be used by many goroutines.
type Machine struct {
	Data     *localstore.Dir
	Pipeline *dispatch.Pipeline
	Webhook  http.Handler
	States   executor.BackendFunc

	changed page.Bell // rung when something was handled
	janitor *reconcile.Janitor
	scratch *apart.Scratch
	log     func(error)
}

// How many messages are handled at a time: plans and applies are mostly waiting.
const atATime = 4

// Open opens the data directory. It calls nobody yet.
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
	e.Modules = modules.Elsewhere{App: c.App, Transport: c.Modules}.Install
	hidden := slices.Concat(c.Secrets, ownSecrets(c.Environ))
	e.Secrets = func() []string { return hidden }
	if c.PluginEnv != nil {
		e.DataDir, e.CLIConfig = filepath.Join(c.Dir, "providers"), c.CLIConfig
		e.PluginEnv = func(context.Context, jobs.Job) ([]string, error) { return c.PluginEnv, nil }
	}
	m := &Machine{Data: data, States: e.Backend, log: c.Log}
	p := &dispatch.Pipeline{
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return c.App.Repository(p.Installation, p.Repo) },
		Records: data.Records, Artifacts: data.Artifacts, Queue: data.Queue, Engine: e,
		Serves: c.Serves, States: c.OwnStates, Log: c.Log,
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

// ownSecrets returns what is secret in our environment. Our own options are not: they
// name files.
func ownSecrets(environ []string) []string {
	return executor.SecretsIn(slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "LOCKSTEP_") }))
}

// secrets are for what is written on pull requests: each text whole, and line by line,
// for what quotes a key may break it up. Short lines are parts of too much.
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

// Close closes the data directory. Nothing may be under way.
func (m *Machine) Close() error {
	err := m.Data.Close()
	if m.scratch != nil {
		err = errors.Join(err, m.scratch.Close())
	}
	return err
}

// Settle handles messages one after the other until there are none left, and returns
// how many there were. What fails is tried again at once, a few times.
func (m *Machine) Settle(ctx context.Context) (int, error) {
	return m.Data.Queue.Drain(ctx, m.worker(1))
}

// Work handles messages until ctx ends. What is under way then begins nothing new, and
// comes to its end first.
func (m *Machine) Work(ctx context.Context) error { return m.Data.Queue.Work(ctx, m.worker(atATime)) }

func (m *Machine) worker(limit int) localstore.Worker {
	handle := func(ctx context.Context, msg pipeline.Message) error {
		defer m.changed.Ring()
		return m.Pipeline.Handle(ctx, msg)
	}
	return localstore.Worker{Handle: handle, Abandon: m.Pipeline.Abandon, Limit: limit, Log: m.log}
}

// Round lets the janitor go round once.
func (m *Machine) Round(ctx context.Context) (reconcile.Found, error) {
	return m.janitor.Round(ctx, time.Now())
}
