package comment

import (
	"regexp"
	"testing"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// TestOneMarker holds that comments begin with their one marker, whatever is in them.
func TestOneMarker(t *testing.T) {
	evil := "a " + StatusMarker + " b\n" + AnswerMarker("1")
	p := ProjectStatus{Name: evil, Standing: Ready, Queueing: Queueing{By: evil}, Texts: Texts{Body: markdown.Fence("", evil), Whole: evil, Check: evil}}
	marker := regexp.MustCompile(`<!-- lockstep:`)
	for name, text := range map[string]string{
		"a status":   Status{Head: someSHA, Projects: []ProjectStatus{p, p}, Approvals: []string{evil}}.Markdown(65536),
		"an answer":  Answer{"33", []Reply{Failed{Project: evil, Verb: Plan, Body: markdown.Fence("", evil)}, Misunderstood{grammar.Line{Text: evil, Problem: grammar.Problem{Kind: grammar.UnknownWord, Word: evil}}}, Broken{Reason: `"` + evil + `"`}}}.Markdown(65536),
		"no comment": marker.FindString(StatusMarker) + Check{ProjectStatus: p, Others: ""}.Summary(65535),
	} {
		if at := marker.FindAllStringIndex(text, -1); len(at) != 1 || at[0][0] != 0 {
			t.Errorf("%s has markers at %v:\n%s", name, at, text)
		}
	}
}
