package reasons

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// ProvidersMoved: a provider's package is not the one that the plan was made with. Problem is a
// clause.
type ProvidersMoved struct {
	Problem string
	Merged  bool
}

func (r ProvidersMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan was made with another provider: %s.", markdown.Plainly(r.Problem)), planAgain(r.Merged)
}

func (r ProvidersMoved) since() string {
	return "a provider is another one: " + markdown.Plainly(r.Problem)
}

// OthersMoved: files around the configuration have changed, which programs can read.
type OthersMoved struct {
	Files  Some
	Merged bool
}

func (r OthersMoved) words() (text, remedy string) {
	return fmt.Sprintf("Files around the project's configuration have changed since the plan was made: %s.", r.Files.Text()), planAgain(r.Merged)
}

func (r OthersMoved) since() string {
	return fmt.Sprintf("files around the configuration have changed: %s", r.Files.Text())
}

// ConfigMoved: files of the configuration have changed.
type ConfigMoved struct {
	Files  Some
	Merged bool
}

func (r ConfigMoved) words() (text, remedy string) {
	return fmt.Sprintf("The project's configuration has changed since the plan was made: %s.", r.Files.Text()), planAgain(r.Merged)
}

func (r ConfigMoved) since() string {
	return fmt.Sprintf("the base branch's configuration has changed: %s", r.Files.Text())
}

func (r OtherVersion) since() string { return "another version of Lockstep had made the plan" }

func (r InputsMoved) since() string {
	return fmt.Sprintf("files that it was made from have changed: %s", r.Files.Text())
}

func (r ModulesMoved) since() string {
	return fmt.Sprintf("the sources of these modules mean something else now: %s", r.Modules.Text())
}

func (r PlaceMoved) since() string {
	return fmt.Sprintf("its state is at %s now, and was at %s", markdown.Code(r.Place), markdown.Code(r.Planned))
}

func (r StateMoved) since() string {
	by := ""
	if r.By != "" {
		by = fmt.Sprintf(", by the apply of #%d that %s asked for", r.Number, markdown.Code(r.By))
	}
	switch r.Change {
	case StateGone:
		return "the state that it was made from is gone"
	case StateReplaced:
		return "the state is another one" + by
	case StateCreated:
		return "the state was written for the first time in between" + by
	case SerialMoved:
		return fmt.Sprintf("the state was written in between: serial %d -> %d%s", r.Was, r.Is, by)
	}
	return "the state was written in between, under the same serial" + by
}

// OutputsPlanned: the plan was made with the outputs that the plans of other projects would have.
type OutputsPlanned struct {
	Projects []string
	Merged   bool `json:",omitempty"`
}

func (r OutputsPlanned) words() (text, remedy string) {
	return fmt.Sprintf("The plan was made with outputs of %s that were planned.", markdown.List(r.Projects)), planAgain(r.Merged)
}

func (r OutputsPlanned) since() string {
	return fmt.Sprintf("it had been made with outputs of %s that were planned", markdown.List(r.Projects))
}

// OutputsMoved: other projects that the plan depends on were applied since.
type OutputsMoved struct {
	Projects []string
	Merged   bool `json:",omitempty"`
}

func (r OutputsMoved) words() (text, remedy string) {
	return fmt.Sprintf("The plan depends on %s, applied since.", markdown.List(r.Projects)), planAgain(r.Merged)
}

func (r OutputsMoved) since() string {
	return fmt.Sprintf("it depends on %s, applied in between", markdown.List(r.Projects))
}

// PlanDiffers: the approved plan did not fit any more, and the plan that was made again is not the
// same. Plan is its hash.
type PlanDiffers struct {
	Project string
	Plan    string
	Since   List
	Merged  bool
}

func (r PlanDiffers) words() (text, remedy string) {
	text = fmt.Sprintf("It was planned again, since %s: **the changes are not those that were approved**, and nothing was changed.", Since(r.Since))
	if r.Merged {
		return text, planAgain(true)
	}
	return text, fmt.Sprintf("The comment about the plans shows the new one, and how it differs. To apply it, comment %s.", markdown.Code("lockstep apply "+markdown.PlanShort(r.Plan)))
}

// Since joins the facts because of which a plan was made again.
func Since(rs List) string {
	var parts []string
	for _, r := range rs {
		if x, ok := r.(interface{ since() string }); ok {
			parts = append(parts, x.since())
		}
	}
	if len(parts) == 0 {
		return "it did not fit any more"
	}
	return strings.Join(parts, "; ")
}

// PlannedAgain is the note on an apply of a plan that was made again and is the same; "" without
// reasons.
func PlannedAgain(rs List) string {
	if len(rs) == 0 {
		return ""
	}
	return fmt.Sprintf("Planned again, with the same changes, since %s.\n\n", Since(rs))
}
