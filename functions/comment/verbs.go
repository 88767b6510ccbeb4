package comment

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// The nouns of commands, as answers have them. Package grammar reads them.
type (
	Verb    = grammar.Verb
	Command = grammar.Command
)

// The verbs with answers of their own.
const (
	Plan     = grammar.Plan
	Apply    = grammar.Apply
	Stop     = grammar.Stop
	Recover  = grammar.Recover
	Lock     = grammar.Lock
	Unlock   = grammar.Unlock
	Override = grammar.Override
	Retry    = grammar.Retry
	Help     = grammar.Help
)

// table has the words of each verb, in the order of the help.
var table = []row{
	{Plan, "planned", []form{
		{"lockstep plan", "plans the projects that this pull request touches"},
		{"lockstep plan -target=ADDR", "plans with an option of Terraform's: `-target`, `-exclude`, `-replace`, `-var`, `-destroy`, `-refresh-only` or `-refresh=false`"},
	}},
	{Apply, "applied", []form{
		{"lockstep apply", "applies the plans shown above, if they are still up to date"},
		{"lockstep apply HASH", "applies the plan with this hash, and no other"},
	}},
	{Retry, "planned", []form{{"lockstep retry", "plans again what has failed, whether that was the plan or its apply"}}},
	{Stop, "stopped", []form{{"lockstep stop", "ends plans and applies that are under way; an apply that was stopped can go on"}}},
	{Recover, "recovered", []form{{"lockstep recover", "brings what applies have done that did not come to their end into the state, and lists objects in doubt"}}},
	{Lock, "locked", []form{{`lockstep lock --reason "..."`, "keeps other pull requests from applying to the states of these projects, until `lockstep unlock`, the merge or the close"}}},
	{Unlock, "unlocked", []form{{"lockstep unlock", "lifts the locks of this pull request, and releases those that its applies left behind"}}},
	{Override, "overridden", []form{{`lockstep override --reason "..."`, "lifts requirements of the settings for the plans shown above, by whom the settings let"}}},
	{Help, "helped", []form{{"lockstep help", "shows this list"}}},
}

// A row has the words of one verb.
type row struct {
	verb Verb
	// participle completes "Not ..." and "is being ...".
	participle string
	// help has an entry for each form of the command.
	help []form
}

// A form is one way to write a command, with its effect.
type form struct{ typed, effect string }

// participle returns the word for a command that was carried out, "" for a verb of another
// version of Lockstep.
func participle(v Verb) string {
	if i := slices.IndexFunc(table, func(r row) bool { return r.verb == v }); i >= 0 {
		return table[i].participle
	}
	return ""
}
