package comment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// doneByOthers returns a list of the projects that other pull requests have applied: "`net` by #12, `app` by
// #15". The keys of by are the labels of projects, the values are numbers of pull requests. It returns "" if
// there are none.
func doneByOthers(by map[string]int) string {
	var all []string
	for _, label := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("%s by #%d", markdown.Code(label), by[label]))
	}
	return strings.Join(all, ", ")
}

// finishedByOthers returns the projects that other pull requests have applied, with a line for each pull
// request: "#12 has applied `net`." The keys of by are the labels of projects.
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
