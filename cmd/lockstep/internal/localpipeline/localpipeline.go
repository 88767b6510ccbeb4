// Package localpipeline runs the whole pipeline on one machine, for `lockstep demo` and `lockstep serve`.
// Records, queues, saved plans, and the states of the "local" backend are in a data directory. Webhooks arrive
// by HTTP.
//
// The package connects the parts of the pipeline. It does not know which GitHub the pipeline uses, or who may
// see the pipeline's pages. Start at [Open].
package localpipeline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/events"
	"github.com/lockstep-iac/lockstep/engine/provider"
	"github.com/lockstep-iac/lockstep/functions/metrics"
	"github.com/lockstep-iac/lockstep/functions/page"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/localstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
	"github.com/lockstep-iac/lockstep/functions/places"
	"github.com/lockstep-iac/lockstep/github"
)

// A Config has the settings and parts of a machine.
type Config struct {
	Dir     string // the data directory; made if missing
	Version string // Lockstep's
	// Measure records measurements, and Trace begins a span for each message; nil for nowhere.
	Measure metrics.Func
	Trace   metrics.Tracer
	App     *github.App
	// Secret is the secret that signs webhooks.
	Secret github.Secret
	// States returns the function that opens the backends of states. dir is the directory for local states. nil
	// means executor.States.
	States func(dir string) executor.BackendFunc
	// Events is called with the events of plans and applies that use this process: see executor.Engine. It may be nil.
	Events events.Listener
	// Builtin changes the built-in provider of plans and applies that use this process: see executor.Engine. It may be nil.
	Builtin func(provider.Client) provider.Client
	// OwnStates are patterns of addresses in S3 at which every repository may have its own states.
	OwnStates places.Own
	// Serves are the owners and repositories for which the pipeline works.
	Serves intake.Serves
	// PluginEnv is the environment of provider plugins, with elements "NAME=value". If it is nil, no providers
	// are installed, and only the built-in one can be used.
	PluginEnv []string
	// CLIConfig is the path of a Terraform CLI configuration file, which says where providers are installed
	// from. "" means the providers' registries.
	CLIConfig string
	// Environ are the environment variables of this process. Secrets in them are removed from all outputs.
	Environ []string
	// Secrets are additional texts to remove from all outputs, such as the App's private key: a plugin could
	// read them in Lockstep's files.
	Secrets []string
	// Modules is the transport for downloading modules from registries and archives. nil means a transport that
	// connects only to public addresses.
	Modules http.RoundTripper
	// Apart makes each run use its own process, which runs this program; main must call [Main]. States and
	// Modules must then be nil. If Apart is nil, runs use this process. That is safe only if nobody else can
	// change the configurations.
	Apart *Apart
	// Calls calls the gates, hooks and notifications that lockstep.hcl on base branches names. If it is nil,
	// they cannot be called, and applies with gates or hooks are blocked.
	Calls *callouts.Caller
	// Further are the additional Apps, by name. They do not include the first one, App.
	Further map[string]Further
	// Deployment is the name of this deployment; "" if it has none.
	Deployment string
	// URL is the address of the pages for people, without a slash at the end.
	URL string
	// Log is called with each error that Lockstep handles by trying again.
	Log func(error)
}

// A Further is an additional App, for example of another organization or GitHub server. Its repositories share
// nothing with those of other Apps.
type Further struct {
	App    *github.App
	Secret github.Secret
	Serves intake.Serves
}

// A Machine is a pipeline with all its parts. It is safe for concurrent use.
type Machine struct {
	Data     *localstore.Dir
	Pipeline *dispatch.Pipeline
	Webhook  http.Handler
	States   executor.BackendFunc

	changed page.Changes // announces each handled message, and the progress of applies, to the pages
	members map[string]*member
	scratch *subprocess.Scratch
	dir     string // the absolute path of the data directory
	log     func(error)
	measure metrics.Func
}

// atATime is the number of messages that are handled at the same time. Plans and applies mostly wait.
const atATime = 4

// Open opens the data directory, and returns the machine. It makes no request to GitHub or AWS.
func Open(c Config) (*Machine, error) {
	data, err := localstore.Open(c.Dir)
	if err != nil {
		return nil, err
	}
	if c.States == nil {
		c.States = executor.States
	}
	m := &Machine{Data: data, log: c.Log, measure: c.Measure, members: map[string]*member{}}
	if err := m.openScratch(c); err != nil {
		return nil, errors.Join(err, data.Close())
	}
	first := m.member(c, "")
	m.members[""] = first
	for name, f := range c.Further {
		own := c
		// This additional App may belong to another GitHub server, with repositories of the same names. So the
		// first App's patterns for states that repositories own do not apply to it.
		own.App, own.Secret, own.Serves, own.OwnStates = f.App, f.Secret, f.Serves, nil
		m.members[name] = m.member(own, tenants.Space(name))
	}
	m.Pipeline, m.Webhook, m.States = first.Pipeline, first.webhook, c.States(data.States)
	return m, nil
}

// ownSecrets returns the secrets in Lockstep's environment variables. Variables with Lockstep's own options are
// left out: they contain only names of files.
func ownSecrets(environ []string) []string {
	return executor.SecretsIn(slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "LOCKSTEP_") }))
}

// secrets returns the texts to remove from comments. first is removed as a whole. Of texts, each line is
// removed on its own, because a quotation may break up a key. Short lines are left out, because they occur in
// many texts.
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

// Close closes the data directory. The caller must have ended all work of the machine before.
func (m *Machine) Close() error {
	err := m.Data.Close()
	if m.scratch != nil {
		err = errors.Join(err, m.scratch.Close())
	}
	return err
}

// Settle handles waiting messages one after another until none is left, and returns their number. It tries a
// message that failed again at once, a limited number of times.
func (m *Machine) Settle(ctx context.Context) (int, error) {
	return m.Data.Queue.Drain(ctx, m.worker(1))
}

// Work handles messages until ctx ends. Messages in progress then start no new work, and Work returns once they
// are finished.
func (m *Machine) Work(ctx context.Context) error { return m.Data.Queue.Work(ctx, m.worker(atATime)) }

func (m *Machine) worker(limit int) localstore.Worker {
	handle := func(ctx context.Context, msg pipeline.Message) error {
		defer m.changed.Changed()
		x, err := m.memberOf(msg)
		if err != nil {
			return err
		}
		return x.Handle(ctx, msg)
	}
	abandon := func(ctx context.Context, msg pipeline.Message, reason string) error {
		x, err := m.memberOf(msg)
		if err != nil {
			return nil // without this App, Lockstep cannot write any comment there
		}
		err = x.Abandon(ctx, msg, reason)
		if err == nil {
			m.measure.Observe(metrics.DeadLetters, 1, string(msg.Kind))
		}
		return err
	}
	taken := func(msg pipeline.Message) {
		if !msg.Cause.Sent.IsZero() {
			m.measure.Observe(metrics.QueueSeconds, time.Since(msg.Cause.Sent).Seconds(), string(msg.Kind))
		}
	}
	return localstore.Worker{Handle: handle, Abandon: abandon, Taken: taken, Limit: limit, Log: m.log}
}

// Round runs the janitor once: it finds work that was lost, and resumes it.
func (m *Machine) Round(ctx context.Context) (reconcile.Found, error) {
	var all reconcile.Found
	var errs []error
	for _, x := range m.members {
		found, err := x.janitor.Round(ctx, time.Now())
		all.Add(found)
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}
