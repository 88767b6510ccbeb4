package reasons

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// ProvidersMoved reports that the package of a provider is no longer the one with which the plan was made.
// Problem is a part of a sentence.
type ProvidersMoved struct {
	Problem string
	Merged  bool
}

func (r ProvidersMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan is out of date, because a provider has changed: %s.", markdown.Plainly(r.Problem)), planAgain(r.Merged)
}

func (r ProvidersMoved) since() string {
	return "a provider has changed: " + markdown.Plainly(r.Problem)
}

// OthersMoved reports that files outside of the configuration have changed since the plan was made. Programs
// that the plan runs can read these files.
type OthersMoved struct {
	Files  Some
	Merged bool
}

func (r OthersMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan is out of date, because these files outside the configuration have changed: %s. They count: %s lets programs run in the plan, and programs can read every file.", r.Files.Text(), settings), planAgain(r.Merged)
}

func (r OthersMoved) since() string {
	return fmt.Sprintf("files outside the configuration have changed: %s", r.Files.Text())
}

// ConfigMoved reports that files of the configuration have changed since the plan was made.
type ConfigMoved struct {
	Files  Some
	Merged bool
	// Generated is like that of [InputsMoved].
	Generated bool `json:",omitempty"`
}

func (r ConfigMoved) words() (text, remedy string) {
	why := ""
	if r.Generated {
		why = generatesAnew
	}
	return fmt.Sprintf("The plan is out of date, because the configuration of the project has changed: %s.%s", r.Files.Text(), why), planAgain(r.Merged)
}

func (r ConfigMoved) since() string {
	if r.Generated {
		return fmt.Sprintf("the configuration has changed, on the base branch or by a step on `generate`: %s", r.Files.Text())
	}
	return fmt.Sprintf("the configuration on the base branch has changed: %s", r.Files.Text())
}

func (r OtherVersion) since() string { return "another version of Lockstep made the plan" }

func (r InputsMoved) since() string {
	return fmt.Sprintf("files of the plan have changed: %s", r.Files.Text())
}

func (r ModulesMoved) since() string {
	return fmt.Sprintf("the sources of these modules have changed: %s", r.Modules.Text())
}

func (r PlaceMoved) since() string {
	return fmt.Sprintf("the state has moved to %s from %s", markdown.Code(r.Place), markdown.Code(r.Planned))
}

func (r StateMoved) since() string {
	by := ""
	if r.By != "" {
		by = fmt.Sprintf(" by #%d, applied by %s", r.Number, markdown.Code(r.By))
	}
	switch r.Change {
	case StateGone:
		return "the state was deleted"
	case StateReplaced:
		return "the state was replaced" + by
	case StateCreated:
		return "the state was created" + by
	case SerialMoved:
		return fmt.Sprintf("the state was written (serial %d, now %d)%s", r.Was, r.Is, by)
	}
	return "somebody has changed the state without raising its serial" + by
}

// OutputsPlanned reports that the plan was made with the planned outputs of other projects.
type OutputsPlanned struct {
	Projects []string
	Merged   bool `json:",omitempty"`
}

func (r OutputsPlanned) words() (text, remedy string) {
	return fmt.Sprintf("The plan is out of date: it was made before the apply of %s, with the outputs that were expected then.", markdown.List(r.Projects)), planAgain(r.Merged)
}

func (r OutputsPlanned) since() string {
	return fmt.Sprintf("the plan was made before the apply of %s, with the outputs that were expected then", markdown.List(r.Projects))
}

// OutputsMoved reports that projects on which the plan depends were applied after the plan was made.
type OutputsMoved struct {
	Projects []string
	Merged   bool `json:",omitempty"`
}

func (r OutputsMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan is out of date: this project depends on %s, which %s been applied since.", markdown.List(r.Projects), has(r.Projects)), planAgain(r.Merged)
}

func (r OutputsMoved) since() string {
	return fmt.Sprintf("%s %s been applied", markdown.List(r.Projects), has(r.Projects))
}

// PlanDiffers reports that the approved plan was out of date, and that a new plan has different changes. Plan
// is the hash of the new plan.
type PlanDiffers struct {
	Project string
	Plan    string
	Since   List
	Merged  bool
}

func (r PlanDiffers) words() (text, remedy string) {
	text = strings.ReplaceAll("Lockstep planned again"+Because(r.Since, "**The changes differ from the approved plan**, so nothing was applied."), "\n", "\n  ")
	if r.Merged {
		return text, fmt.Sprintf("To see the new changes, comment %s. Read the plan, then apply it.", markdown.Code("lockstep retry"))
	}
	return text, fmt.Sprintf("The comment with the plans shows the new plan and the difference. Read it. To apply the new plan, comment %s.", markdown.Code("lockstep apply "+markdown.PlanShort(r.Plan)))
}

// Because returns the end of a sentence that says why a new plan was made, followed by rest. A single reason
// becomes part of the sentence: ", because the state was created. REST". Several reasons become a list below
// the sentence.
func Because(rs List, rest string) string {
	var parts []string
	for _, r := range rs {
		if x, ok := r.(interface{ since() string }); ok {
			parts = append(parts, x.since())
		}
	}
	switch len(parts) {
	case 0:
		return strings.TrimSpace(", because the plan was out of date. " + rest)
	case 1:
		return strings.TrimSpace(", because " + parts[0] + ". " + rest)
	}
	return strings.TrimSpace(". Causes:\n\n- " + strings.Join(parts, "\n- ") + "\n\n" + rest)
}

// PlannedAgain returns the note that Lockstep made a new plan before the apply, and that the new plan was the
// same. rs are the reasons for the new plan. Without reasons, the note is "".
func PlannedAgain(rs List) string {
	if len(rs) == 0 {
		return ""
	}
	return "Planned again" + Because(rs, "The changes are the same.") + "\n\n"
}
