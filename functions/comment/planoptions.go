package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/reasons"
)

// with returns the names of the plan's options, without values: ", with -target". The text follows the number
// of planned changes. It is "" if the plan has no options.
func (p ProjectStatus) with() string {
	if flags := p.Options.Flags(); len(flags) > 0 {
		return ", with " + strings.Join(flags, ", ")
	}
	return ""
}

// made returns a paragraph of Markdown about the options of the plan, such as -target. It returns "" for a plan
// without options.
func (p ProjectStatus) made() string {
	words := p.Options.Words()
	if len(words) == 0 {
		return ""
	}
	if p.Vain {
		return fmt.Sprintf("The last plan, with %s, has changed nothing: the project is as it was before. To try it again, write its command in a new comment.\n\n", reasons.SomeOf(words).Text())
	}
	s := fmt.Sprintf("Planned with %s.", reasons.SomeOf(words).Text())
	if p.Options.Invoke != "" {
		s += " It invokes the action, and changes no object."
	}
	if p.Options.Partial() {
		s += fmt.Sprintf(" **This plan is partial**: it leaves out other changes of the project. To plan all of them, comment %s.", p.planCommand())
	} else if p.Options.KeepsObjects() && !p.Upheld || p.Options.Destroy && !p.Removed {
		s += fmt.Sprintf(" **This plan leaves out what the pull request changes.** To plan that, comment %s.", p.planCommand())
	}
	if p.Options.NoRefresh {
		s += " Lockstep did not read the real objects, so the plan ignores changes made outside Terraform."
	}
	return s + "\n\n"
}
