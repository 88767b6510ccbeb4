package comment

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// Limits of [Queried]: a comment has 65,536 bytes.
const (
	MaxQueried      = 100    // objects
	MaxQueryConfig  = 30_000 // bytes of configuration
	maxQueryLists   = 50
	maxQueriedText  = 200     // bytes of a text in a table
	maxQueriedSize  = 200_000 // bytes of the whole, as JSON
	maxQueryWarning = 5_000
)

// Queried is the result of a query: the objects that exist, and those among them that the project's state
// lacks. The texts come from providers and from the pull request.
type Queried struct {
	Project string
	Dir     string
	Lists   []QueriedList
	// Objects are the objects for people. Those that the state does not have come first.
	Objects []QueriedObject `json:",omitempty"`
	// Config is the configuration of objects that the state does not have; "" if nobody asked for it. Without is
	// the number of such objects whose configuration is left out.
	Config  string `json:",omitempty"`
	Without int    `json:",omitempty"`
	// Secret is the number of objects whose configuration is left out because one of its values is secret.
	Secret int `json:",omitempty"`
	// Import is the pull request with the configuration; nil if nobody asked for one.
	Import *QueriedImport `json:",omitempty"`
	// Ended is set if there were too many objects, so that the query was ended.
	Ended bool `json:",omitempty"`
	// Warnings are the warnings of the query, in Markdown.
	Warnings string `json:",omitempty"`
}

// A QueriedList is the result of one list block, or of one of its instances.
type QueriedList struct {
	Address string
	// Found is the number of objects, and Managed the number of those that the state has.
	Found, Managed int
	// Unknown is the number of objects of the same type in the state that have no identity there.
	Unknown int `json:",omitempty"`
}

// A QueriedObject is an object that exists.
type QueriedObject struct {
	List     string // the address of the list block
	Name     string // as its provider calls it
	Identity string // JSON
	Managed  string `json:",omitempty"` // its address in the state; "" if the state does not have it
}

// Each returns the result within the limits, with f applied to each text that is not Lockstep's own. room is the
// limit of the configuration, in bytes.
func (q Queried) Each(f func(string) string, room int) Queried {
	short := func(s string) string { return cutTitle(f(s), maxQueriedText) }
	q.Lists, q.Objects = q.Lists[:min(len(q.Lists), maxQueryLists)], q.Objects[:min(len(q.Objects), MaxQueried)]
	for i, l := range q.Lists {
		q.Lists[i].Address = short(l.Address)
	}
	for i, o := range q.Objects {
		q.Objects[i] = QueriedObject{short(o.List), short(o.Name), short(o.Identity), short(o.Managed)}
	}
	q.Config = f(q.Config)
	if len(q.Config) > room {
		q.Config = ""
	}
	q.Warnings = markdown.Cut(f(q.Warnings), maxQueryWarning)
	size := func() int {
		kept := q
		if room > MaxQueryConfig { // a file gets it, and no record
			kept.Config = ""
		}
		return encodedSize(kept)
	}
	for len(q.Objects) > 0 && size() > maxQueriedSize {
		q.Objects = q.Objects[:len(q.Objects)/2]
	}
	return q
}

// counts returns three numbers: found is the number of objects that exist, left the number of those that the state
// does not have, and unknown the number of objects in the state without an identity.
func (q Queried) counts() (found, left, unknown int) {
	for _, l := range q.Lists {
		found, left, unknown = found+l.Found, left+l.Found-l.Managed, unknown+l.Unknown
	}
	return found, left, unknown
}

// Generated returns the number of objects whose configuration was generated and is not left out.
func (q Queried) Generated() int {
	_, left, _ := q.counts()
	return max(left-q.Without-q.Secret, 0)
}

func (q Queried) markdown() string {
	var b strings.Builder
	found, left, unknown := q.counts()
	fmt.Fprintf(&b, "**Queried** %s: %s. ", markdown.Code(q.Project), foundText(found, left))
	propose := fmt.Sprintf("For a pull request with their configuration, comment %s.", markdown.Code(Command{Verb: Query, Project: q.Project, PullRequest: true}.String()))
	switch generated := q.Config != ""; {
	case q.Import != nil:
		b.WriteString(q.importText(left))
	case left == 0:
	case generated:
		fmt.Fprintf(&b, "To manage them, copy the configuration below into a file in %s and push it. The plan then shows the imports. Or comment %s.", markdown.Code(q.Dir), markdown.Code(Command{Verb: Query, Project: q.Project, PullRequest: true}.String()))
	case q.Without > 0:
		fmt.Fprintf(&b, "Their configuration is too long for a comment. %s Or run %s in %s on your machine.", propose, markdown.Code("lockstep query -generate-config-out=found.tf"), markdown.Code(q.Dir))
	default:
		fmt.Fprintf(&b, "For their configuration, comment %s. %s", markdown.Code(Command{Verb: Query, Project: q.Project, Generate: true}.String()), propose)
	}
	b.WriteString("\n\n| list block | exist | in the state | not in the state |\n|---|---|---|---|\n")
	for _, l := range q.Lists {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", inCell(l.Address), l.Found, l.Managed, l.Found-l.Managed)
	}
	if q.Ended {
		fmt.Fprintf(&b, "\nThe query was ended after %d objects, so there may be more. Give the list blocks narrower filters, or a `limit`.\n", found)
	}
	if unknown > 0 {
		fmt.Fprintf(&b, "\n%s of the state have no identity yet, so some of the objects above may be managed. To store the identities, comment %s and apply the plan.\n", objectsOf(unknown), markdown.Code("lockstep drift"))
	}
	if len(q.Objects) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n| object | identity | in the state |\n|---|---|---|\n", objectsOf(len(q.Objects)))
		for _, o := range q.Objects {
			address := "no"
			if o.Managed != "" {
				address = inCell(o.Managed)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", inCell(o.Name), inCell(o.Identity), address)
		}
		if more := found - len(q.Objects); more > 0 {
			fmt.Fprintf(&b, "\n%s more are not shown.\n", objectsOf(more))
		}
		b.WriteString("\n</details>\n")
	}
	if q.Config != "" {
		fmt.Fprintf(&b, "\n<details><summary>Configuration</summary>\n\n%s\n\n</details>\n", markdown.Fence("hcl", q.Config))
		if q.Without > 0 {
			fmt.Fprintf(&b, "\nThe configuration of %s is left out, because a comment has no more room.\n", objectsOf(q.Without))
		}
	}
	if q.Secret > 0 {
		fmt.Fprintf(&b, "\nThe configuration of %s is left out, because it contains a secret value. Write it yourself, with a variable for the secret.\n", objectsOf(q.Secret))
	}
	if q.Warnings != "" {
		b.WriteString("\n" + q.Warnings)
	}
	return b.String()
}

// inCell returns a text for a table.
func inCell(text string) string { return strings.ReplaceAll(markdown.Code(text), "|", `\|`) }

func objectsOf(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// foundText returns how many of the objects that exist the state does not have.
func foundText(found, left int) string {
	switch {
	case found == 0:
		return "the list blocks find no objects"
	case left == 0:
		return fmt.Sprintf("the state has all of %s", objectsOf(found))
	case left == 1:
		return fmt.Sprintf("the state does not have 1 of %s", objectsOf(found))
	}
	return fmt.Sprintf("the state does not have %d of %s", left, objectsOf(found))
}
