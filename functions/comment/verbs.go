package comment

import (
	"slices"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
)

// verbTable has the words of each verb, in the order of the help.
var verbTable = []verbRow{
	{grammar.Plan, "planned", []verbForm{
		{"lockstep plan", "plans the projects that this pull request touches"},
		{"lockstep plan -target=ADDR", "plans with an option of Terraform's: `-target`, `-exclude`, `-replace`, `-var`, `-destroy`, `-refresh-only` or `-refresh=false`"},
	}},
	{grammar.Apply, "applied", []verbForm{
		{"lockstep apply", "applies the plans shown above, if they are still up to date"},
		{"lockstep apply HASH", "applies the plan with this hash, and no other"},
	}},
	{grammar.Retry, "planned", []verbForm{{"lockstep retry", "plans again what has failed, whether that was the plan or its apply"}}},
	{grammar.Stop, "stopped", []verbForm{{"lockstep stop", "ends plans and applies that are under way; an apply that was stopped can go on"}}},
	{grammar.Recover, "recovered", []verbForm{{"lockstep recover", "brings what applies have done that did not come to their end into the state, and lists objects in doubt"}}},
	{grammar.Lock, "locked", []verbForm{{`lockstep lock --reason "..."`, "keeps other pull requests from applying to the states of these projects, until `lockstep unlock`, the merge or the close"}}},
	{grammar.Unlock, "unlocked", []verbForm{{"lockstep unlock", "lifts the locks of this pull request, and releases those that its applies left behind"}}},
	{grammar.Override, "overridden", []verbForm{{`lockstep override --reason "..."`, "lifts requirements of the settings for the plans shown above, by whom the settings let"}}},
	{grammar.Drift, "planned", []verbForm{{"lockstep drift", "plans what has changed outside of the configuration, like `lockstep plan -refresh-only`: its apply accepts that"}}},
	{grammar.Import, "planned", []verbForm{{"lockstep import ADDR ID -p NAME", "plans to take an object that exists into the state; like `state mv`, `state rm` and `untaint` for one project, and done by `lockstep apply`"}}},
	{grammar.StateMove, "planned", []verbForm{{"lockstep state mv FROM TO -p NAME", "plans to give an object of the state another address"}}},
	{grammar.StateRemove, "planned", []verbForm{{"lockstep state rm ADDR... -p NAME", "plans to take resources that the configuration does not have any more out of the state, and leaves them as they are"}}},
	{grammar.Taint, "planned", []verbForm{{"lockstep taint ADDR", "plans to replace an object, like `lockstep plan -replace=ADDR`"}}},
	{grammar.Untaint, "planned", []verbForm{{"lockstep untaint ADDR -p NAME", "plans to keep an object that an apply has left half made"}}},
	{grammar.Help, "helped", []verbForm{{"lockstep help", "shows this list"}}},
}

// A verbRow has the words of one verb.
type verbRow struct {
	Verb grammar.Verb
	// Participle completes "Not ..." and "is being ...".
	Participle string
	// Help has an entry for each form of the command.
	Help []verbForm
}

// A verbForm is one way to write a command, with its effect.
type verbForm struct{ Typed, Effect string }

// participle returns the word for a command that was carried out, "" for a verb of another
// version of Lockstep.
func participle(v grammar.Verb) string {
	if i := slices.IndexFunc(verbTable, func(r verbRow) bool { return r.Verb == v }); i >= 0 {
		return verbTable[i].Participle
	}
	return ""
}
