// Package localpipeline is the whole pipeline on one machine, common to `lockstep demo` and `lockstep
// serve`. Records, queues and saved plans are in a data directory, and so are the states of the
// "local" backend; webhooks arrive by HTTP.
//
// It connects parts, and does not know which GitHub it uses, and who may see its pages. Start at
// [Open].
package localpipeline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

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
	// Further are Apps beside App, by their names.
	Further map[string]Further
	// Deployment is the name of this one, "" for none.
	Deployment string
	// URL is the address of the pages for people, without a slash at the end.
	URL string
	// Log is told of errors after which there was, or will be, another attempt.
	Log func(error)
}

// A Further is an App beside the first one, of another organization or server, say: its repositories share nothing
// with those of others.
type Further struct {
	App    *github.App
	Secret github.Secret
	Serves intake.Serves
}

// A Machine is a pipeline with all its parts. It may be used by many goroutines.
type Machine struct {
	Data     *localstore.Dir
	Pipeline *dispatch.Pipeline
	Webhook  http.Handler
	States   executor.BackendFunc

	changed page.Changes // rung after each message
	members map[string]*member
	scratch *subprocess.Scratch
	dir     string // the absolute path of the data directory, if runs are apart
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
	if c.States == nil {
		c.States = executor.States
	}
	m := &Machine{Data: data, log: c.Log, members: map[string]*member{}}
	if c.Apart != nil {
		if err := m.openScratch(c); err != nil {
			return nil, errors.Join(err, data.Close())
		}
	}
	first := m.member(c, "")
	m.members[""] = first
	for name, f := range c.Further {
		own := c
		// Its repositories have names that are another's, too: no pattern makes states of these.
		own.App, own.Secret, own.Serves, own.OwnStates = f.App, f.Secret, f.Serves, nil
		m.members[name] = m.member(own, tenants.Space(name))
	}
	m.Pipeline, m.Webhook, m.States = first.Pipeline, first.webhook, c.States(data.States)
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
		defer m.changed.Changed()
		x, err := m.of(msg)
		if err != nil {
			return err
		}
		return x.Handle(ctx, msg)
	}
	abandon := func(ctx context.Context, msg pipeline.Message, reason string) error {
		x, err := m.of(msg)
		if err != nil {
			return nil // nobody can be told without the App
		}
		return x.Abandon(ctx, msg, reason)
	}
	return localstore.Worker{Handle: handle, Abandon: abandon, Limit: limit, Log: m.log}
}

// Round runs the janitor once.
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
