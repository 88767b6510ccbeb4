package page

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"
)

// A frame has the data for the template of a page.
type frame struct {
	Title   string // of the site
	Version uint64 // the version of the site's content; 0 if the page is not kept up to date
	Notice  string // an error, for the reader
	About   string // Markdown
	Guide   string // Markdown
	Pulls   []Pull
	Pull    Pull
	Tab     string
	As      string // login of the speaker
	Draft   string // the text of a comment that was refused
	// Text is the whole text of a kind about a project.
	Kind          TextKind
	Project, Text string

	Form Form   // to sign in
	To   string // the path to which the reader wanted to go

	Catalog      bool // the site has repositories
	Repositories []RepositoryID
	Repository   Repository
	History      ProjectHistory
	Matches      []Match // of a search for projects
	// InObjects is set if objects were searched, too. Objects are those that were found.
	InObjects, MoreObjects bool
	Objects                []ObjectMatch
	More                   bool // there are more matches

	Reader     string // login; "" if nobody is signed in by name
	Documented bool   // the site has a documentation
	Subject    string
	Query      string        // of a search in the documentation
	Found      []Found       // pages of the documentation
	Manual     template.HTML // a page of it
}

// has reports whether a tab of the pull request's page has content.
func (f frame) has(tab string) bool {
	switch tab {
	case tabChecks:
		return f.Pull.Checks != nil
	case tabFiles:
		return f.Pull.Files != nil
	}
	return true
}

// Busy reports whether something on the page is in progress. If so, and if the site does not announce changes, the page
// looks for changes itself.
func (f frame) Busy() bool {
	busy := func(p Pull) bool {
		return p.Tone == Busy || slices.ContainsFunc(p.Projects, func(x Project) bool { return x.Tone == Busy })
	}
	return busy(f.Pull) || slices.ContainsFunc(f.Repository.Pulls, busy)
}

// Heading returns the subject of the page, for the window's title.
func (f frame) Heading() string {
	switch {
	case f.Subject != "":
		return f.Subject
	case f.Project != "":
		return fmt.Sprintf("%s of %s · %s #%d", textTitles[f.Kind], f.Project, f.Pull.Repo(), f.Pull.Number)
	case f.Pull.Number > 0:
		return strings.TrimSpace(fmt.Sprintf("%s #%d %s", f.Pull.Repo(), f.Pull.Number, f.Pull.Title))
	}
	if f.Catalog {
		return "Repositories"
	}
	return "Pull requests"
}

// textTitles are the titles of whole texts.
var textTitles = map[TextKind]string{WholePlan: "Plan", StepOutputs: "Output of the steps"}

// Tabs returns the tabs of the pull request's page that have content.
func (f frame) Tabs() []tabLink {
	var out []tabLink
	add := func(name, label string, count int) {
		path := f.Pull.Path()
		if name != "" {
			path += "/" + name
		}
		out = append(out, tabLink{path, label, count, name == f.Tab})
	}
	if f.Pull.Entries != nil {
		add("", "Conversation", len(f.Pull.Entries))
	}
	if f.has(tabChecks) {
		add(tabChecks, "Checks", len(f.Pull.Checks))
	}
	if f.has(tabFiles) {
		add(tabFiles, "Files changed", len(f.Pull.Files))
	}
	add(tabProjects, "Projects", len(f.Pull.Projects))
	return out
}

type tabLink struct {
	Path, Label string
	Count       int
	Here        bool
}

// RepositoryPath returns the path of the page of the pull request's repository.
func (id PullID) RepositoryPath() string { return RepositoryID{id.Owner, id.Name}.Path() }

// Repo returns "owner/name".
func (id PullID) Repo() string { return id.Owner + "/" + id.Name }

// maxChips is the maximum number of projects that a line of the list shows by name.
const maxChips = 6

// A chip is a small mark in the list of pull requests. It stands for a project, or for several projects in the
// same state.
type chip struct {
	Name, Standing string
	Tone           Tone
}

// chips returns the chips for one line in the list of pull requests. If there are more than maxChips projects,
// the projects in the same state share one chip with their number.
func (p Pull) chips() (out []chip) {
	number := map[chip]int{}
	for _, x := range p.Projects {
		c := chip{Standing: x.Standing, Tone: x.Tone}
		if number[c]++; number[c] == 1 || len(p.Projects) <= maxChips {
			c.Name = x.Name
			out = append(out, c)
		}
	}
	if len(p.Projects) <= maxChips {
		return out
	}
	for i, c := range out {
		if n := number[chip{Standing: c.Standing, Tone: c.Tone}]; n > 1 {
			out[i].Name = fmt.Sprintf("%d projects", n)
		}
	}
	return out
}

// Tone returns the tone (colour) for the state of the check.
func (c Check) Tone() Tone {
	switch {
	case c.Status != "completed":
		return Busy
	case c.Conclusion == "success":
		return Good
	case c.Conclusion == "action_required":
		return Waiting
	case c.Conclusion == "failure" || c.Conclusion == "timed_out":
		return Bad
	}
	return Quiet
}

// Words returns a check's state in words.
func (c Check) Words() string {
	s := c.Conclusion
	if c.Status != "completed" {
		s = c.Status
	}
	return strings.ReplaceAll(s, "_", " ")
}

// Added and Removed count a file's changed lines.
func (f File) Added() int   { return countLines(f.Diff, '+') }
func (f File) Removed() int { return countLines(f.Diff, '-') }

func countLines(diff string, sign byte) (n int) {
	for line := range strings.Lines(diff) {
		if line[0] == sign {
			n++
		}
	}
	return n
}

// A tally is one emoji under a comment, with the users who have reacted with it.
type tally struct {
	Picture, Name string
	By            []string
}

// pictures maps GitHub's names of reactions to emoji.
// Source: https://docs.github.com/en/rest/reactions/reactions
var pictures = map[string]string{
	"+1": "👍", "-1": "👎", "laugh": "😄", "confused": "😕", "heart": "❤️", "hooray": "🎉", "rocket": "🚀", "eyes": "👀",
}

// Tallies returns the reactions to the comment, grouped by emoji, in the order in which the emoji first appear.
func (e Entry) Tallies() []tally {
	var out []tally
next:
	for _, r := range e.Reactions {
		for i := range out {
			if out[i].Name == r.Content {
				out[i].By = append(out[i].By, r.By)
				continue next
			}
		}
		if p := pictures[r.Content]; p != "" {
			out = append(out, tally{p, r.Content, []string{r.By}})
		}
	}
	return out
}

// A side is a list at the side of a page. First is always visible, and Rest is folded.
type side[T any] struct{ First, Rest []T }

// maxSide is the maximum number of entries of a list at the side of a page that are not folded.
const maxSide = 6

// sideOf divides a list. Entries with the tone [Bad] come first.
func sideOf[T any](list []T, tone func(T) Tone) side[T] {
	calm := func(x T) int {
		if tone(x) == Bad {
			return 0
		}
		return 1
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(calm(a), calm(b)) })
	if len(list) <= maxSide+1 { // folding would save nothing
		return side[T]{First: list}
	}
	return side[T]{list[:maxSide], list[maxSide:]}
}

// checkButtons has the data of the template for a check's buttons: the buttons, and the users who may press
// them.
type checkButtons struct {
	Frame frame
	Check Check
}

// ofState has the data of the templates for parts of a project's state.
type ofState struct {
	ID    RepositoryID
	State ProjectState
}

// ofRecord has the data of the template for an audit record. Project is set if the record's project is shown.
type ofRecord struct {
	ID      RepositoryID
	Record  AuditRecord
	Project bool
}

//go:embed templates
var templates embed.FS

// funcs are the functions that templates can call.
var funcs = template.FuncMap{
	"markdown": markdown,
	"chips":    Pull.chips,
	"projects": func(list []Project) side[Project] { return sideOf(list, func(p Project) Tone { return p.Tone }) },
	"checks":   func(list []Check) side[Check] { return sideOf(list, Check.Tone) },
	"buttons":  func(f frame, c Check) checkButtons { return checkButtons{f, c} },
	"of":       func(id RepositoryID, p ProjectState) ofState { return ofState{id, p} },
	"record":   func(id RepositoryID, r AuditRecord, project bool) ofRecord { return ofRecord{id, r, project} },
	"diff":     diffHTML,
	"plantext": planHTML,
	"short":    func(sha string) string { return sha[:min(7, len(sha))] },
	"join":     strings.Join,
	"clock":    func(t time.Time) string { return t.UTC().Format("2 Jan 15:04") },
	"day":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04 UTC") },
	"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"initial": func(login string) string {
		for _, r := range login {
			return strings.ToUpper(string(r))
		}
		return "?"
	},
	// hue returns a number from 0 to 5 for the colour of a login's avatar. A login always has the same number.
	"hue": func(login string) (n int) {
		for _, r := range login {
			n += int(r)
		}
		return n % 6
	},
	"bytes": func(s string) string { return fmt.Sprintf("%.1f kB", float64(len(s))/1000) },
}

// pages are the templates, by name. Each is placed in the frame that all pages share. They are parsed when
// first used.
var pages = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, name := range []string{"overview", "pull", "text", "signin", "failed", "docs", "topic", "repository", "project", "search"} {
		out[name] = template.Must(template.New("").Funcs(funcs).ParseFS(templates, "templates/frame.html", "templates/parts.html", "templates/"+name+".html"))
	}
	return out
})
