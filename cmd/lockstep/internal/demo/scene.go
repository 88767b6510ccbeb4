package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A scene is one step of a story: an action of people, and the texts that Lockstep must then write.
type scene struct {
	title string
	do    func(ctx context.Context, w *World) error
	// want are texts that must appear on pull requests during the scene: parts of comments, or "check NAME:
	// CONCLUSION, TITLE". never are texts that must not appear.
	want, never []string
	// verify returns an error if the result of the scene is wrong. It may be nil.
	verify func(ctx context.Context, w *World) error
}

// by adapts an action without an error result to the type of a scene's action.
func by(do func(*githubtest.Repository)) func(context.Context, *World) error {
	return func(_ context.Context, w *World) error { do(w.repo); return nil }
}

// opened returns a scene in which somebody pushes a branch and opens a pull request.
func opened(title, who, branch, what string, files githubtest.Files, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) {
		r.Push(who, branch, what, files)
		r.OpenPull(who, what, branch)
	})}
}

// commented returns a scene in which somebody comments.
func commented(title, who string, number int, text string, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) { r.Comment(who, number, text) })}
}

// named returns a scene in which somebody comments "lockstep apply" with the name of a plan. The name is the
// one in Lockstep's latest comment.
func named(title, who string, number int, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) {
		name := ""
		for _, c := range r.Comments(number) {
			if _, rest, shown := strings.Cut(c.Body, "\nPlan `"); shown {
				name, _, _ = strings.Cut(rest, "`")
			}
		}
		r.Comment(who, number, "lockstep apply "+name)
	})}
}

// pressed returns a scene in which somebody presses a button of a check of a branch.
func pressed(title, who, branch, check, button string, want ...string) scene {
	return scene{title: title, want: want, do: func(_ context.Context, w *World) error { return press(who, branch, check, button)(w) }}
}

// press returns the action of pressing a button.
func press(who, branch, check, button string) func(*World) error {
	return func(w *World) error {
		for _, c := range w.repo.Checks(w.repo.Head(branch)) {
			for _, b := range c.Buttons {
				if c.Name == check && b.Label == button {
					w.narrate("%s presses [%s] of the check %s: %s", who, b.Label, c.Name, b.Description)
					w.repo.Press(who, c.ID, b.Identifier)
					return nil
				}
			}
		}
		return fmt.Errorf("the check %s has no button %q", check, button)
	}
}

// says returns the action of writing a comment.
func says(who string, number int, text string) func(*World) error {
	return func(w *World) error { w.repo.Comment(who, number, text); return nil }
}

// merged returns a scene in which somebody merges.
func merged(title, who string, number int, want ...string) scene {
	return scene{title: title, want: want, do: by(func(r *githubtest.Repository) { r.Merge(who, number) })}
}

// accepts returns a scene in which the organization grants the GitHub App an additional permission.
func accepts(permission, level string) scene {
	return scene{title: "carol gives the App the permission " + permission + ": " + level, do: func(_ context.Context, w *World) error {
		w.hub.Accepts(permission, level)
		return nil
	}}
}
