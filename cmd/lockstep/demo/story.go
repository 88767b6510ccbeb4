package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/github"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A Story shows one thing that Lockstep does, in a world of its own.
type Story struct {
	Name   string // as on a command line
	Shows  string // a sentence
	scenes []scene
}

// A scene is what somebody does, with what is to be expected of it.
type scene struct {
	title string
	do    func(ctx context.Context, w *World) error
	// want is what must be said on pull requests meanwhile, never what must not: parts
	// of comments, or "check NAME: CONCLUSION, TITLE".
	want, never []string
	// holds says, when all is over, what is not as it must be; may be nil.
	holds func(ctx context.Context, w *World) error
}

// by is a scene's deed that cannot fail.
func by(do func(*githubtest.Repository)) func(context.Context, *World) error {
	return func(_ context.Context, w *World) error { do(w.repo); return nil }
}

// Stories returns all stories, the simplest first.
func Stories() []Story {
	return []Story{
		commentApply, mergeApply, stalePlan, supersede, unlock, fork, partialFailure, bigPlan, replay,
	}
}

// Find returns the story of a name.
func Find(name string) (Story, bool) {
	for _, s := range Stories() {
		if s.Name == name {
			return s, true
		}
	}
	return Story{}, false
}

// A MissingError says that a story did not go as it should.
type MissingError struct {
	Story, Scene string
	Problems     []string // each half a sentence
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the story %s went wrong where %s: %s", e.Story, e.Scene, strings.Join(e.Problems, "; "))
}

// Tell tells a story in a new world, and returns a *MissingError if it does not go as
// it should. The world's directory is o.Dir.
func (t *Teller) Tell(ctx context.Context, s Story, o Options) (err error) {
	t.story(s)
	o.OnEdit = t.edit
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
		t.scene(i+1, x.title)
		if err := x.do(ctx, w); err != nil {
			return fmt.Errorf("%s, where %s: %w", s.Name, x.title, err)
		}
		if err := w.Settle(ctx); err != nil {
			return fmt.Errorf("%s, where %s: %w", s.Name, x.title, err)
		}
		problems := x.check(t.said)
		if x.holds != nil {
			if err := x.holds(ctx, w); err != nil {
				problems = append(problems, err.Error())
			}
		}
		if len(problems) > 0 {
			return &MissingError{s.Name, x.title, problems}
		}
	}
	return nil
}

// check compares what was said with what is to be.
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

// said is what an edit counts as for the expectations; "" if it is not ours.
func said(e githubtest.Edit) string {
	switch {
	case !strings.HasSuffix(e.Who, "[bot]"):
		return ""
	case e.Kind == "check":
		return fmt.Sprintf("check %s: %s", e.Check, e.Text)
	case e.Kind == "comment" || e.Kind == "edit":
		return e.Text
	}
	return ""
}

// secret is the webhooks'.
var secret = github.NewSecret("the webhook's secret")
