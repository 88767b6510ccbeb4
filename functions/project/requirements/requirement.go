package requirements

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/project/internal/blocks"
)

// commands are the commands that can have requirements.
var commands = func() (out []string) {
	for _, v := range grammar.Gated() {
		out = append(out, string(v))
	}
	return out
}()

// A Requirement is one require block.
type Requirement struct {
	// Command is the command that the block restricts. It is one of the list commands.
	Command string
	// At is the place of the block, for people: "lockstep.hcl:12".
	At string
	// Projects are patterns of names and directories, in doublestar's notation; nil means all.
	Projects []string `json:",omitempty"`
	Rules
	// Alternatives are the block's alternatives, one of which must be met; nil means that it has none.
	Alternatives []Alternative `json:",omitempty"`
	// Override are the people and teams that may override the block; nil if nobody may.
	Override []Party `json:",omitempty"`
}

// An Alternative is one way to meet a requirement.
type Alternative struct {
	Name string
	Rules
}

// A Party is a person (Login) or a team (Org and Team). Letters are in lower case, because GitHub ignores case.
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
	// App is the slug of the App whose check runs count. "" means any App, and commit statuses, too.
	App string `json:",omitempty"`
}

// Matches reports whether c matches a check that an App has reported. app is "" for a commit status.
func (c Check) Matches(name, app string) bool {
	return (c.App == "" || c.App == app) && doublestar.MatchUnvalidated(c.Pattern, name)
}

// String returns a check as it is written in lockstep.hcl.
func (c Check) String() string {
	if c.App != "" {
		return c.Pattern + " by " + c.App
	}
	return c.Pattern
}

// About reports whether a requirement applies to a command for a project with any of these names or
// directories. new is set for a project that the base branch does not have. The pull request's author chose the
// name of such a project, so a requirement for some projects applies to it, too.
func (r Requirement) About(command string, names []string, new bool) bool {
	return r.Command == command && Selects(r.Projects, names, new)
}

// Selects reports whether patterns of projects match a project with any of these names or directories. If new
// is set, every pattern matches, as for any new project. nil patterns match all projects. A directory matches
// everything below it.
func Selects(patterns, names []string, new bool) bool {
	return new || patterns == nil || slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return blocks.MatchesPath(pattern, name) })
	})
}

// MatchesType reports whether a pattern of resource types matches one.
func MatchesType(pattern, resource string) bool {
	return doublestar.MatchUnvalidated(pattern, resource)
}

// fold returns a name of a person, team or label in lower case, because GitHub ignores case.
func fold(s string) string { return strings.ToLower(s) }
