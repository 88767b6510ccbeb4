package githubtest

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/github/githubtest/rest"
)

// ownerFiles are the paths of a CODEOWNERS file. The first that exists counts.
var ownerFiles = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// ownerErrors returns the answer to GET /repos/{owner}/{repo}/codeowners/errors. It reports only one kind of
// error: owners for whom the function may returns false. ok is false if there is no CODEOWNERS file.
func ownerErrors(in map[string]string, may func(owner string) bool) (answer rest.Object, ok bool) {
	for _, path := range ownerFiles {
		text, ok := in[path]
		if !ok {
			continue
		}
		list := []any{}
		for i, line := range strings.SplitAfter(text, "\n") {
			rule, _, _ := strings.Cut(line, "#")
			for _, owner := range strings.Fields(rule) {
				if name, named := strings.CutPrefix(owner, "@"); named && !may(name) {
					list = append(list, unknownOwner(path, i+1, line, owner))
				}
			}
		}
		return rest.Object{"errors": list}, true
	}
	return nil, false
}

func unknownOwner(path string, line int, source, owner string) rest.Object {
	hint, column := fmt.Sprintf("make sure %s exists and has write access to the repository", owner), strings.Index(source, owner)
	if strings.Contains(owner, "/") {
		hint = fmt.Sprintf("make sure the team %s exists, is publicly visible, and has write access to the repository", owner)
	}
	return rest.Object{
		"line": line, "column": column + 1, "kind": "Unknown owner", "source": source, "suggestion": hint, "path": path,
		"message": fmt.Sprintf("Unknown owner on line %d: %s\n\n  %s\n  %s^", line, hint, strings.TrimSpace(source), strings.Repeat(" ", column)),
	}
}
