package comment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

const (
	// fewAlike is the maximum number of equal replies, each about another project, that are shown separately.
	// If there are more, they are shown as one text.
	fewAlike = 3
	// maxAlike is the maximum number of projects that one text about several projects names.
	maxAlike = 20
	// Texts about several projects contain commands with anyProject instead of a project's name, and with
	// anyPlan instead of a plan's hash. The comment with the plans has the real names and hashes.
	anyProject, anyPlan = "NAME", "HASH"
)

// bodies returns the texts of replies, in their order. If more than fewAlike replies differ only in their projects,
// they have one common text, at the place of the first of them. Replies about applies in progress also have one common
// text, and so have replies about plans in progress.
func bodies(replies []Reply) []string {
	going := map[bool][]Pending{false: ongoing(replies, false), true: ongoing(replies, true)}
	var texts []string
	var all [][]string // the projects of each text
	at := map[string]int{}
	for _, r := range replies {
		key, name := unnamed(r)
		i, known := at[key]
		if !known || name == "" {
			i = len(all)
			texts, all, at[key] = append(texts, key), append(all, nil), i
		}
		all[i] = append(all[i], name)
	}
	var out []string
	done, shown := map[int]bool{}, map[bool]bool{}
	for _, r := range replies {
		key, name := unnamed(r)
		i := at[key]
		p, _ := r.(Pending)
		planning := p.Ongoing.Planning
		switch {
		case isOngoing(r) && len(going[planning]) > fewAlike:
			if !shown[planning] {
				out, shown[planning] = append(out, ongoingTable(going[planning])), true
			}
		case name == "" || len(all[i]) <= fewAlike:
			out = append(out, r.markdown())
		case !done[i]:
			one, err := UnmarshalReply([]byte(texts[i]))
			if err != nil {
				panic(err.Error())
			}
			out, done[i] = append(out, about(one, all[i])), true
		}
	}
	return out
}

// unnamed returns a key that is equal for replies that differ only in their projects, and the project of r. The
// key is the JSON of r with [anyProject] as the project. It also replaces other values that differ by project,
// such as the hash of a plan. unnamed returns "" for a reply that must be shown separately.
func unnamed(r Reply) (key, project string) {
	field := reflect.ValueOf(r).FieldByName("Project")
	if isOngoing(r) {
		return "", ""
	}
	failed, is := r.(Failed)
	twin := reflect.ValueOf(r).FieldByName("Workspace") // of two projects with one name
	if !field.IsValid() || field.String() == "" || twin.IsValid() && twin.String() != "" || is && failed.Verb == Apply && !failed.Untouched {
		return "", ""
	}
	if renewed, is := r.(PlanRenewal); is {
		renewed.Plan = anyPlan
		r = renewed
	}
	if lifted, is := r.(Overridden); is {
		lifted.Target = ""
		r = lifted
	}
	data, err := MarshalReply(r)
	if err != nil {
		panic(err.Error())
	}
	quoted := func(name string) string {
		s, err := json.Marshal(name)
		if err != nil {
			panic(err.Error())
		}
		return `"Project":` + string(s)
	}
	return strings.ReplaceAll(string(data), quoted(field.String()), quoted(anyProject)), field.String()
}

// about returns one text for replies that differ only in their projects. r is one of these replies, with
// [anyProject] as its project.
func about(r Reply, projects []string) string {
	names := markdown.Names(projects, maxAlike)
	if len(projects) > maxAlike {
		names = fmt.Sprintf("%d projects (%s)", len(projects), names)
	}
	switch r.(type) {
	case Done, Planned:
		names += ", each"
	case PlanRenewal:
		names = "each of " + names
	}
	text, name := r.markdown(), markdown.Code(anyProject)
	before, after, ok := strings.Cut(text, name)
	if !ok {
		return fmt.Sprintf("%s: %s", names, text)
	}
	if rest, is := strings.CutPrefix(after, " is "); is {
		after = " are " + rest
	}
	after = strings.ReplaceAll(after, "\n- "+name, "\n- Each of them")
	return before + names + strings.ReplaceAll(after, name, "each of them")
}
