package reasons

import "github.com/lockstep-iac/lockstep/functions/comment/markdown"

// NotRecorded reports that a command was refused because its audit record could not be written. Nothing was changed.
type NotRecorded struct {
	Problem string // without secrets
	Again   string // the command that asks once more
}

func (r NotRecorded) words() (text, remedy string) {
	return "The audit record of this command could not be written, so nothing was changed: " + markdown.Code(r.Problem) + ".",
		"Ask an operator of Lockstep to look at the audit bucket. Then comment " + markdown.Code(r.Again) + "."
}
