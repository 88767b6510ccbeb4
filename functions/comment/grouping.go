package comment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

const (
	// fewAlike is the number of replies that stand alone, though they differ in nothing but their projects.
	fewAlike = 3
	// maxAlike is the maximum number of projects that a reply about several names.
	maxAlike = 20
	// anyProject and anyPlan stand for a project and its plan in the commands of such a reply, as in the comment about the plans,
	// which has them.
	anyProject, anyPlan = "NAME", "HASH"
)

// bodies are the texts of replies, in their order: many that differ in nothing but their projects have one text, at the place of the
// first.
func bodies(replies []Reply) []string {
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
	done := map[int]bool{}
	for _, r := range replies {
		key, name := unnamed(r)
		i := at[key]
		switch {
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

// unnamed returns the JSON of a reply with [anyProject] in the place of its project, and that; "" for one that stands alone. Of
// the news about a plan that nobody has asked for it leaves out the hash, and of an override the name in records.
func unnamed(r Reply) (key, project string) {
	field := reflect.ValueOf(r).FieldByName("Project")
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

// about is the text of a reply whose project is [anyProject], about several.
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
