package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/lockstep-iac/lockstep/functions/run"
	"github.com/lockstep-iac/lockstep/functions/run/modules"
	"github.com/lockstep-iac/lockstep/functions/run/operating"
	"github.com/lockstep-iac/lockstep/functions/run/sessions"
	"github.com/lockstep-iac/lockstep/functions/wiring"
)

// version is what saved plans are bound to: another one's are not applied.
const version = "0.1.0-dev"

// Open opens what a function with an engine needs.
func Open(f wiring.Function) (*wiring.World, error) {
	w, err := wiring.Open(f)
	if err != nil {
		return nil, err
	}
	state := sessions.Role{ARN: w.StateRole, ExternalID: w.StateExternalID, STS: sts.NewFromConfig(w.AWS)}
	target := Target{Role: w.TargetRole, ExternalID: w.ExternalID, Region: w.AWS.Region, STS: sts.NewFromConfig(w.AWS)}
	w.Pipeline.Engine = &operating.Engine{
		Version: version, Backend: operating.S3States(state.For),
		Modules: modules.Elsewhere{App: w.App}.Install,
		// The disk of an environment outlives an invocation: what is installed once is
		// there for the next.
		DataDir:   filepath.Join(os.TempDir(), "lockstep-providers"),
		Mirror:    w.Mirror,
		PluginEnv: target.Env,
		Secrets:   func() []string { return ownSecrets(os.Environ(), w.ExternalID) },
		Rescue: func(ctx context.Context, j run.Job, name string, state []byte) (string, error) {
			return rescue(ctx, w, j, name, state)
		},
	}
	w.Pipeline.States = w.OwnStates
	w.Pipeline.StopBefore = w.StopBefore
	return w, nil
}

// ownSecrets returns the function's credentials, and what else only it knows.
func ownSecrets(environ []string, more ...string) []string {
	own := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return !strings.HasPrefix(kv, "AWS_") })
	return slices.DeleteFunc(append(operating.SecretsIn(own), more...), func(s string) bool { return s == "" })
}

// rescue keeps a state that its backend did not take: the function's disk does not last.
func rescue(ctx context.Context, w *wiring.World, j run.Job, name string, state []byte) (string, error) {
	a := run.Artifact{Key: "rescued/" + name, Repo: j.Repo.String(), Number: j.Number, SHA: j.Head}
	if err := w.Pipeline.Artifacts.Put(ctx, a, state); err != nil {
		return "", err
	}
	return fmt.Sprintf("s3://%s/%s", w.Bucket, a.Key), nil
}
