package comment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// doneByOthers lists finished projects, by their labels, with the numbers of those pull requests; "" if there are none.
func doneByOthers(by map[string]int) string {
	var all []string
	for _, label := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("%s by #%d", markdown.Code(label), by[label]))
	}
	return strings.Join(all, ", ")
}

// finishedByOthers tells the same, a line for each pull request.
func finishedByOthers(by map[string]int) string {
	of := map[int][]string{}
	for label, number := range by {
		of[number] = append(of[number], markdown.Code(label))
	}
	text := ""
	for _, number := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[number])
		text += fmt.Sprintf("#%d has applied %s.\n", number, strings.Join(of[number], ", "))
	}
	return text
}
