package localpipeline

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/lockstep-iac/lockstep/functions/assembly"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/policytrial"
	"github.com/lockstep-iac/lockstep/functions/pipeline/reconcile"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// A member is the pipeline of one GitHub App.
type member struct {
	*dispatch.Pipeline
	webhook http.Handler
	janitor *reconcile.Janitor
}

// member returns the pipeline of the App c.App. in keeps the App's records, queues and artifacts separate from
// those of other Apps.
func (m *Machine) member(c Config, in tenants.Space) *member {
	hidden := slices.Concat(c.Secrets, ownSecrets(c.Environ))
	parts := assembly.Parts{
		App:       c.App,
		Intake:    &intake.Intake{Records: m.Data.Records, Queue: m.Data.Queue, Serves: c.Serves, Log: c.Log},
		Artifacts: m.Data.Artifacts, PageURL: c.URL,
		Secrets: secrets(c.Secret, hidden), Deployment: c.Deployment,
	}
	if in != "" { // the pages know the first App only
		parts.Intake.Records, parts.Intake.Queue = in.Records(m.Data.Records), in.Queue(m.Data.Queue)
		parts.Artifacts, parts.PageURL = in.Artifacts(m.Data.Artifacts), ""
	}
	p := parts.Pipeline()
	p.States, p.Audit, p.Measure, p.Trace = c.OwnStates, audit.Trail{Chains: m.Data.Chains}, c.Measure, c.Trace
	// runs here have no time limit, so projects that request CodeBuild can run here, too
	p.Runners = []string{environments.CodeBuild}
	if c.Calls != nil {
		c.Calls.Hide = func(text string) string { return executor.Redact(hidden, text) }
		p.Hook, p.Notify = c.Calls.Hook, c.Calls.Notify
	}
	if c.Apart != nil {
		m.apart(c, p, hidden)
	} else {
		runner, engine := m.stepper(c, hidden), m.engine(c, hidden)
		engine.PrepareUnit = runner.PrepareUnit
		p.Engine, p.TryPolicies, p.Step, p.FindUnits = engine, policytrial.Changed, runner.Step, runner.FindUnits
	}
	p.Engine = announcing{p.Engine, m.Data.Records, &m.changed}
	return &member{p, intake.Webhook{Intake: parts.Intake, Secrets: []github.Secret{c.Secret}, Log: c.Log}, parts.Janitor(p)}
}

// engine returns the engine for runs that use this process.
func (m *Machine) engine(c Config, hidden []string) *executor.Engine {
	e := &executor.Engine{Version: c.Version, Backend: c.States(m.Data.States), Rescued: filepath.Join(c.Dir, "rescued")}
	remote := modules.Remote{App: c.App, Transport: c.Modules}
	e.Modules, e.TestModules = remote.Install, remote.InstallWithTests
	e.Secrets = func() []string { return hidden }
	e.Vault, e.Events, e.Builtin = vault, c.Events, c.Builtin
	if c.Calls != nil {
		e.Gate = c.Calls.Judge
	}
	if c.PluginEnv != nil {
		e.DataDir, e.CLIConfig = filepath.Join(c.Dir, "providers"), c.CLIConfig
		e.PluginEnv = pluginEnv(c.PluginEnv)
	}
	return e
}

// memberOf returns the pipeline of the App that a message belongs to.
func (m *Machine) memberOf(msg pipeline.Message) (*member, error) {
	x := m.members[msg.Pull.App]
	if x == nil {
		return nil, fmt.Errorf("handle %s: there is no App %q any more: name it again, so that its work is done", msg.ID, msg.Pull.App)
	}
	return x, nil
}

// Webhooks returns the webhook handlers of the additional Apps, by name. Each handler accepts only requests
// that are signed for its own App.
func (m *Machine) Webhooks() map[string]http.Handler {
	out := map[string]http.Handler{}
	for name, x := range m.members {
		if name != "" {
			out[name] = x.webhook
		}
	}
	return out
}
