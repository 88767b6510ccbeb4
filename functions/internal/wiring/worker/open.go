package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/codebuild"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring/handling"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/apart"
	"github.com/lockstep-iac/lockstep/functions/pipeline/callouts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/dispatch"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/modules"
	"github.com/lockstep-iac/lockstep/functions/pipeline/sessions"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
)

// version is the version that saved plans are bound to: another version's are not applied.
const version = "0.1.0-dev"

// A Worker is a function with an engine.
type Worker struct {
	*wiring.World
	Pipeline *dispatch.Pipeline
	engine   *apart.Engine
	scratch  *apart.Scratch
}

// Open opens the clients of a function with an engine. Its main has called [Main] before.
func Open(f wiring.Function) (*Worker, error) {
	if err := confine.Adopt(); err != nil {
		return nil, err
	}
	w, err := wiring.Open(f)
	if err != nil {
		return nil, err
	}
	state := sessions.Role{ARN: w.StateRole, ExternalID: w.StateExternalID, STS: sts.NewFromConfig(w.AWS)}
	providers := target{Role: w.TargetRole, ExternalID: w.ExternalID, Region: w.AWS.Region, Applies: f == wiring.Apply, STS: sts.NewFromConfig(w.AWS)}
	x := &Worker{World: w}
	if x.scratch, err = apart.OpenScratch(filepath.Join(os.TempDir(), "lockstep-runs")); err != nil {
		return nil, err
	}
	x.engine = &apart.Engine{
		// The disk of an environment outlives an invocation: installed providers are there for the
		// next.
		Settings:    childSettings{DataDir: filepath.Join(os.TempDir(), "lockstep-providers"), Mirror: w.Mirror},
		Environment: func(context.Context, jobs.Job) ([]string, error) { return stateEnv(os.Environ()), nil },
		Credentials: state.For,
		PluginEnv:   providers.Env,
		Fetch:       modules.Remote{App: w.App}.Fetch,
		Secrets:     vault{target: providers, AWS: w.AWS}.values,
		Redact: func(text string, others []string) string {
			return executor.Redact(append(ownSecrets(os.Environ(), w.ExternalID), others...), text)
		},
		Rescue: func(ctx context.Context, j jobs.Job, name string, state []byte) (string, error) {
			return rescue(ctx, w, j, name, state)
		},
		Scratch: x.scratch.Dir, Limits: limits(os.Getenv), Ports: ports(os.Getenv),
		Remedy: limitRemedy,
		Protection: func(lines []string) {
			w.Log.Info("what programs of pull requests are kept from", "protection", lines)
		},
	}
	x.engine.Packages = openPackages(f, w)
	calls := callouts.AWS{Config: w.AWS, FunctionsSetting: "the deployment's parameter CalledFunctions", SecretsSetting: "the deployment's parameter SigningKeys", TopicsSetting: "the deployment's parameter CalledTopics"}.Caller()
	calls.Hide = func(text string) string { return x.engine.Redact(text, nil) }
	x.engine.Gate = calls.Judge
	x.Pipeline = handling.Pipeline(w)
	x.Pipeline.States, x.Pipeline.Hook, x.Pipeline.Notify = w.OwnStates, calls.Step, calls.Notify
	x.Pipeline.Engine, x.Pipeline.Projects, x.Pipeline.Scratch = x.engine, x.engine, x.scratch.Dir
	x.Pipeline.StopBefore = w.StopBefore
	if w.Builds != "" {
		x.Pipeline.Runners = []string{environments.CodeBuild}
	}
	if w.Builds != "" && f == wiring.Apply {
		x.Pipeline.Builds = builds{codebuild.NewFromConfig(w.AWS), w.Builds}
	}
	return x, nil
}

// ownSecrets returns the function's credentials, and its other secrets.
func ownSecrets(environ []string, more ...string) []string {
	own := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return !strings.HasPrefix(kv, "AWS_") })
	return slices.DeleteFunc(append(executor.SecretsIn(own), more...), func(s string) bool { return s == "" })
}

// rescue keeps a state that its backend did not take: the function's disk does not last.
func rescue(ctx context.Context, w *wiring.World, j jobs.Job, name string, state []byte) (string, error) {
	a := pipeline.Artifact{Key: "rescued/" + name, Repo: j.Repo.String(), Number: j.Number, SHA: j.Head}
	if err := w.Artifacts.Put(ctx, a, state); err != nil {
		return "", err
	}
	return fmt.Sprintf("s3://%s/%s", w.Bucket, a.Key), nil
}
