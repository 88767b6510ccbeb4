package comment

// The verbs. Each has a row in the table below, and one in the table of handlers in package
// dispatch. The gate's rules for everybody hold for each verb that acts; rules of its own are rows
// in package runs.
const (
	Plan    Verb = "plan"
	Apply   Verb = "apply"
	Stop    Verb = "stop"
	Recover Verb = "recover"
	Unlock  Verb = "unlock"
	Help    Verb = "help"
)

// table is the table of commands as people see them.
var table = []row{
	{Plan, true, "planned", []form{{"lockstep plan", "plans the projects that this pull request touches"}}},
	{Apply, true, "applied", []form{
		{"lockstep apply", "applies the plans shown above, if they are still up to date"},
		{"lockstep apply HASH", "applies the plan with this hash, and no other"},
	}},
	{Stop, true, "stopped", []form{{"lockstep stop", "ends plans and applies that are under way; an apply that was stopped can go on"}}},
	{Recover, true, "recovered", []form{{"lockstep recover", "brings what applies have done that did not come to their end into the state, and lists objects in doubt"}}},
	{Unlock, true, "unlocked", []form{{"lockstep unlock", "releases the locks that an apply of this pull request left behind"}}},
	{Help, false, "helped", []form{{"lockstep help", "shows this list"}}},
}

// A row is one command.
type row struct {
	verb Verb
	// acts is set for a command that does something to projects: the gate decides about it.
	acts bool
	// participle completes "Not ..." and "is being ...".
	participle string
	// help has an entry for each form of the command.
	help []form
}

// A form is one way to write a command, with its effect.
type form struct{ typed, effect string }

var verbs = Verbs()

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

// participle returns the word for a command that was carried out, "" for a verb of another
// version of Lockstep.
func (v Verb) participle() string {
	for _, r := range table {
		if r.verb == v {
			return r.participle
		}
	}
	return ""
}
