package grammar

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Verb is the action of a command: one word, or two for those of states.
type Verb string

// A Command is the meaning of a line. Its exported strings have passed the checks of their options.
type Command struct {
	Verb Verb
	// Arguments are the addresses and IDs of a verb that has some, in order.
	Arguments []string `json:",omitempty"`
	// Plan limits an apply to the plan of this hash, or of a hash that begins so.
	Plan string `json:",omitempty"`
	// Commit limits a plan to a head of this ID. It may be too short to be one.
	Commit string `json:",omitempty"`
	// Project, Dir and Workspace are patterns: * stands for a part of a name, and ** for any number
	// of its elements. Without them, and without Failed, the command is for all projects that the pull
	// request touches.
	Project   string `json:",omitempty"` // -p
	Dir       string `json:",omitempty"` // -d
	Workspace string `json:",omitempty"` // -w
	// Failed limits a command to projects whose last plan or apply did not come to a good end.
	Failed bool `json:",omitempty"` // --failed
	// Options are those of a plan.
	Options Options `json:",omitzero"`
	// Reason is a person's reason for a command, in their words.
	Reason string `json:",omitempty"` // --reason
}

// keyword begins every command.
const keyword = "lockstep"

// String returns the command as it is typed: [Parse] of it gives the same command.
func (c Command) String() string {
	words := append([]string{keyword, string(c.Verb)}, c.words()...)
	return strings.Join(words, " ")
}

// words are those after the verb, quoted where they have to be.
func (c Command) words() []string {
	var out []string
	for _, a := range c.Arguments {
		out = append(out, quoted("", a))
	}
	if c.Plan != "" {
		out = append(out, c.Plan)
	}
	if c.Commit != "" {
		out = append(out, c.Commit)
	}
	for _, s := range []struct{ flag, value string }{{"-p", c.Project}, {"-d", c.Dir}, {"-w", c.Workspace}} {
		if s.value != "" {
			out = append(out, s.flag, name(s.value))
		}
	}
	if c.Failed {
		out = append(out, "--failed")
	}
	out = append(out, c.Options.Words()...)
	if c.Reason != "" {
		out = append(out, "--reason", always(c.Reason))
	}
	return out
}

// Everything reports whether a command is not limited to some projects.
func (c Command) Everything() bool {
	return c.Project == "" && c.Dir == "" && c.Workspace == "" && !c.Failed
}

// AsPlan returns the plan that a command asks for, if it asks for one: to retry is to plan what has
// failed, whether that was the plan or its apply. A change of the state is planned, shown, and made by its
// apply.
func (c Command) AsPlan() Command {
	r, _ := rowOf(c.Verb)
	if r.plan == nil {
		return c
	}
	r.plan(&c)
	c.Verb, c.Arguments = Plan, nil
	return c
}

// Selects reports whether the patterns of a command are for a project. Failed is not looked at.
func (c Command) Selects(name, dir, workspace string) bool {
	return matches(c.Project, name) && matches(c.Dir, dir) && matches(c.Workspace, workspace)
}

func matches(pattern, name string) bool {
	return pattern == "" || pattern == name || doublestar.MatchUnvalidated(pattern, name)
}

// Equal reports whether two commands mean the same.
func (c Command) Equal(d Command) bool {
	return c.String() == d.String()
}

// An Options value is how a plan is made. Addresses are those of Terraform's command line.
type Options struct {
	Targets  []string `json:",omitempty"`
	Excludes []string `json:",omitempty"`
	Replaces []string `json:",omitempty"`
	// Variables are NAME=VALUE.
	Variables   []string `json:",omitempty"`
	Destroy     bool     `json:",omitempty"`
	RefreshOnly bool     `json:",omitempty"`
	NoRefresh   bool     `json:",omitempty"`
	// Imports are "ADDR ID", Moves "FROM TO": see [Pair]. Forgets are addresses. A plan has a block of the
	// configuration language for each: import, moved, and removed without destruction. Untaints are addresses of
	// objects that are not replaced for their mark.
	Imports []string `json:",omitempty"`
	Moves   []string `json:",omitempty"`
	Forgets []string `json:",omitempty"`

	Untaints []string `json:",omitempty"`
	// Taint is set if the Replaces are those of the command of this name: each is an object that the state has.
	Taint bool `json:",omitempty"`
	// Rest is set for the plan of the rest of an apply with the same options: some of their changes of the state are made.
	Rest bool `json:",omitempty"`
}

// Changes reports whether a plan has changes of the state itself, of one project then.
func (o Options) Changes() bool {
	return len(o.Imports)+len(o.Moves)+len(o.Forgets)+len(o.Untaints) > 0
}

// IsZero reports whether a plan is made without options.
func (o Options) IsZero() bool { return len(o.Words()) == 0 }

// Partial reports whether a plan leaves parts of the configuration out.
func (o Options) Partial() bool { return len(o.Targets)+len(o.Excludes) > 0 }

// Flags returns the names of the options that are used, in the order of Words.
func (o Options) Flags() []string {
	var out []string
	for _, w := range o.Words() {
		flag, _, _ := strings.Cut(w, "=")
		if flag == refresh.flag() {
			flag = w
		}
		if !slices.Contains(out, flag) {
			out = append(out, flag)
		}
	}
	return out
}

// Words returns the options as they are typed, those with the widest effect first: equal options have
// equal words.
func (o Options) Words() []string {
	var out []string
	for _, set := range []struct {
		word string
		is   bool
	}{{"-destroy", o.Destroy}, {"-refresh-only", o.RefreshOnly}, {"-refresh=false", o.NoRefresh}} {
		if set.is {
			out = append(out, set.word)
		}
	}
	for _, list := range []struct {
		flag   string
		values []string
	}{{"-import=", o.Imports}, {"-move=", o.Moves}, {"-forget=", o.Forgets}, {"-untaint=", o.Untaints}, {"-replace=", o.Replaces}, {"-target=", o.Targets}, {"-exclude=", o.Excludes}, {"-var=", o.Variables}} {
		for _, v := range list.values {
			out = append(out, quoted(list.flag, v))
		}
	}
	return out
}

// count is the number of values.
func (o Options) count() int {
	return len(slices.Concat(o.Targets, o.Excludes, o.Replaces, o.Variables, o.Imports, o.Moves, o.Forgets, o.Untaints))
}
