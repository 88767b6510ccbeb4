package machine

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/evidence"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/rehearsing"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sharing"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// A member is the pipeline of one App.
type member struct {
	*dispatch.Pipeline
	app     *github.App
	secret  github.Secret
	webhook http.Handler
	janitor *reconcile.Janitor
}

// member makes the pipeline of c.App.
func (m *Machine) member(c Config) *member {
	e := &executor.Engine{Version: c.Version, Backend: c.States(m.Data.States), Rescued: filepath.Join(c.Dir, "rescued")}
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
	p := &dispatch.Pipeline{
		Bases: &evidence.Bases{Repositories: c.App}, Inventory: c.App,
		Connect: func(p pipeline.Pull) (dispatch.GitHub, error) { return c.App.Repository(p.Installation, p.Repo) },
		Records: m.Data.Records, Artifacts: m.Data.Artifacts, Queue: m.Data.Queue, Engine: e, Rehearse: rehearsing.Changed, Hook: hook, Notify: notify,
		Serves: c.Serves, Deployment: c.Deployment, States: c.OwnStates, Log: c.Log,
		Runners: []string{environments.CodeBuild}, // a process here has no end, and does what a build would
		Secrets: secrets(c.Secret, hidden),
		Where:   func(a pipeline.Artifact) string { return where(c.URL, a) },
	}
	if c.Apart != nil {
		m.apart(c, p, hidden)
	}
	return &member{Pipeline: p, app: c.App, secret: c.Secret}
}

// in returns the member in a space of its own. The pages know the first App only.
func (x *member) in(s sharing.Space) *member {
	p := x.Pipeline
	p.Records, p.Artifacts, p.Queue, p.Where = s.Records(p.Records), s.Artifacts(p.Artifacts), s.Queue(p.Queue), nil
	return x
}

// open makes the parts that take work in.
func (x *member) open(log func(error)) {
	x.webhook = intake.Webhook{Intake: x.Intake(), Secrets: []github.Secret{x.secret}, Log: log}
	x.janitor = &reconcile.Janitor{Pipeline: x.Pipeline, App: x.app, Connect: func(installation int64, r github.Repo) (reconcile.Repository, error) {
		return x.app.Repository(installation, r)
	}}
}

// of returns the pipeline of the App that a message is of.
func (m *Machine) of(msg pipeline.Message) (*member, error) {
	x := m.members[msg.Pull.App]
	if x == nil {
		return nil, fmt.Errorf("handle %s: there is no App %q any more: name it again, so that its work is done", msg.ID, msg.Pull.App)
	}
	return x, nil
}

// Webhooks are the addresses for webhooks of all Apps but the first, by the Apps' names. Each believes the signatures of
// its own App only.
func (m *Machine) Webhooks() map[string]http.Handler {
	out := map[string]http.Handler{}
	for name, x := range m.members {
		if name != "" {
			out[name] = x.webhook
		}
	}
	return out
}
