package runs

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/functions/project"
)

// PagePath returns the path of the page with a text about a run, such as "/acme/infra/pull/7/plan/network": package page
// has the pages. a is the artifact with the text. The third part of a's key is the run's target, and the last one is its
// file.
func PagePath(a pipeline.Artifact) string {
	owner, name, _ := strings.Cut(a.Repo, "/")
	pull := fmt.Sprintf("/%s/%s/pull/%d", url.PathEscape(owner), url.PathEscape(name), a.Number)
	parts := strings.Split(a.Key, "/")
	if len(parts) != 5 {
		return pull
	}
	// The target's name and the workspace's name are both escaped, and "@" separates them.
	target, err := url.PathUnescape(strings.TrimSuffix(parts[2], "@"+project.DefaultWorkspace))
	if err != nil {
		return pull
	}
	kind := "plan"
	if strings.HasPrefix(parts[4], "steps") {
		kind = "steps"
	}
	return pull + "/" + kind + "/" + url.PathEscape(target)
}
