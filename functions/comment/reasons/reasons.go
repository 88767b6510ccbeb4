// Package reasons has the reasons why a command is refused, each with its text and its advice.
package reasons

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Reason is a reason why a command is refused. Its type is in the table [types], and has the facts for the
// text. Reasons are data rather than texts, because they are stored in records.
type Reason interface {
	// words returns the text of the reason, and the advice on what to do, both in Markdown. The advice may be
	// "".
	words() (text, remedy string)
}

// types are all types of reasons, by the name under which they are stored.
var types = Union[Reason]{
	"sentence": reflect.TypeFor[Sentence](),

	"no permission":     reflect.TypeFor[NoPermission](),
	"former commit":     reflect.TypeFor[FormerCommit](),
	"from a fork":       reflect.TypeFor[FromFork](),
	"fork unnamed":      reflect.TypeFor[ForkUnnamed](),
	"other commit":      reflect.TypeFor[OtherCommit](),
	"own fork":          reflect.TypeFor[OwnFork](),
	"fork only planned": reflect.TypeFor[ForkOnlyPlanned](),
	"state elsewhere":   reflect.TypeFor[StateElsewhere](),
	"not on base":       reflect.TypeFor[NotOnBase](),
	"other base":        reflect.TypeFor[OtherBase](),
	"not open":          reflect.TypeFor[NotOpen](),
	"not merged":        reflect.TypeFor[NotMerged](),
	"not on merge":      reflect.TypeFor[NotOnMerge](),
	"applied later":     reflect.TypeFor[AppliedLater](),
	"issue closed":      reflect.TypeFor[IssueClosed](),
	"not on an issue":   reflect.TypeFor[NotOnIssue](),
	"only on an issue":  reflect.TypeFor[OnlyOnIssue](),
	"conflicts":         reflect.TypeFor[Conflicts](),

	"no plan":         reflect.TypeFor[NoPlan](),
	"request failed":  reflect.TypeFor[RequestedFailed](),
	"being planned":   reflect.TypeFor[BeingPlanned](),
	"being applied":   reflect.TypeFor[BeingApplied](),
	"plan is bad":     reflect.TypeFor[PlanIsBad](),
	"already done":    reflect.TypeFor[AlreadyDone](),
	"apply broken":    reflect.TypeFor[ApplyBroken](),
	"nothing to do":   reflect.TypeFor[NothingToDo](),
	"plan is newer":   reflect.TypeFor[PlanIsNewer](),
	"plan renewed":    reflect.TypeFor[PlanRenewed](),
	"other plan":      reflect.TypeFor[OtherPlan](),
	"saved exchanged": reflect.TypeFor[SavedExchanged](),
	"shown exchanged": reflect.TypeFor[ShownExchanged](),
	"kept exchanged":  reflect.TypeFor[KeptExchanged](),

	"set not locked": reflect.TypeFor[SetNotLocked](),

	"found stale":     reflect.TypeFor[FoundStale](),
	"head is newer":   reflect.TypeFor[HeadIsNewer](),
	"planned above":   reflect.TypeFor[PlannedAbove](),
	"plan unseen":     reflect.TypeFor[PlanUnseen](),
	"shown first":     reflect.TypeFor[ShownFirst](),
	"not replaced":    reflect.TypeFor[NotReplaced](),
	"head moved":      reflect.TypeFor[HeadMoved](),
	"not all":         reflect.TypeFor[NotAll](),
	"restored":        reflect.TypeFor[Restored](),
	"removed by base": reflect.TypeFor[RemovedByBase](),
	"removed here":    reflect.TypeFor[RemovedHere](),
	"renamed by base": reflect.TypeFor[RenamedByBase](),
	"inputs moved":    reflect.TypeFor[InputsMoved](),
	"settings broken": reflect.TypeFor[SettingsBroken](),
	"modules moved":   reflect.TypeFor[ModulesMoved](),
	"other version":   reflect.TypeFor[OtherVersion](),
	"state moved":     reflect.TypeFor[StateMoved](),
	"providers moved": reflect.TypeFor[ProvidersMoved](),
	"others moved":    reflect.TypeFor[OthersMoved](),
	"config moved":    reflect.TypeFor[ConfigMoved](),
	"outputs planned": reflect.TypeFor[OutputsPlanned](),
	"outputs moved":   reflect.TypeFor[OutputsMoved](),
	"plan differs":    reflect.TypeFor[PlanDiffers](),
	"other unmerged":  reflect.TypeFor[OtherUnmerged](),

	"awaits":       reflect.TypeFor[Awaits](),
	"out of order": reflect.TypeFor[OutOfOrder](),
	"in a cycle":   reflect.TypeFor[InCycle](),

	"place taken":         reflect.TypeFor[PlaceTaken](),
	"place claimed":       reflect.TypeFor[PlaceClaimed](),
	"place left":          reflect.TypeFor[PlaceLeft](),
	"state copied":        reflect.TypeFor[StateCopied](),
	"place unknown":       reflect.TypeFor[PlaceUnknown](),
	"place not allowed":   reflect.TypeFor[PlaceNotAllowed](),
	"place renamed":       reflect.TypeFor[PlaceRenamed](),
	"not encrypted":       reflect.TypeFor[NotEncrypted](),
	"place moved":         reflect.TypeFor[PlaceMoved](),
	"place kept else":     reflect.TypeFor[PlaceKeptElse](),
	"state unreachable":   reflect.TypeFor[StateUnreachable](),
	"nothing to recover":  reflect.TypeFor[NothingToRecover](),
	"nothing to query":    reflect.TypeFor[NothingToQuery](),
	"query of a fork":     reflect.TypeFor[QueryOfFork](),
	"not in base":         reflect.TypeFor[NotInBase](),
	"nothing to stop":     reflect.TypeFor[NothingToStop](),
	"stopped":             reflect.TypeFor[WasStopped](),
	"hooked":              reflect.TypeFor[Hooked](),
	"step failed":         reflect.TypeFor[StepFailed](),
	"not recorded":        reflect.TypeFor[NotRecorded](),
	"nothing to unlock":   reflect.TypeFor[NothingToUnlock](),
	"nothing to lock":     reflect.TypeFor[NothingToLock](),
	"locked by another":   reflect.TypeFor[LockedByAnother](),
	"unavailable":         reflect.TypeFor[Unavailable](),
	"process ended":       reflect.TypeFor[ProcessEnded](),
	"unusable":            reflect.TypeFor[Unusable](),
	"commit gone":         reflect.TypeFor[CommitGone](),
	"required":            reflect.TypeFor[Required](),
	"not lifted":          reflect.TypeFor[NotLifted](),
	"void override":       reflect.TypeFor[VoidOverride](),
	"not as written":      reflect.TypeFor[NotAsWritten](),
	"reason needed":       reflect.TypeFor[ReasonNeeded](),
	"not in conversation": reflect.TypeFor[NotInConversation](),
	"own apply":           reflect.TypeFor[OwnApply](),
	"several projects":    reflect.TypeFor[SeveralProjects](),
	"no project selected": reflect.TypeFor[NoProjectSelected](),
	"served elsewhere":    reflect.TypeFor[ServedElsewhere](),
	"in shadow mode":      reflect.TypeFor[InShadow](),
	"nothing failed":      reflect.TypeFor[NothingFailed](),
	"touches nothing":     reflect.TypeFor[TouchesNothing](),
	"none selected":       reflect.TypeFor[NoneSelected](),
}

// List has the reasons of one refusal. In JSON, each reason is stored under its name in the table [types].
type List []Reason

// MarshalJSON implements json.Marshaler.
func (rs List) MarshalJSON() ([]byte, error) {
	list := make([]json.RawMessage, 0, len(rs))
	for _, r := range rs {
		if x, ok := r.(unknown); ok {
			list = append(list, x.Value)
			continue
		}
		data, err := types.Encode(r)
		if err != nil {
			return nil, err
		}
		list = append(list, data)
	}
	return json.Marshal(list)
}

// UnmarshalJSON implements json.Unmarshaler. A reason that this version of Lockstep does not know becomes an
// [unknown].
func (rs *List) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*rs = nil
	for _, item := range list {
		r, err := types.Decode(item)
		var other *UnknownError
		if errors.As(err, &other) {
			r, err = unknown{other.Kind, slices.Clone(item)}, nil
		}
		if err != nil {
			return fmt.Errorf("read reason: %w", err)
		}
		*rs = append(*rs, r)
	}
	return nil
}

// unknown is a stored reason that this version of Lockstep does not know, because another version has stored
// it. If it is stored once more, its JSON stays unchanged.
type unknown struct {
	Kind  string
	Value json.RawMessage
}

func (r unknown) words() (text, remedy string) {
	return fmt.Sprintf("Another version of Lockstep gave a reason that this version does not know: %s.", markdown.Code(r.Kind)), ""
}

// A Sentence is a reason that is already a text in Markdown.
type Sentence struct{ Text, Remedy string }

func (s Sentence) words() (text, remedy string) { return s.Text, s.Remedy }

// planAgain returns the advice to make a new plan, because the present one cannot be applied. merged is set if
// the merge requested the apply.
func planAgain(merged bool) string {
	if merged {
		return fmt.Sprintf("Comment %s for a new plan of what was merged. Read it, then apply it.", markdown.Code("lockstep retry"))
	}
	return newPlan(grammar.Command{Verb: grammar.Plan})
}

// appliedThen is the advice for an apply that waits after the merge until nothing blocks it.
var appliedThen = fmt.Sprintf("The apply waits. Once nothing blocks it, Lockstep applies the plan, if the plan is still up to date then. To cancel the apply, comment %s. For a new plan, comment %s.", markdown.Code("lockstep stop"), markdown.Code("lockstep retry"))

// onceMerged is the advice for a plan that can be applied only after the merge.
const onceMerged = "Merge the pull request first. Then comment `lockstep retry` for a new plan of what was merged. Read it, then apply it."

// newPlan returns the advice to comment the plan command c.
func newPlan(c grammar.Command) string {
	return fmt.Sprintf("Comment %s for a new plan. Read it, then apply it.", markdown.Code(c.String()))
}

// messages is the address of the documentation's page about refusals. [anchor] returns the anchor of a reason's
// section.
const messages = "https://github.com/lockstep-iac/lockstep/blob/main/cmd/docs/reference/messages.md"

// anchor returns the anchor of the section about a reason in the documentation: its name in the table [types],
// in kebab case. It returns "" for a reason that the documentation does not have.
func anchor(r Reason) string {
	for name, t := range types {
		if t == reflect.TypeOf(r) && name != "sentence" {
			return strings.ReplaceAll(name, " ", "-")
		}
	}
	return ""
}

// Link returns a Markdown link to the documentation about the first reason that has such documentation; "" if
// none has.
func (rs List) Link() string {
	for _, r := range rs {
		if name := anchor(r); name != "" {
			return fmt.Sprintf("[More about this message](%s#%s)", messages, name)
		}
	}
	return ""
}

// Typed returns the reasons with the command c as the user typed it. A reason may quote another name of the
// command: for example, "plan" for "drift".
func (rs List) Typed(c grammar.Command) List {
	out := slices.Clone(rs)
	for i, r := range out {
		switch r := r.(type) {
		case NoProjectSelected:
			r.Command = c
			out[i] = r
		case NothingFailed:
			r.Command = c
			out[i] = r
		case SeveralProjects:
			r.Command = c
			out[i] = r
		}
	}
	return out
}

// Some has the first names of a long list, and the number of the rest, so that the list fits into a comment and
// a record.
type Some struct {
	Names []string
	More  int `json:",omitempty"` // the number of the others
}

// SomeOf returns the first ten names. If there are at most two more, it returns all of them.
func SomeOf(names []string) Some {
	const most = 10
	if len(names) <= most+2 {
		return Some{Names: names}
	}
	return Some{names[:most], len(names) - most}
}

func (s Some) Text() string { return markdown.Few(s.Names, s.More) }

// settings is the name of the settings file, in Markdown.
var settings = markdown.Code(SettingsFile)

// SettingsFile is the name of the file in which a repository has its settings.
const SettingsFile = "lockstep.hcl"

// Markdown returns the reasons as a list, and below it their advice. Equal advice is written once.
func (rs List) Markdown() string {
	var b, below strings.Builder
	seen := map[string]bool{"": true}
	for _, r := range rs {
		text, remedy := r.words()
		fmt.Fprintf(&b, "- %s\n", text)
		if !seen[remedy] {
			fmt.Fprintf(&below, "\n%s\n", remedy)
			seen[remedy] = true
		}
	}
	return b.String() + below.String()
}
