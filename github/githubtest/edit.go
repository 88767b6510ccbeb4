package githubtest

import (
	"fmt"
	"strings"
	"time"
)

// An Edit is an action of a person or an App in a repository.
type Edit struct {
	// Kind is "push", "force-push", "pull request", "ready", "retarget", "merge",
	// "close", "reopen", "comment", "edit", "delete", "reaction", "review", "check".
	Kind    string
	Repo    string // owner/name
	Who     string // a login
	Number  int    // of the pull request, 0 if none
	Comment int64  // ID, 0 if none
	Check   string // name, "" if none
	SHA     string // of a check's commit
	Text    string
	At      time.Time
}

// String returns the edit as a line of text.
func (e Edit) String() string {
	switch e.Kind {
	case "push", "force-push":
		return e.Kind + " " + e.by()
	case "comment", "edit", "delete", "reaction":
		return fmt.Sprintf("%s #%d on #%d %s", e.Kind, e.Comment, e.Number, e.by())
	}
	if e.Check != "" && e.Number == 0 { // of a commit that is no longer a head
		return fmt.Sprintf("check %s at %.7s %s", e.Check, e.SHA, e.by())
	}
	if e.Check != "" {
		return fmt.Sprintf("check %s on #%d %s", e.Check, e.Number, e.by())
	}
	return fmt.Sprintf("%s #%d %s", e.Kind, e.Number, e.by())
}

func (e Edit) by() string {
	line := "by " + e.Who
	if e.Text != "" {
		line += ": " + firstVisibleLine(e.Text)
	}
	return line
}

// firstVisibleLine returns the first line of a comment that readers see: not blank, and not a hidden HTML
// comment.
func firstVisibleLine(s string) string {
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "<!--") {
			return line
		}
	}
	return ""
}
