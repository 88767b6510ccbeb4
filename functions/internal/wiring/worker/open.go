package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/confine"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/internal/wiring/collector"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/executor"
	"github.com/lockstep-iac/lockstep/functions/pipeline/gatefacts"
	"github.com/lockstep-iac/lockstep/functions/pipeline/jobs"
	"github.com/lockstep-iac/lockstep/functions/pipeline/subprocess"
)

// A Worker is the process of a function with an engine. It handles one message at a time.
type Worker struct {
	*wiring.World
	function wiring.Function
	scratch  *subprocess.Scratch
	members  map[string]*member // by App; only Apps that had a message
	// checkouts are kept from one message to the next. The function handles them one after another.
	checkouts gatefacts.Checkouts
}

// Open opens the clients of a function with an engine. The function's main must have called [Main] before.
func Open(f wiring.Function) (*Worker, error) {
	if err := confine.Adopt(); err != nil {
		return nil, err
	}
	w, err := wiring.Open(f)
	if err != nil {
		return nil, err
	}
	collector.Open(w)
	x := &Worker{World: w, function: f, members: map[string]*member{"": nil}}
	if x.scratch, err = subprocess.OpenScratch(filepath.Join(os.TempDir(), "lockstep-runs")); err != nil {
		return nil, err
	}
	x.members[""] = x.member(w)
	return x, nil
}

// ownSecrets returns texts that must be removed from outputs: the function's credentials, and the texts in
// more.
func ownSecrets(environ []string, more ...string) []string {
	own := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return !strings.HasPrefix(kv, "AWS_") })
	return slices.DeleteFunc(append(executor.SecretsIn(own), more...), func(s string) bool { return s == "" })
}

// rescue stores a state that its backend has refused to store. It returns the place, which is in the bucket:
// the function's disk does not last. The states of all Apps are in the same place, where operators look for
// them.
func (w *Worker) rescue(ctx context.Context, j jobs.Job, name string, state []byte) (string, error) {
	a := pipeline.Artifact{Key: "rescued/" + name, Repo: j.Repository(), Number: j.Number, SHA: j.Head}
	if j.App != "" {
		a.Key = "rescued/" + j.App + "/" + name
	}
	if err := w.Artifacts.Put(ctx, a, state); err != nil {
		return "", err
	}
	return fmt.Sprintf("s3://%s/%s", w.Bucket, a.Key), nil
}
