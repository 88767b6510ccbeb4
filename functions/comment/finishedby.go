package comment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// doneByOthers returns a text that lists the projects that other pull requests have applied: "`net` by #12,
// `app` by #15". by maps the labels of projects to numbers of pull requests. The text is "" if by is empty.
func doneByOthers(by map[string]int) string {
	var all []string
	for _, label := range slices.Sorted(maps.Keys(by)) {
		all = append(all, fmt.Sprintf("%s by #%d", markdown.Code(label), by[label]))
	}
	return strings.Join(all, ", ")
}

// finishedByOthers returns one line for each pull request that has applied projects, such as "#12 has applied
// `net`." by maps the labels of projects to numbers of pull requests.
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
