package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// A Cause is a place in the pull request that causes a change of a plan, or the reason why there is none. Its
// texts come from the pull request, without secrets.
type Cause struct {
	// Object is the address of the object that changes, such as "aws_vpc.main" or "output.id". Action is what the
	// plan does with it: "create", "update", "replace", "delete", "forget".
	Object, Action string
	// Attribute is the attribute that changes, such as `tags["team"]`, with its values for people. Values that
	// cannot be shown in a few characters are "". Attribute is "" if the place causes the whole action.
	Attribute, Before, After string `json:",omitempty"`
	// Replaces is set if the attribute's change forces the replacement of the object.
	Replaces bool `json:",omitempty"`
	// Via are the objects on the way from the attribute to the place: "local.tags", "var.team".
	Via []string `json:",omitempty"`
	// Path is the file, from the root of the repository. First and Last are its lines at the head commit. Path is
	// "" if no changed line causes the change: Unedited says why.
	Path        string   `json:",omitempty"`
	First, Last int      `json:",omitempty"`
	Unedited    Unedited `json:",omitempty"`
}

// Unedited says why no changed line of a pull request causes a change.
type Unedited string

// These are the reasons why no changed line causes a change. Before means that the change was there before
// the pull request, or that a provider causes it.
const (
	ByDrift   Unedited = "drift"
	ByTaint   Unedited = "taint"
	ByRequest Unedited = "request"
	Before    Unedited = "before"
	Unknown   Unedited = "unknown"
)

// Limits of the notes about one plan: how many there are, and how many causes one note lists.
const (
	MaxCauseNotes  = 100
	maxCausesAtOne = 15
)

// CauseNotes returns one note for each place that causes changes. Places that destroy or replace objects come
// first. If there are more than [MaxCauseNotes], the rest is left out.
func CauseNotes(all []Cause) []LineNote {
	type place struct {
		path        string
		first, last int
	}
	at := map[place][]Cause{}
	var places []place
	for _, c := range all {
		p := place{c.Path, c.First, c.Last}
		if c.Path == "" {
			continue
		}
		if at[p] == nil {
			places = append(places, p)
		}
		at[p] = append(at[p], c)
	}
	worst := func(p place) int { return slices.MinFunc(at[p], byWeight).weight() }
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(worst(a), worst(b)), strings.Compare(a.path, b.path), cmp.Compare(a.first, b.first))
	})
	var out []LineNote
	for _, p := range places[:min(len(places), MaxCauseNotes)] {
		list := at[p]
		slices.SortStableFunc(list, byWeight)
		note := LineNote{Path: p.path, Line: p.first, Last: p.last, Level: "notice", Title: causeTitle(list)}
		if list[0].weight() == 0 {
			note.Level = "warning"
		}
		var lines []string
		for i, c := range list {
			if i == maxCausesAtOne && len(list) > i+1 {
				lines = append(lines, fmt.Sprintf("and %d more", len(list)-i))
				break
			}
			lines = append(lines, c.sentence())
		}
		note.Message = strings.Join(lines, "\n")
		out = append(out, note)
	}
	return out
}

// weight is 0 for an action that destroys an object, and 1 for all others.
func (c Cause) weight() int {
	if c.Action == "replace" && (c.Replaces || c.Attribute == "") || c.Action == "delete" {
		return 0
	}
	return 1
}

func byWeight(a, b Cause) int { return cmp.Compare(a.weight(), b.weight()) }

// causeVerbs are the actions as people read them.
var causeVerbs = map[string]string{"create": "creates", "update": "updates", "replace": "replaces", "delete": "destroys", "forget": "removes from the state"}

func (c Cause) verb() string { return cmp.Or(causeVerbs[c.Action], "changes") }

// sentence describes the cause in one line of plain text, such as
// `replaces aws_db_instance.main: engine_version "15" -> "16" forces it (var.version)`.
func (c Cause) sentence() string {
	text := c.verb() + " " + c.Object
	if c.Attribute != "" {
		text += ": " + c.Attribute
	}
	if c.Before != "" && c.After != "" {
		text += " " + c.Before + " -> " + c.After
	}
	if c.Replaces {
		text += " forces it"
	}
	if len(c.Via) > 0 {
		text += " (" + strings.Join(c.Via, ", ") + ")"
	}
	return text
}

// causeTitle returns the title of a note: what happens to the objects.
func causeTitle(list []Cause) string {
	counts := map[string]map[string]bool{} // objects by verb
	var verbs []string
	for _, c := range list {
		if counts[c.verb()] == nil {
			verbs = append(verbs, c.verb())
			counts[c.verb()] = map[string]bool{}
		}
		counts[c.verb()][c.Object] = true
	}
	var parts []string
	for _, v := range verbs {
		what := list[slices.IndexFunc(list, func(c Cause) bool { return c.verb() == v })].Object
		if n := len(counts[v]); n > 1 {
			what = fmt.Sprintf("%d objects", n)
		}
		parts = append(parts, v+" "+what)
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// maxUnedited is the maximum number of objects that one reason names.
const maxUnedited = 5

// uneditedTexts are the reasons in the order in which people read them.
var uneditedTexts = []struct {
	is        Unedited
	one, more string
}{
	{ByDrift, "was changed outside of the configuration", "were changed outside of the configuration"},
	{ByTaint, "is marked as tainted", "are marked as tainted"},
	{ByRequest, "is replaced because the command asks for it", "are replaced because the command asks for it"},
	{Before, "has a change that was there before this pull request, or that its provider causes", "have changes that were there before this pull request, or that their providers cause"},
	{Unknown, "was not searched for a cause, because the configuration is too large", "were not searched for causes, because the configuration is too large"},
}

// Uncaused returns a note, in Markdown, about the changes that no line of the pull request causes; "" if there
// are none.
func Uncaused(all []Cause) string {
	objects := map[Unedited][]string{}
	n := 0
	for _, c := range all {
		if c.Path == "" {
			objects[c.Unedited] = append(objects[c.Unedited], c.Object)
			n++
		}
	}
	if n == 0 {
		return ""
	}
	var parts []string
	for _, t := range uneditedTexts {
		switch names := objects[t.is]; len(names) {
		case 0:
		case 1:
			parts = append(parts, markdown.Code(names[0])+" "+t.one)
		default:
			parts = append(parts, markdown.Names(names, maxUnedited)+" "+t.more)
		}
	}
	what := "1 change is"
	if n > 1 {
		what = fmt.Sprintf("%d changes are", n)
	}
	return fmt.Sprintf("%s not caused by a line of this pull request: %s.", what, strings.Join(parts, "; "))
}
