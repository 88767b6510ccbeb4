package requirements

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// commands are those that can have requirements.
var commands = func() (out []string) {
	for _, v := range grammar.Gated() {
		out = append(out, string(v))
	}
	return out
}()

// A Requirement is one require block.
type Requirement struct {
	// Command is one of commands.
	Command string
	// At is the place of the block, for people: "lockstep.hcl:12".
	At string
	// Projects are patterns of names and directories, in doublestar's notation; nil is for all.
	Projects []string `json:",omitempty"`
	Rules
	// Alternatives are those of which one has to hold; none if there are none.
	Alternatives []Alternative `json:",omitempty"`
	// Override are the parties that may lift the block; nil if nobody may.
	Override []Party `json:",omitempty"`
}

// An Alternative is one way to fulfil a requirement.
type Alternative struct {
	Name string
	Rules
}

// A Party is a person, or a team: Org and Team, or Login. Letters are lower case, as GitHub compares
// them.
type Party struct {
	Org   string `json:",omitempty"`
	Team  string `json:",omitempty"` // its slug
	Login string `json:",omitempty"`
}

// String returns a party as it is written: "acme/sre", "alice".
func (p Party) String() string {
	if p.Team != "" {
		return p.Org + "/" + p.Team
	}
	return p.Login
}

// A Check is a pattern of names of check runs and commit statuses, in doublestar's notation.
type Check struct {
	Pattern string
	// App is the slug of the App whose check runs count; "" is any, and statuses, too.
	App string `json:",omitempty"`
}

// Matches reports whether a check is for one that an App has reported; "" for a commit status.
func (c Check) Matches(name, app string) bool {
	return (c.App == "" || c.App == app) && doublestar.MatchUnvalidated(c.Pattern, name)
}

// String returns a check as it is written.
func (c Check) String() string {
	if c.App != "" {
		return c.Pattern + " by " + c.App
	}
	return c.Pattern
}

// About reports whether a requirement is about a command for a project that has any of the given
// names or directories. A project that the base branch does not know is new: its name is the choice of
// the pull request's author, so a requirement for some projects is one for it, too.
func (r Requirement) About(command string, names []string, new bool) bool {
	return r.Command == command && Selects(r.Projects, names, new)
}

// Selects reports whether patterns of projects, nil for all, select a project with any of the given names or
// directories, or a new one. A directory is a pattern for all below it.
func Selects(patterns, names []string, new bool) bool {
	return new || patterns == nil || slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return blocks.MatchesPath(pattern, name) })
	})
}

// MatchesType reports whether a pattern of NoDestroy is for a resource type.
func MatchesType(pattern, resource string) bool {
	return doublestar.MatchUnvalidated(pattern, resource)
}

// fold is the form in which GitHub compares names of people, teams and labels.
func fold(s string) string { return strings.ToLower(s) }
