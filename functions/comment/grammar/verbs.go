package grammar

import "slices"

// The verbs. Each has a row in the table below; package comment has their words, and package
// dispatch carries them out.
const (
	Plan    Verb = "plan"
	Apply   Verb = "apply"
	Stop    Verb = "stop"
	Recover Verb = "recover"
	// Lock keeps other pull requests from applying, until Unlock, the merge or the close.
	Lock   Verb = "lock"
	Unlock Verb = "unlock"
	// Override lifts requirements of the settings for the plans that are shown.
	Override Verb = "override"
	Retry    Verb = "retry"
	// Drift plans with -refresh-only.
	Drift Verb = "drift"
	// Those that change the state itself: each is a plan, with an option, and made by its apply.
	Import      Verb = "import"
	StateMove   Verb = "state mv"
	StateRemove Verb = "state rm"
	Taint       Verb = "taint"
	Untaint     Verb = "untaint"
	Help        Verb = "help"
)

// A row is one verb.
type row struct {
	verb Verb
	// acts is set for a verb that does something to projects: the gate decides about it, and it can
	// be limited to some of them.
	acts bool
	// takes are the options besides those.
	takes []*option
	// reasoned is set for a verb that needs a reason.
	reasoned bool
	// arguments are the words that have to follow. repeats is set if the last one may do so more than once.
	arguments []argument
	repeats   bool
	// commit is set for a verb that takes the ID of a commit.
	commit bool
	// hash is set for a verb that takes the hash of a plan.
	hash bool
}

// table is the table of verbs, in the order of the help.
var table = []row{
	{verb: Plan, acts: true, takes: planning, commit: true},
	{verb: Apply, acts: true, hash: true},
	{verb: Retry, acts: true},
	{verb: Stop, acts: true},
	{verb: Recover, acts: true},
	{verb: Lock, acts: true, takes: []*option{because}, reasoned: true},
	{verb: Unlock, acts: true},
	{verb: Override, acts: true, takes: []*option{because}, reasoned: true},
	{verb: Drift, acts: true, takes: []*option{target, exclude, variable}},
	{verb: Import, acts: true, takes: changing, arguments: []argument{{"ADDR", isResource}, {"ID", isID}}},
	{verb: StateMove, acts: true, takes: changing, arguments: []argument{{"FROM", isAddress}, {"TO", isAddress}}},
	{verb: StateRemove, acts: true, takes: changing, arguments: []argument{{"ADDR", isAddress}}, repeats: true},
	{verb: Taint, acts: true, takes: changing, arguments: []argument{{"ADDR", isResource}}},
	{verb: Untaint, acts: true, takes: changing, arguments: []argument{{"ADDR", isResource}}},
	{verb: Help},
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

// Acting returns the verbs that the gate decides about.
func Acting() []Verb { return selected(func(r row) bool { return r.acts }) }

func selected(want func(row) bool) []Verb {
	var out []Verb
	for _, r := range table {
		if want(r) {
			out = append(out, r.verb)
		}
	}
	return out
}

// accepts reports whether a verb takes an option.
func (r row) accepts(o *option) bool {
	return r.acts && slices.Contains(choosing, o) || slices.Contains(r.takes, o)
}

// An argument is a word that has to follow a verb.
type argument struct {
	stands string // for people: "ADDR"
	check  check
}
