package shadow

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
)

// A Tool is a program whose plans this package can read.
type Tool string

// These are the tools. Each has a file with its format and the version of the format's source.
const (
	Atlantis  Tool = "atlantis"
	Digger    Tool = "digger"
	Terrateam Tool = "terrateam"
	Dflook    Tool = "dflook"
	Tfcmt     Tool = "tfcmt"
)

// readers has, for each tool, the function that reads the plans in the tool's comments. The comments are those of
// the tool's author, the oldest first.
var readers = map[Tool]func([]Comment) []Claim{
	Atlantis:  readAtlantis,
	Digger:    each(readDigger),
	Terrateam: each(readTerrateam),
	Dflook:    each(readDflook),
	Tfcmt:     each(readTfcmt),
}

// Title returns the tool's name for people. It is "the other tool" if the settings name none.
func (t Tool) Title() string {
	switch t {
	case "":
		return "the other tool"
	case Dflook:
		return "dflook/terraform-plan"
	case Tfcmt:
		return "tfcmt"
	}
	return strings.ToUpper(string(t[:1])) + string(t[1:])
}

// A Comment is a comment on a pull request.
type Comment struct {
	ID     int64
	Author string // login
	Body   string
	// At is the time of the comment's present text, by GitHub's clock.
	At time.Time
}

// A Claim is what a comment says about a plan or an apply of one project. Everything in it may be a lie.
type Claim struct {
	// Project, Dir and Workspace name the project. A field is "" if the comment does not have it. Project may be any
	// label that people have chosen.
	Project, Dir, Workspace string
	// Head is the commit that was planned; "" if the comment does not name it.
	Head string
	Plan
	// Objects are numbers of objects; nil if the comment has none. A replaced object counts once, as added or as destroyed.
	Objects *Counts
	// Some is set if the comment says only that the plan changes something.
	Some bool
	// Applied is set if the comment is about an apply that has succeeded.
	Applied bool
	Comment int64
	At      time.Time
}

// A Source says whose comments are compared.
type Source struct {
	Tool   Tool
	Author string // login
}

// The limits for comments. Those beyond a limit are ignored. GitHub limits the length of a comment to 65,536 characters.
const (
	maxComments = 300
	maxBody     = 256 << 10
	maxClaims   = 1000
)

// Claims reads the plans in the comments of a pull request, the oldest comment first. Comments of other authors do not
// count, and neither do comments that were written before since.
func (s Source) Claims(all []Comment, since time.Time) []Claim {
	read := readers[s.Tool]
	if read == nil {
		return nil
	}
	var own []Comment
	for _, c := range all {
		if s.Author != "" && strings.EqualFold(c.Author, s.Author) && len(c.Body) <= maxBody && !c.At.Before(since) {
			c.Body = strings.ReplaceAll(c.Body, "\r\n", "\n")
			own = append(own, c)
		}
	}
	slices.SortStableFunc(own, func(a, b Comment) int { return cmp.Compare(a.ID, b.ID) })
	claims := read(own[max(0, len(own)-maxComments):])
	return claims[max(0, len(claims)-maxClaims):]
}

// each returns a reader that reads each comment on its own.
func each(read func(body string) []Claim) func([]Comment) []Claim {
	return func(all []Comment) (out []Claim) {
		for _, c := range all {
			for _, x := range read(c.Body) {
				x.Comment, x.At = c.ID, c.At
				out = append(out, x)
			}
		}
		return out
	}
}

// A Subject is a project to which claims may belong.
type Subject struct{ Project, Dir, Workspace string }

// names reports whether a claim names the subject.
func (s Subject) names(c Claim) bool {
	switch {
	case c.Dir != "":
		return path.Clean(c.Dir) == path.Clean(s.Dir) && (c.Workspace == "" || c.Workspace == s.Workspace)
	case c.Project == "":
		return false
	}
	return (c.Project == s.Project || path.Clean(c.Project) == path.Clean(s.Dir)) && (c.Workspace == "" || c.Workspace == s.Workspace)
}

// Find returns what claims say about a subject: the last plan, and whether it was applied after that. all are all projects
// of the pull request. If there is only one project, two more kinds of claims belong to it: claims that name no project,
// and claims with an unknown label, if all claims have this label. head is the commit that Lockstep has planned.
func Find(claims []Claim, s Subject, all []Subject, head string) (plan *Claim, applied bool) {
	var named []Claim
	for _, c := range claims {
		anonymous := c.Dir == "" && (c.Project == "" || !slices.ContainsFunc(claims, func(x Claim) bool { return x.Project != c.Project || x.Dir != "" }))
		twins := 0
		for _, x := range all {
			if x.names(c) {
				twins++
			}
		}
		switch {
		case c.Head != "" && c.Head != head, !s.names(c) && !(anonymous && len(all) == 1):
		case twins > 1 && c.Workspace == "" && s.Workspace != "default":
		default:
			named = append(named, c)
		}
	}
	slices.SortStableFunc(named, func(a, b Claim) int { return a.At.Compare(b.At) })
	for _, c := range named {
		switch {
		case c.Applied:
			applied = true
		case plan == nil, !vague(c), vague(*plan), c.Failed && c.At.After(plan.At):
			applied, plan = applied && plan != nil && vague(c), &c
		}
	}
	return plan, applied
}

// vague reports whether a claim says less than a whole plan does.
func vague(c Claim) bool { return c.Objects != nil || c.Some || c.Cut }

// A part is a piece of a comment: lines of Markdown, or the text of a fenced block.
type part struct {
	fenced bool
	text   string
}

// parts divides a comment into Markdown and fenced blocks. A block ends at a line with the same fence as its first
// line, as in CommonMark. So the content of a block cannot pass for lines of the tool itself, unless the content has
// a line that is only a fence.
func parts(body string) (out []part) {
	var b strings.Builder
	fence := ""
	flush := func() {
		if b.Len() > 0 || fence != "" {
			out = append(out, part{fence != "", b.String()})
		}
		b.Reset()
	}
	for line := range strings.Lines(body) {
		bare := strings.TrimRight(line, "\n \t")
		switch {
		case fence == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
			flush()
			fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
			continue
		case fence != "" && bare == fence:
			flush()
			fence = ""
			continue
		}
		b.WriteString(line)
	}
	flush()
	return out
}
