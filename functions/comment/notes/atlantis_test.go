package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAtlantis holds the notes about an atlantis.yaml: ignored, read, and with what somebody wrote there
// to change the comment.
func TestAtlantis(t *testing.T) {
	t.Parallel()
	var all []string
	for _, a := range []Atlantis{
		{Settings: "lockstep.hcl", Ignored: true, Parts: []Part{{Key: "x"}}},
		{Settings: "atlantis.yaml", Parts: []Part{{Lines: []int{3}, Key: "run", Instead: "No command is run."}}},
		{Settings: "atlantis.yaml", Parts: []Part{
			{Lines: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Key: "</details>\n`# x", Instead: "Plans are made without this argument."},
			{Lines: []int{2, 4}, Key: "automerge", Instead: "Nothing is merged by Lockstep."},
		}},
	} {
		all = append(all, strings.Join(a.Notes(), "\n")+"\n")
	}
	compareTexts(t, "atlantis", all...)
	if (Atlantis{Settings: "atlantis.yaml"}).Notes() != nil {
		t.Error("there is nothing to know")
	}
	var many Atlantis
	for i := range 1000 {
		many.Parts = append(many.Parts, Part{Lines: slices.Repeat([]int{i}, 500), Key: fmt.Sprint("-", i), Instead: "A sentence."})
	}
	if note := strings.Join(many.Notes(), ""); len(note) > 5000 || !strings.Contains(note, "- and 970 more") {
		t.Errorf("the note has %d bytes", len(note))
	}
}
