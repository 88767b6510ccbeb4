package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A Story shows one feature of Lockstep, in its own world.
type Story struct {
	Name   string // for the command line
	Shows  string // a sentence
	scenes []scene
	// lockObjects is set if each state is locked by an object beside it, as on S3. Such a lock remains when the
	// process that holds it dies.
	lockObjects bool
	// bucket is the bucket of the fake S3 server with the world's states; "" means that states are local.
	bucket string
}

// Stories returns all stories, the most interesting first. `lockstep demo -script` runs the first one.
func Stories() []Story {
	return []Story{
		killedApply, semanticEqual, plannedOutputs,
		commentApply, buttons, mergeApply, mergeQueue, automerge, requiredCheck,
		semanticDifferent, twoPlansAtOnce, supersede, planOptions, importByComment, stateMove, removedProject,
		policy, steps, sarif, costGate, toolbox, override, teamGate, codeowners, hooks, deployments, lockSet,
		annotations, riskGate, blastRadius, manyProjects, history, auditTrail, measuring, onThePage, monorepo, environments, remoteState, projectInputs, units, atlantisYAML, shadowMode,
		applyQueue, progress, resume, longApply, stop, unlock, partialFailure, retryAfterMerge, followUp, runTrigger, drift, driftAccept,
		fork, forkPlan, bigPlan, replay,
	}
}

// Find returns the story with a name.
func Find(name string) (Story, bool) {
	for _, s := range Stories() {
		if s.Name == name {
			return s, true
		}
	}
	return Story{}, false
}

// A missingError lists the expectations of a story that were not met.
type missingError struct {
	Story, Scene string
	Problems     []string // each half a sentence
}

func (e *missingError) Error() string {
	return fmt.Sprintf("the story %s went wrong where %s: %s", e.Story, e.Scene, strings.Join(e.Problems, "; "))
}

// Tell runs a story in a new world, with o.Dir as the world's directory, and prints it. The error is a
// *missingError if an expectation is not met.
func (t *Teller) Tell(ctx context.Context, s Story, o Options) (err error) {
	t.story(s)
	o.OnEdit, o.lockObjects, o.bucket = t.edit, s.lockObjects, s.bucket
	w, err := New(o)
	if err != nil {
		return err
	}
	defer func() {
		if e := w.Close(); err == nil {
			err = e
		}
	}()
	w.narrate = t.line
	for i, x := range s.scenes {
		t.scene(i+1, x.title, x.want)
		if err := x.do(ctx, w); err != nil {
			return fmt.Errorf("%s, where %s: %w", s.Name, x.title, err)
		}
		if err := w.Settle(ctx); err != nil {
			return fmt.Errorf("%s, where %s: %w", s.Name, x.title, err)
		}
		problems := x.check(t.said)
		if x.verify != nil {
			if err := x.verify(ctx, w); err != nil {
				problems = append(problems, err.Error())
			}
		}
		for _, part := range t.hidden() {
			problems = append(problems, fmt.Sprintf("%q is not in what was printed", part))
		}
		if len(problems) > 0 {
			return &missingError{s.Name, x.title, problems}
		}
	}
	return nil
}

// check returns one sentence for each expected text that is missing in said, and for each forbidden text that
// is in it. said are the texts that Lockstep wrote during the scene.
func (x scene) check(said []string) []string {
	var problems []string
	has := func(part string) bool {
		return slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, part) })
	}
	for _, part := range x.want {
		if !has(part) {
			problems = append(problems, fmt.Sprintf("nothing was said of %q", part))
		}
	}
	for _, part := range x.never {
		if has(part) {
			problems = append(problems, fmt.Sprintf("%q was said", part))
		}
	}
	return problems
}

// said returns the text of an edit on the fake GitHub, for comparison with the expected texts of a scene. It
// returns "" if the edit is not Lockstep's.
func said(e githubtest.Edit) string {
	switch {
	case !strings.HasSuffix(e.Who, "[bot]"):
		return ""
	case e.Kind == "check":
		return fmt.Sprintf("check %s: %s", e.Check, e.Text)
	case e.Kind == "comment" || e.Kind == "edit":
		return e.Text
	case e.Kind == "issue":
		return fmt.Sprintf("issue #%d: %s", e.Number, e.Text)
	case e.Kind == "deployment":
		return "deployment " + e.Text
	case e.Kind == "merge":
		return fmt.Sprintf("merge #%d", e.Number)
	case e.Kind == "delete branch" || e.Kind == "minimize":
		return told(e)
	}
	return ""
}

// secret is the secret that signs the webhooks.
var secret = github.NewSecret("the webhook's secret")
