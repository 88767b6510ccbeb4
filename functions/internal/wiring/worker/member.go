package worker

import (
	"context"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/codebuild"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/functions/assembly"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/audit"
	"github.com/lockstep-iac/lockstep/functions/pipeline/awsstore"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sessions"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// A member is the pipeline of one App, with its own engine. So runs of different Apps share no caches.
type member struct {
	*dispatch.Pipeline
	engine *subprocess.Engine
}

// memberOf returns the pipeline of the App that a message belongs to. It reads each App's key once.
func (w *Worker) memberOf(ctx context.Context, m pipeline.Message) (*member, error) {
	name := m.Pull.App
	if x := w.members[name]; x != nil {
		return x, nil
	}
	own, err := w.For(ctx, name)
	if err != nil {
		return nil, err
	}
	w.members[name] = w.member(own)
	return w.members[name], nil
}

// Handle handles a message with the pipeline of its App.
func (w *Worker) Handle(ctx context.Context, m pipeline.Message) error {
	x, err := w.memberOf(ctx, m)
	if err != nil {
		return err
	}
	return x.Pipeline.Handle(ctx, m)
}

// used reports whether a program that the base branch does not name exactly has run in this process, for any
// App.
func (w *Worker) used() bool {
	for _, x := range w.members {
		if x.engine.Used() {
			return true
		}
	}
	return false
}

// member makes the pipeline for the App of a World.
func (w *Worker) member(own *wiring.World) *member {
	state := sessions.Role{ARN: own.StateRole, ExternalID: own.StateExternalID, STS: sts.NewFromConfig(own.AWS)}
	providers := target{Role: own.TargetRole, ExternalID: own.ExternalID, Region: own.AWS.Region, Applies: w.function == wiring.Apply, STS: sts.NewFromConfig(own.AWS)}
	e := &subprocess.Engine{
		// Files on this disk remain after an invocation. So the next invocation finds the installed providers.
		Settings:    childSettings{DataDir: filepath.Join(os.TempDir(), "lockstep-providers"), Mirror: own.Mirror},
		Environment: func(context.Context, jobs.Job) ([]string, error) { return stateEnv(os.Environ()), nil },
		Credentials: state.For,
		PluginEnv:   providers.Env,
		Fetch:       modules.Remote{App: own.App}.Fetch,
		Secrets:     vault{target: providers, AWS: own.AWS}.values,
		Redact: func(text string, others []string) string {
			return executor.Redact(append(ownSecrets(os.Environ(), own.ExternalID), others...), text)
		},
		Rescue:  w.rescue,
		Scratch: w.scratch.Dir, Limits: limits(os.Getenv), Ports: ports(os.Getenv),
		Remedy: limitRemedy,
		Protection: func(lines []string) {
			w.Log.Info("restrictions of programs of pull requests", "protection", lines)
		},
	}
	e.Image = os.Getenv(imageVariable)
	e.Packages = openPackages(w.function, w.World)
	if own.Toolbox != "" {
		e.Tool = toolsIn(awsstore.Tools{Client: s3.NewFromConfig(own.AWS), Bucket: own.Toolbox, Dir: filepath.Join(os.TempDir(), "lockstep-tools")})
	}
	calls := callouts.AWS{Config: own.AWS, FunctionsSetting: "the deployment's parameter CalledFunctions", SecretsSetting: "the deployment's parameter SigningKeys", TopicsSetting: "the deployment's parameter CalledTopics"}.Caller()
	calls.Hide = func(text string) string { return e.Redact(text, nil) }
	e.Gate = calls.Judge
	parts := assembly.Parts{App: own.App, Intake: own.Intake, Artifacts: own.Artifacts, Where: own.Where, PageURL: own.PageURL, Secrets: own.Secrets, Deployment: own.Deployment}
	p := parts.Pipeline()
	p.Engine, p.Projects, p.TryPolicies, p.Step, p.FindUnits, p.Scratch = e, e, e.Rehearse, e.Step, e.FindUnits, e.Scratch
	p.States, p.Share, p.Hook, p.Notify = own.OwnStates, own.MaxPlans, calls.Hook, calls.Notify
	p.Checkouts = &w.checkouts
	p.StopBefore, p.Measure, p.Trace = own.StopBefore, w.Measure, w.Trace
	p.Audit = audit.Trail{Chains: awsstore.Chains{Client: s3.NewFromConfig(own.AWS), Bucket: own.Audit}}
	if own.Builds != "" {
		p.Runners = []string{environments.CodeBuild}
	}
	if own.Builds != "" {
		p.Builds = builds{codebuild.NewFromConfig(own.AWS), own.Builds}
	}
	return &member{p, e}
}
