package render

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/plans"
)

// affectedText returns what people have to know about a plan with -refresh=affected: how many objects were not read,
// and when everything was last read; or why everything was read. It returns "" if there is nothing to say. The text
// may contain names from files.
func affectedText(a *plans.Affected) string {
	switch {
	case a == nil:
		return ""
	case a.Everything != "":
		return fmt.Sprintf("All objects were read, because %s.", a.Everything)
	case a.Unread+a.UnreadData == 0:
		return ""
	}
	return fmt.Sprintf("%s not read. The plan uses their values in the state. Lockstep last read everything on %s. To read everything now, plan with -refresh=true.",
		unreadText(a), a.Since.UTC().Format("2006-01-02 15:04 UTC"))
}

// affectedMarkdown returns [affectedText] for a comment. Text that Lockstep has not written is code.
func affectedMarkdown(a *plans.Affected) string {
	switch text := affectedText(a); {
	case text == "":
		return ""
	case a.Everything != "" && strings.ContainsFunc(a.Everything, markup):
		return "All objects were read, because " + codeSpan(a.Everything) + "."
	default:
		return strings.Replace(text, "plan with -refresh=true.", "comment `lockstep plan -refresh=true`.", 1)
	}
}

// markup reports whether a character may have a meaning in a comment.
func markup(r rune) bool {
	return !(r == ' ' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(",;.:/()='\"-", r))
}

// unreadText returns the beginning of a sentence about what was not read: "3 objects and 1 data source were".
func unreadText(a *plans.Affected) string {
	objects, data := counted(a.Unread, "object"), counted(a.UnreadData, "data source")
	switch {
	case a.UnreadData == 0 && a.Unread == 1, a.Unread == 0 && a.UnreadData == 1:
		return objects + data + " was"
	case a.UnreadData == 0 || a.Unread == 0:
		return objects + data + " were"
	}
	return objects + " and " + data + " were"
}

// counted returns a number with its noun; "" for zero.
func counted(n int, noun string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// reads reports whether a plan has compared all real objects with the configuration.
func reads(p *plans.Plan) bool {
	return p.Affected == nil || p.Affected.Unread+p.Affected.UnreadData == 0
}
