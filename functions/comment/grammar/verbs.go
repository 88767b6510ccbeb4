package grammar

import (
	"slices"
	"strings"
)

// The verbs of commands. [table] has a row for each verb: how it is typed, its texts, what the gate is asked,
// and the plan with the same effect, if there is one. Package dispatch carries out the verbs that are not
// plans.
const (
	Plan    Verb = "plan"
	Apply   Verb = "apply"
	Stop    Verb = "stop"
	Recover Verb = "recover"
	// Lock prevents applies of other pull requests to the same state, until Unlock, the merge or the close.
	Lock   Verb = "lock"
	Unlock Verb = "unlock"
	// Override overrides requirements of the settings for the present plans.
	Override Verb = "override"
	Retry    Verb = "retry"
	// Drift makes a plan with -refresh-only.
	Drift Verb = "drift"
	// DriftAccept, DriftRevert and DriftPropose are for the issues that Lockstep opens about projects. DriftAccept makes a plan
	// with -refresh-only, and DriftRevert one of the default branch. DriftPropose opens a pull request with the present values.
	DriftAccept  Verb = "drift accept"
	DriftRevert  Verb = "drift revert"
	DriftPropose Verb = "drift propose"
	// The next verbs change the state itself. Each makes a plan with a certain option. The apply of this plan
	// changes the state.
	Import      Verb = "import"
	StateMove   Verb = "state mv"
	StateRemove Verb = "state rm"
	Taint       Verb = "taint"
	Untaint     Verb = "untaint"
	// Invoke makes a plan with -invoke. The plan invokes an action, and changes no object.
	Invoke Verb = "invoke"
	// Query finds objects that exist, by the list blocks of a project. The gate is asked for a plan.
	Query Verb = "query"
	// Output and Show show the outputs, and the objects, of a project's state. The gate is asked for a plan.
	Output Verb = "output"
	Show   Verb = "show"
	Help   Verb = "help"
)

// A row describes one verb in the table of verbs.
type row struct {
	verb Verb
	// participle completes the texts "Not ..." and "is being ...", for example "planned". help has a line for
	// each way to write the command.
	participle string
	help       []Form
	// acts is set for a verb that does something to projects. Options can limit such a command to some
	// projects, and the gate decides whether it is allowed.
	acts bool
	// takes are the options that the verb accepts. The options that limit a command to some projects are not
	// listed here.
	takes []*option
	// reasoned is set for a verb that needs the option --reason.
	reasoned bool
	// arguments are the words that must follow the verb. repeats is set if the last of them may occur several
	// times.
	arguments []argument
	repeats   bool
	// optional is set if the arguments may be missing.
	optional bool
	// commit is set for a verb after which the ID of a commit may follow.
	commit bool
	// hash is set for a verb after which the hash of a plan may follow.
	hash bool
	// decisive is set for a verb that does more than make plans and write answers, such as apply.
	decisive bool
	// ungated is set for a verb that does something to projects, but that a require block cannot name: see [Gated].
	ungated bool
	// plan is set for a verb that is another name for a plan with options, such as drift. It replaces the
	// command by the command for this plan. The function is, which is set for the same verbs, reports whether
	// a plan with the options o has the effect of the verb. Its parameter failed is set if the plan was
	// requested because the last plan or apply had failed.
	plan func(*Command)
	is   func(o Options, failed bool) bool
}

// A Form is one way to write a command (Typed), with an explanation of its effect for people.
type Form struct{ Typed, Effect string }

// table is the table of verbs, in the order of the help.
var table = []row{
	{verb: Plan, participle: "planned", acts: true, takes: planning, commit: true, help: []Form{
		{"lockstep plan", "plans the projects that this pull request changes"},
		{"lockstep plan -target=ADDR", "plans with an option of Terraform's: `-target`, `-exclude`, `-replace`, `-var`, `-destroy`, `-refresh-only`, `-refresh=false`, `-refresh=affected` or `-invoke`"},
	}},
	{verb: Apply, participle: "applied", acts: true, hash: true, decisive: true, help: []Form{
		{"lockstep apply", "applies the plans of this pull request, if they are up to date"},
		{"lockstep apply HASH", "applies exactly the plan with this hash"},
	}},
	{
		verb: Retry, participle: "planned", acts: true,
		help: []Form{{"lockstep retry", "plans again what failed to plan or to apply"}},
		plan: func(c *Command) { c.Failed = true },
		is:   func(_ Options, failed bool) bool { return failed },
	},
	{verb: Stop, participle: "cancelled", acts: true, help: []Form{{"lockstep stop", "cancels plans and applies in progress; a cancelled apply can be continued"}}},
	{
		verb: Recover, participle: "recovered", acts: true, decisive: true,
		help: []Form{{"lockstep recover", "writes the results of interrupted applies to the state, and lists objects that need your decision"}},
	},
	{
		verb: Lock, participle: "locked", acts: true, takes: []*option{because}, reasoned: true, decisive: true,
		help: []Form{{`lockstep lock --reason "..."`, "prevents applies of other pull requests to the states of these projects, until `lockstep unlock`, the merge or the close"}},
	},
	{
		verb: Unlock, participle: "unlocked", acts: true, decisive: true,
		help: []Form{{"lockstep unlock", "releases the locks of this pull request, also those that its applies left behind"}},
	},
	{ // Each require block itself says who may override its requirements.
		verb: Override, participle: "overridden", acts: true, takes: []*option{because}, reasoned: true, decisive: true, ungated: true,
		help: []Form{{`lockstep override --reason "..."`, "overrides requirements for the current plans, if the settings allow you to"}},
	},
	{
		verb: Drift, participle: "planned", acts: true, takes: []*option{target, exclude, variable},
		help: []Form{{"lockstep drift", "shows changes made outside Terraform, like `lockstep plan -refresh-only`; the apply only writes them to the state"}},
		plan: func(c *Command) { c.Options.RefreshOnly = true },
		is:   func(o Options, _ bool) bool { return o.RefreshOnly },
	},
	{
		verb: DriftAccept, participle: "planned", acts: true, ungated: true,
		help: []Form{{"lockstep drift accept", "on an issue about drift: plans to write the changes made outside Terraform into the state; `lockstep apply` does that"}},
		plan: func(c *Command) { c.Options.RefreshOnly = true },
		is:   func(o Options, _ bool) bool { return o.RefreshOnly },
	},
	{
		verb: DriftRevert, participle: "planned", acts: true, ungated: true,
		help: []Form{{"lockstep drift revert", "on an issue about drift: plans the project from the default branch, which undoes the changes; `lockstep apply` does that"}},
		plan: func(*Command) {},
		is:   func(o Options, _ bool) bool { return !o.RefreshOnly },
	},
	{
		verb: DriftPropose, participle: "looked at for drift", acts: true, ungated: true,
		help: []Form{{"lockstep drift propose", "on an issue about drift: opens a pull request that writes the present values into the configuration"}},
	},
	{
		verb: Import, participle: "planned", acts: true, takes: changing, arguments: []argument{{"ADDR", isResource}, {"ID", isID}},
		help: []Form{{"lockstep import ADDR ID -p NAME", "plans to import an existing object into the state of one project; `lockstep apply` carries it out"}},
		plan: func(c *Command) { c.Options.Imports = []string{strings.Join(c.Arguments, " ")} },
		is:   func(o Options, _ bool) bool { return len(o.Imports) > 0 },
	},
	{
		verb: StateMove, participle: "planned", acts: true, takes: changing, arguments: []argument{{"FROM", isAddress}, {"TO", isAddress}},
		help: []Form{{"lockstep state mv FROM TO -p NAME", "plans to give an object in the state another address"}},
		plan: func(c *Command) { c.Options.Moves = []string{strings.Join(c.Arguments, " ")} },
		is:   func(o Options, _ bool) bool { return len(o.Moves) > 0 },
	},
	{
		verb: StateRemove, participle: "planned", acts: true, takes: changing, arguments: []argument{{"ADDR", isAddress}}, repeats: true,
		help: []Form{{"lockstep state rm ADDR... -p NAME", "plans to remove resources from the state; the real objects stay. First remove them from the configuration"}},
		plan: func(c *Command) { c.Options.Forgets = c.Arguments },
		is:   func(o Options, _ bool) bool { return len(o.Forgets) > 0 },
	},
	{
		verb: Taint, participle: "planned", acts: true, takes: changing, arguments: []argument{{"ADDR", isResource}},
		help: []Form{{"lockstep taint ADDR", "plans to replace an object, like `lockstep plan -replace=ADDR`"}},
		plan: func(c *Command) { c.Options.Replaces, c.Options.Taint = c.Arguments, true },
		is:   func(o Options, _ bool) bool { return len(o.Replaces) > 0 },
	},
	{
		verb: Untaint, participle: "planned", acts: true, takes: changing, arguments: []argument{{"ADDR", isResource}},
		help: []Form{{"lockstep untaint ADDR -p NAME", "plans to keep an object that a failed apply left incomplete"}},
		plan: func(c *Command) { c.Options.Untaints = c.Arguments },
		is:   func(o Options, _ bool) bool { return len(o.Untaints) > 0 },
	},
	{
		verb: Invoke, participle: "planned", acts: true, takes: []*option{variable, refresh}, arguments: []argument{{"ACTION", isAction}},
		help: []Form{{"lockstep invoke ACTION -p NAME", "plans to invoke an action of one project, like `lockstep plan -invoke=ACTION`, and changes no object"}},
		plan: func(c *Command) { c.Options.Invoke = c.Arguments[0] },
		is:   func(o Options, _ bool) bool { return o.Invoke != "" },
	},
	{
		verb: Query, participle: "queried", acts: true, takes: []*option{generate, asPullRequest}, ungated: true,
		help: []Form{
			{"lockstep query -p NAME", "lists the objects that the project's `list` blocks find, and says which of them its state does not have"},
			{"lockstep query -p NAME -generate", "shows configuration and `import` blocks for the objects that the state does not have"},
			{"lockstep query -p NAME -pull-request", "opens a pull request with this configuration"},
		},
	},
	{
		verb: Output, participle: "shown", acts: true, arguments: []argument{{"OUTPUT", isOutput}}, optional: true, ungated: true,
		help: []Form{{"lockstep output OUTPUT -p NAME", "shows an output of the project's state, or all of them; sensitive values stay hidden"}},
	},
	{
		verb: Show, participle: "shown", acts: true, arguments: []argument{{"ADDR", isAddress}}, optional: true, ungated: true,
		help: []Form{{"lockstep show ADDR -p NAME", "shows an object of the project's state, or the addresses of all; sensitive values stay hidden"}},
	},
	{verb: Help, participle: "helped", help: []Form{{"lockstep help", "shows this list"}}},
}

// rowOf returns the row of a verb.
func rowOf(v Verb) (row, bool) {
	i := slices.IndexFunc(table, func(r row) bool { return r.verb == v })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

// Verbs returns all verbs, in the order of the help.
func Verbs() []Verb { return selected(func(row) bool { return true }) }

// Acting returns the verbs that do something to projects. The gate decides about commands with these verbs.
func Acting() []Verb { return selected(func(r row) bool { return r.acts }) }

// Gated returns the verbs that a require block of lockstep.hcl can name: all verbs that do something to
// projects, except override, query, output and show. Who may override a require block is written in that block
// itself. Whoever may plan a project may query it and see its state.
func Gated() []Verb { return selected(func(r row) bool { return r.acts && !r.ungated }) }

// Planning returns the verbs that are other names for a plan with options: see [Command.AsPlan].
func Planning() []Verb { return selected(func(r row) bool { return r.plan != nil }) }

// Asked returns the verb about which the gate is asked for a command with v. For all verbs that are other names
// for a plan, it is [Plan].
func (v Verb) Asked() Verb {
	if r, _ := rowOf(v); r.plan != nil {
		return Plan
	}
	return v
}

// Means reports whether a plan with the options o has the same effect as a command with the verb v. For
// example, a plan with -refresh-only has the effect of drift. failed is set if the plan is only for projects
// that failed. If v is not another name for a plan, Means compares only the verbs.
func (v Verb) Means(o Options, failed bool) bool {
	r, _ := rowOf(v)
	return r.is == nil || r.is(o, failed)
}

// Decisive reports whether commands with the verb do more than make plans and write answers, such as apply.
func (v Verb) Decisive() bool {
	r, _ := rowOf(v)
	return r.decisive
}

// Participle returns the word for a command that was carried out, such as "planned". It returns "" for a verb
// that only another version of Lockstep has.
func (v Verb) Participle() string {
	r, _ := rowOf(v)
	return r.participle
}

// Forms returns all ways to write commands, in the order of the help.
func Forms() (out []Form) {
	for _, r := range table {
		out = append(out, r.help...)
	}
	return out
}

func selected(want func(row) bool) []Verb {
	var out []Verb
	for _, r := range table {
		if want(r) {
			out = append(out, r.verb)
		}
	}
	return out
}

// accepts reports whether a command with this verb may have the option o.
func (r row) accepts(o *option) bool {
	return r.acts && slices.Contains(choosing, o) || slices.Contains(r.takes, o)
}

// An argument is a word that must follow a verb, with the check of its value.
type argument struct {
	stands string // for people: "ADDR"
	check  check
}
