package grammar

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Verb is the action of a command: one word ("plan"), or two words ("state mv").
type Verb string

// A Command is the meaning of a line in a comment. Its exported strings have passed the checks of their
// options.
type Command struct {
	Verb Verb
	// Arguments are the words after the verb that are not options, such as addresses and IDs, in their order.
	Arguments []string `json:",omitempty"`
	// Plan is the hash of the plan that an apply must use; "" for any. It may be the beginning of a hash.
	Plan string `json:",omitempty"`
	// Commit is the ID of a commit in the command, in lower case; "" if there is none. The head of the pull request must
	// be this commit. The reader also accepts the beginning of an ID. The gate then refuses the command, because
	// somebody can make another commit whose ID begins in the same way.
	Commit string `json:",omitempty"`
	// Project, Dir and Workspace are patterns that select projects. "*" matches a part of one path element, and
	// "**" any number of elements, as in "live/**". If there is no pattern, and Failed is not set, the command
	// is for all projects that the pull request changes.
	Project   string `json:",omitempty"` // -p
	Dir       string `json:",omitempty"` // -d
	Workspace string `json:",omitempty"` // -w
	// Failed limits a command to projects whose last plan or apply failed or was cancelled.
	Failed bool `json:",omitempty"` // --failed
	// Options are the options of a plan.
	Options Options `json:",omitzero"`
	// Generate asks a query for the configuration of the objects that it finds.
	Generate bool `json:",omitempty"` // -generate
	// PullRequest asks a query to open a pull request with the configuration of the objects that it
	// finds.
	PullRequest bool `json:",omitempty"` // -pull-request
	// Reason is the author's reason for the command, as typed.
	Reason string `json:",omitempty"` // --reason
}

// keyword is the first word of every command.
const keyword = "lockstep"

// String returns the command as a person types it. [Parse] returns an equal command for this text.
func (c Command) String() string {
	words := append([]string{keyword, string(c.Verb)}, c.words()...)
	return strings.Join(words, " ")
}

// words returns the words after the verb, in quotes if they need them.
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
	if c.Generate {
		out = append(out, generate.flag())
	}
	if c.PullRequest {
		out = append(out, asPullRequest.flag())
	}
	if c.Reason != "" {
		out = append(out, "--reason", always(c.Reason))
	}
	return out
}

// Everything reports whether the command is for all projects of the pull request: no option limits it.
func (c Command) Everything() bool {
	return c.Project == "" && c.Dir == "" && c.Workspace == "" && !c.Failed
}

// AsPlan returns the command for a plan that has the same effect as c. For example, "retry" means a plan of
// everything that failed. A change of the state, such as "state mv", is planned and shown first, and an apply
// makes it. A command without such a plan is returned unchanged.
func (c Command) AsPlan() Command {
	r, _ := rowOf(c.Verb)
	if r.plan == nil {
		return c
	}
	r.plan(&c)
	c.Verb, c.Arguments = Plan, nil
	return c
}

// Selects reports whether the command's patterns match a project. It ignores the field Failed.
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

// Affected is the value of the option -refresh for the objects that the changes of a plan can affect.
const Affected = "affected"

// An Options value has the options of a plan. Addresses are written as on Terraform's command line.
type Options struct {
	Targets  []string `json:",omitempty"`
	Excludes []string `json:",omitempty"`
	Replaces []string `json:",omitempty"`
	// Variables are values of variables. Each has the form NAME=VALUE.
	Variables   []string `json:",omitempty"`
	Destroy     bool     `json:",omitempty"`
	RefreshOnly bool     `json:",omitempty"`
	NoRefresh   bool     `json:",omitempty"`
	// Refresh is "true" for a plan that reads all objects, and [Affected] for one that reads those that its changes
	// can affect. "" means that the settings decide.
	Refresh string `json:",omitempty"`
	// These lists change the state itself. For each value, the plan gets a block of the configuration language:
	//   - Imports: "ADDR ID" becomes an import block. See [Pair].
	//   - Moves: "FROM TO" becomes a moved block.
	//   - Forgets: an address becomes a removed block that does not destroy the object.
	//
	// Untaints are the addresses of tainted objects that the plan must not replace.
	Imports []string `json:",omitempty"`
	Moves   []string `json:",omitempty"`
	Forgets []string `json:",omitempty"`

	Untaints []string `json:",omitempty"`
	// Invoke is the address of an action, or of an instance of an action. The plan invokes this action, and
	// changes no object.
	Invoke string `json:",omitempty"`
	// Taint is set if Replaces comes from the command "taint". Each address in Replaces must then be an object
	// in the state.
	Taint bool `json:",omitempty"`
	// Rest is set for a plan that continues an apply of a plan with the same options. That apply has already
	// made some of the changes of the state, so these are not made twice.
	Rest bool `json:",omitempty"`
}

// Changes reports whether the options contain a change of the state itself, or an action to invoke. A plan with
// such options is for one project.
func (o Options) Changes() bool {
	return len(o.Imports)+len(o.Moves)+len(o.Forgets)+len(o.Untaints) > 0 || o.Invoke != ""
}

// KeepsObjects reports whether a plan with these options changes no object. It only updates the state from the
// real objects, or invokes an action. So it leaves out the changes that the pull request makes.
func (o Options) KeepsObjects() bool { return o.RefreshOnly || o.Invoke != "" }

// IsZero reports whether o contains no option.
func (o Options) IsZero() bool { return len(o.Words()) == 0 }

// Partial reports whether a plan with these options leaves out parts of the configuration.
func (o Options) Partial() bool { return len(o.Targets)+len(o.Excludes) > 0 }

// Flags returns the names of the options that o has, in the order of [Options.Words].
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

// Words returns the options as a person types them, those with the widest effect first. Equal options have the
// same words.
func (o Options) Words() []string {
	var out []string
	for _, set := range []struct {
		word string
		is   bool
	}{{"-destroy", o.Destroy}, {"-refresh-only", o.RefreshOnly}, {"-refresh=false", o.NoRefresh}, {"-refresh=" + o.Refresh, o.Refresh != ""}} {
		if set.is {
			out = append(out, set.word)
		}
	}
	if o.Invoke != "" {
		out = append(out, quoted("-invoke=", o.Invoke))
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

// count returns how many values all options together have.
func (o Options) count() int {
	n := len(slices.Concat(o.Targets, o.Excludes, o.Replaces, o.Variables, o.Imports, o.Moves, o.Forgets, o.Untaints))
	if o.Invoke != "" {
		n++
	}
	return n
}
