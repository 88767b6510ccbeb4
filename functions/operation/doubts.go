package operation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/states"
)

// mostDoubts is the maximum number of objects that may have been created, in one warning. "lockstep recover"
// lists all.
const mostDoubts = 20

// doubtful returns warnings about creations and actions whose results are not known; none if all is empty.
func doubtful(all []journaling.Open, s *states.State) diags.Diagnostics {
	creations, actions := parted(all)
	var ds diags.Diagnostics
	switch n := len(creations); n {
	case 0:
	case 1:
		ds = diags.Warningf(nil, "1 object may exist outside the state", "%s", creationDoubts(creations, s, mostDoubts))
	default:
		ds = diags.Warningf(nil, fmt.Sprintf("%d objects may exist outside the state", n), "%s", creationDoubts(creations, s, mostDoubts))
	}
	switch n := len(actions); n {
	case 0:
	case 1:
		ds = append(ds, diags.Warningf(nil, "1 action may have been invoked", "%s", actionDoubts(actions, mostDoubts))...)
	default:
		ds = append(ds, diags.Warningf(nil, fmt.Sprintf("%d actions may have been invoked", n), "%s", actionDoubts(actions, mostDoubts))...)
	}
	return ds
}

// parted separates creations from actions. all are those whose results are not known.
func parted(all []journaling.Open) (creations, actions []journaling.Open) {
	for _, x := range all {
		if x.IsInvocation() {
			actions = append(actions, x)
		} else {
			creations = append(creations, x)
		}
	}
	return creations, actions
}

// Doubts returns a text about creations and actions whose results are not known. It says what a person should
// check, and how to record the answer. all must not be empty. At most limit creations, and as many actions, are
// listed. The text has complete import commands if IDs can be derived: see [importIDs].
func Doubts(all []journaling.Open, s *states.State, limit int) string {
	creations, actions := parted(all)
	var texts []string
	if len(creations) > 0 {
		texts = append(texts, creationDoubts(creations, s, limit))
	}
	if len(actions) > 0 {
		texts = append(texts, actionDoubts(actions, limit))
	}
	return strings.Join(texts, "\n\n")
}

// actionDoubts returns the part of [Doubts] about actions.
func actionDoubts(all []journaling.Open, limit int) string {
	var b strings.Builder
	b.WriteString("An apply began to invoke these actions and did not record the results. If that apply is no longer running, each action may have been done, in whole or in part:\n")
	shown := all[:min(limit, len(all))]
	for _, x := range shown {
		fmt.Fprintf(&b, "\n  - %s, started at %s", x.Invokes, x.Started.UTC().Format(time.RFC3339))
		if x.Event != "" {
			fmt.Fprintf(&b, " (%s of %s)", x.Event, x.Address)
		}
	}
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(&b, "\n  and %d more: run \"lockstep recover\" for the whole list", n)
	}
	b.WriteString("\n\nFind out what each action has done.")
	example := func(of func(config.Event) bool) (journaling.Open, bool) {
		i := slices.IndexFunc(shown, func(x journaling.Open) bool { return of(config.Event(x.Event)) })
		if i < 0 {
			return journaling.Open{}, false
		}
		return shown[i], true
	}
	if x, ok := example(plannedAgain); ok {
		fmt.Fprintf(&b, " If it is done, or must not be invoked again:\n  lockstep recover -forget %s\nIf the next plan is to invoke it again:\n  lockstep recover -retry %[1]s", quoted(x.Address))
	}
	if x, ok := example(config.Event.Before); ok {
		fmt.Fprintf(&b, "\n\n%s comes before a change of %s, which was not made. The next plan that makes the change invokes the action again. If that must not happen, first remove the action from the action_trigger block. Then run:\n  lockstep recover -forget %s", x.Invokes, x.Address, quoted(x.Address))
	}
	if x, ok := example(alone); ok {
		fmt.Fprintf(&b, "\n\nNo plan invokes %s again. Run:\n  lockstep recover -forget %s\nIf the action is not done, invoke it yourself:\n  lockstep apply -invoke=%s", x.Invokes, quoted(x.Address), quoted(x.Invokes))
	}
	b.WriteString("\n\nUntil you decide, Lockstep plans neither the resource that triggers the action nor anything that depends on it.")
	return b.String()
}

// plannedAgain reports whether the next plan can invoke the actions of an event once more, because they are
// listed with an object that exists.
func plannedAgain(e config.Event) bool { return !e.Before() && !alone(e) }

// alone reports whether no later plan will invoke the actions of an event: the object is gone, or the option
// -invoke named the action.
func alone(e config.Event) bool { return e == "" || e == config.AfterDestroy }

// creationDoubts returns the part of [Doubts] about creations.
func creationDoubts(all []journaling.Open, s *states.State, limit int) string {
	ids := importIDs(all, s)
	var b strings.Builder
	if len(all) == 1 {
		u := all[0]
		fmt.Fprintf(&b, "An apply began to create %s at %s and did not record the result. If that apply is no longer running, the object may or may not exist.", u.Address, u.Started.Format(time.RFC3339))
		if len(u.Known) > 0 {
			b.WriteString(" Look for an object with:")
			for _, name := range slices.Sorted(maps.Keys(u.Known)) {
				fmt.Fprintf(&b, "\n  %s = %q", name, u.Known[name])
			}
		}
		fmt.Fprintf(&b, "\n\nIf it exists:\n  %s\nIf it does not exist:\n  lockstep recover -forget %s\nIf a second creation does no harm (the server keeps the existing object, or refuses):\n  lockstep recover -retry %[2]s\n\nUntil you decide, Lockstep plans neither this object nor anything that depends on it.", importLine(u, ids), quoted(u.Address))
		return b.String()
	}
	fmt.Fprintf(&b, "An apply began to create these objects and did not record the results. If that apply is no longer running, each object may or may not exist:\n\n")
	shown := all[:min(limit, len(all))]
	b.WriteString(table(shown))
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(&b, "  and %d more: run \"lockstep recover\" for the whole list\n", n)
	}
	b.WriteString("\nFor each object that exists:\n")
	if len(ids) == 0 {
		b.WriteString("  lockstep import 'ADDRESS' ID\n")
	} else {
		for _, u := range shown {
			fmt.Fprintf(&b, "  %s\n", importLine(u, ids))
		}
	}
	b.WriteString("For objects that do not exist:\n  lockstep recover -forget 'ADDRESS' 'ADDRESS' ...\nFor objects whose second creation does no harm (the server keeps the existing object, or refuses):\n  lockstep recover -retry 'ADDRESS' 'ADDRESS' ...\n  lockstep recover -retry-all\n\nUntil you decide, Lockstep plans neither these objects nor anything that depends on them.")
	return b.String()
}

// ordered returns the records of unresolved creations, sorted by address.
func ordered(all []journaling.Open) []journaling.Open {
	slices.SortFunc(all, func(a, b journaling.Open) int {
		x, xErr := addrs.ParseTarget(a.Address)
		y, yErr := addrs.ParseTarget(b.Address)
		if xErr != nil || yErr != nil {
			return strings.Compare(a.Address, b.Address)
		}
		return instanceOf(x).Compare(instanceOf(y))
	})
	return all
}

func instanceOf(t addrs.Target) addrs.AbsResourceInstance {
	return addrs.AbsResource{Module: t.Module, Resource: t.Resource}.Instance(t.Key)
}

// importLine returns the command that imports the object u. It contains the ID if ids has one.
func importLine(u journaling.Open, ids map[string]string) string {
	if id, ok := ids[u.Address]; ok {
		return fmt.Sprintf("lockstep import %s %s", quoted(u.Address), quoted(id))
	}
	return fmt.Sprintf("lockstep import %s ID", quoted(u.Address))
}

// quoted returns a word in single quotes, as a POSIX shell reads them.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// longDoubt is the maximum number of characters for the attributes of an object in a row of a table.
const longDoubt = 60

// table returns a text table with a row for each creation whose result is not known.
func table(all []journaling.Open) string {
	rows := [][3]string{{"OBJECT", "STARTED", "LOOK FOR"}}
	var width [2]int
	for _, u := range all {
		var known []string
		for _, name := range slices.Sorted(maps.Keys(u.Known)) {
			known = append(known, fmt.Sprintf("%s = %q", name, u.Known[name]))
		}
		text := strings.Join(known, ", ")
		if utf8.RuneCountInString(text) > longDoubt {
			text = string([]rune(text)[:longDoubt-3]) + "..."
		}
		rows = append(rows, [3]string{u.Address, u.Started.UTC().Format(time.RFC3339), text})
	}
	for _, r := range rows {
		for i := range width {
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %-*s  %s", width[0], r[0], width[1], r[1], r[2]), " ") + "\n")
	}
	return b.String()
}

// separators are texts that providers put between attributes to make an ID.
var separators = []string{"@", "/", ":", "|", ",", ";", ".", "-", "_", ":::", "::"}

// mostLikes is the maximum number of existing objects of a type that are compared to derive an ID.
const mostLikes = 20

// importIDs returns the probable IDs of objects that may have been created, by address. The state shows how a
// resource type's IDs are made. An ID can be derived if two things are true:
//   - In all objects of the type, the ID is one attribute, or two attributes with the same separator.
//   - These attributes of the new object are known.
//
// A provider that imports by something other than the ID reports an error.
func importIDs(all []journaling.Open, s *states.State) map[string]string {
	out := map[string]string{}
	likes := map[string][]map[string]string{}
	for _, u := range all {
		t, err := addrs.ParseTarget(u.Address)
		if err != nil || len(u.Known) == 0 {
			continue
		}
		kind := t.Resource.Type
		if _, ok := likes[kind]; !ok {
			likes[kind] = objectsOf(s, kind)
		}
		if id := idLike(likes[kind], u.Known); id != "" {
			out[u.Address] = id
		}
	}
	return out
}

// objectsOf returns the string attributes of all objects of a type in the state.
func objectsOf(s *states.State, kind string) []map[string]string {
	var out []map[string]string
	for a, r := range s.Resources() {
		if a.Resource.Type != kind || a.Resource.Mode != addrs.Managed {
			continue
		}
		for _, in := range r.Instances {
			if in.Current == nil || len(out) == mostLikes {
				continue
			}
			var all map[string]any
			if json.Unmarshal(in.Current.AttrsJSON, &all) != nil {
				continue
			}
			attributes := map[string]string{}
			for name, v := range all {
				if text, ok := v.(string); ok {
					attributes[name] = text
				}
			}
			if attributes["id"] != "" {
				out = append(out, attributes)
			}
		}
	}
	return out
}

// idLike returns the probable ID of an object with the attributes in known. It is made in the same way as the
// IDs of the objects in others. The result is "" if that way is unknown or ambiguous.
func idLike(others []map[string]string, known map[string]string) string {
	if len(others) == 0 {
		return ""
	}
	found := map[string]bool{}
	try := func(id func(map[string]string) string) {
		for _, o := range others {
			if id(o) != o["id"] {
				return
			}
		}
		found[id(known)] = true
	}
	for x := range known {
		if x == "id" {
			continue
		}
		try(func(o map[string]string) string { return o[x] })
		for y := range known {
			for _, sep := range separators {
				if y != "id" && x != y {
					try(func(o map[string]string) string { return o[x] + sep + o[y] })
				}
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	for id := range found {
		return id
	}
	return ""
}
