package redacting

import (
	"regexp"
	"strings"
	"sync"
)

// phrases are texts in Lockstep's reports that are never hidden, and neither are their parts. Without this
// list, the author of a configuration could declare a word such as "destroyed" as sensitive, to hide a
// deletion in a plan.
var phrases = []string{
	"will be created", "will be destroyed", "will be updated in-place", "must be replaced", "will be replaced, as requested",
	"is tainted, so must be replaced", "will be replaced due to changes in replace_triggered_by", "will be read during apply",
	"will no longer be managed, but will not be destroyed", "will be imported", "will be imported first", "forces replacement",
	"known after apply", Hidden, "unchanged attributes hidden", "unchanged blocks hidden", "unchanged elements hidden",
	"Plan: to import, to add, to change, to destroy, to forget.", "No changes. The infrastructure matches the configuration.",
	"Planning failed. What was planned before:", "Destroys or replaces objects and more", "Changes", "Outputs", "Changed outside of Lockstep",
	"Not begun: create update destroy and more", "Error:", "Warning:", "<details open><summary>", "</summary>", "</details>", "```diff",
	"resource", "jsonencode(", "<<-EOT", "attribute value will no longer be marked as sensitive",
}

var vocabulary = sync.OnceValue(func() []string {
	var out []string
	for _, p := range phrases {
		out = append(out, reduceAll(p))
	}
	return out
})

// isVocabulary reports whether a reduced text is a part of one of [phrases].
func isVocabulary(reduced string) bool {
	for _, p := range vocabulary() {
		if strings.Contains(p, reduced) {
			return true
		}
	}
	return false
}

// structure matches lines of a report that cannot contain a secret. They show the structure of the report, or
// count changes.
var structure = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)^(`{3,}(diff)?|</details>|<details( open)?><summary>[A-Za-z ]+(: [0-9]+)?</summary>|(\\*\\*)?Plan:(\\*\\*)?( |[0-9]+|to|import|add|change|destroy|forget|[,.])+)$")
})
