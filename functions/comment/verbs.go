package comment

// The verbs. Each has a row in the table below, one in the gate's rules (package runs), and one
// in the table of handlers (package dispatch): a test of package dispatch holds that none is
// missing anywhere.
const (
	Plan   Verb = "plan"
	Apply  Verb = "apply"
	Unlock Verb = "unlock"
	Help   Verb = "help"
)

// table is the table of commands as people see them.
var table = []struct {
	verb Verb
	// participle completes "Not ..." and "is being ...".
	participle string
	// help has a row for each form of the command.
	help []form
}{
	{Plan, "planned", []form{{"lockstep plan", "plans the projects that this pull request touches"}}},
	{Apply, "applied", []form{
		{"lockstep apply", "applies the plans shown above, if they are still up to date"},
		{"lockstep apply HASH", "applies the plan with this hash, and no other"},
	}},
	{Unlock, "unlocked", []form{{"lockstep unlock", "releases the locks that an apply of this pull request left behind"}}},
	{Help, "helped", []form{{"lockstep help", "shows this list"}}},
}

// A form is one way to write a command, with its effect.
type form struct{ typed, effect string }

var verbs = Verbs()

// Verbs returns all verbs, in the order of the help.
func Verbs() []Verb {
	var out []Verb
	for _, row := range table {
		out = append(out, row.verb)
	}
	return out
}

// participle returns the word for a command that was carried out, "" for a verb of another
// version of Lockstep.
func (v Verb) participle() string {
	for _, row := range table {
		if row.verb == v {
			return row.participle
		}
	}
	return ""
}
