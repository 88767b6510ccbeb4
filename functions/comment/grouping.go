package comment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

const (
	// fewAlike is the maximum number of replies that are shown one by one although they differ only in their
	// project.
	fewAlike = 3
	// maxAlike is the maximum number of projects that a reply about several projects names.
	maxAlike = 20
	// In a text about several projects, anyProject replaces a project's name in commands, and anyPlan the hash
	// of its plan. The comment with the plans has the real names.
	anyProject, anyPlan = "NAME", "HASH"
)

// bodies returns the texts of replies, in their order. If more than fewAlike replies differ only in their
// project, they share one text, at the place of the first of these replies.
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

// unnamed returns the JSON of a reply with [anyProject] in place of its project, and the name of that
// project. It returns "" for a reply that has to be shown alone. The JSON of a PlanRenewal has [anyPlan] in
// place of the hash. The JSON of an Overridden has no Target.
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

// about returns one text for replies that differ only in their projects. r is such a reply, with [anyProject]
// as its project.
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
