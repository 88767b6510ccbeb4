package worker

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/lockstep-iac/lockstep/functions/internal/wiring"
	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/project/environments"
	"github.com/lockstep-iac/lockstep/github"
)

// Environment variables of a CodeBuild build: the message that the build handles, the build's time limit in minutes, and the
// image that the base branch has named; no variable for the deployment's image.
const (
	messageVariable = "LOCKSTEP_MESSAGE"
	minutesVariable = "LOCKSTEP_BUILD_MINUTES"
	imageVariable   = "LOCKSTEP_BUILD_IMAGE"
)

// buildTime returns the time limit of a build; 0 if this process is not a build.
func buildTime(getenv func(string) string) time.Duration {
	n, err := strconv.Atoi(getenv(minutesVariable))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Minute
}

// buildEnd returns the latest time at which a build of CodeBuild may end: its start plus its limit. The caller ends this
// process at that time.
// Source: https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html
func buildEnd(getenv func(string) string, now time.Time) time.Time {
	begun := now
	if ms, err := strconv.ParseInt(getenv("CODEBUILD_START_TIME"), 10, 64); err == nil && ms < now.UnixMilli() {
		begun = time.UnixMilli(ms)
	}
	return begun.Add(buildTime(getenv))
}

// build handles the only message of a build, and returns the exit code of the process. The code is 0 if the
// work is done, or if another process continues it.
func (w *Worker) build(ctx context.Context, message string) int {
	var m pipeline.Message
	id := os.Getenv("CODEBUILD_BUILD_ID")
	if err := json.Unmarshal([]byte(message), &m); err != nil || m.Kind != w.work() || id == "" {
		w.Log.Error("dropped a message that is not a build of Lockstep", "error", err, "build", id)
		return 1
	}
	end := buildEnd(os.Getenv, time.Now())
	defer time.AfterFunc(time.Until(end), func() { os.Exit(1) }).Stop()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithDeadline(pipeline.WithHardStop(ctx, end), end.Add(-wiring.Margin))
	defer cancel()
	log := w.Log.With("id", m.ID, "build", id, "repository", m.Pull.Repository(), "pull", m.Pull.Number)
	x, err := w.memberOf(ctx, m)
	if err != nil {
		log.Error("the build cannot start", "error", err.Error())
		return 1
	}
	if w.Flush != nil {
		defer w.Flush(ctx)
	}
	x.Build, x.Builds, x.Runners = id, nil, []string{environments.CodeBuild}
	tries := 0
	for {
		err := w.scratch.Empty()
		if err == nil {
			err = x.Handle(ctx, m)
		}
		wait, code := after(err, time.Now(), end)
		if wait == 0 && code != 0 && m.Kind == pipeline.ToPlan { // no queue has the message any more
			if tries++; tries < maxTries {
				wait = time.Minute
			} else if err := x.Abandon(context.WithoutCancel(ctx), m, err.Error()); err != nil {
				log.Error("the plan could not be given up", "error", err.Error())
			}
		}
		if wait == 0 {
			log.Info("the build ends", "result", outcome(err), "code", code)
			return code
		}
		log.Info("the build waits", "why", err.Error(), "wait", wait.String())
		select {
		case <-ctx.Done():
			return 1
		case <-time.After(wait):
		}
	}
}

// maxTries is how often a build tries to make a plan. The queue of plans also delivers a message so
// many times.
const maxTries = 3

// work returns the kind of messages that builds of the function handle.
func (w *Worker) work() pipeline.Kind {
	if w.function == wiring.Plan {
		return pipeline.ToPlan
	}
	return pipeline.ToApply
}

func outcome(err error) string {
	if err == nil {
		return "handled"
	}
	return err.Error()
}

// patience is how long a build waits at most for another process, such as the function that has started the
// build.
const patience = 20 * time.Minute

// after returns how long a build waits before it handles its message once more, after the error err. If wait is
// 0, the build ends, and code is its exit code.
func after(err error, now, end time.Time) (wait time.Duration, code int) {
	var busy *pipeline.BusyError
	var limited *github.RateLimitedError
	var until time.Time
	switch {
	case err == nil || errors.As(err, new(*pipeline.HandOver)):
		return 0, 0
	case errors.As(err, &busy):
		until = busy.Until
	case errors.As(err, &limited):
		until, code = limited.Until, 1
	default:
		return 0, 1
	}
	if wait = max(until.Sub(now), 0) + time.Second; wait > patience && code == 0 || !now.Add(wait).Before(end) {
		return 0, code
	}
	return wait, 0
}
