package comment

import (
	"fmt"
	"strings"
	"time"
)

// AnswerMarker is in the comment that is an answer, where nobody sees it. An answer to
// a comment has the comment's ID as its name.
func AnswerMarker(name string) string { return fmt.Sprintf("<!-- lockstep:answer %s -->", name) }

// An Answer answers the commands of one comment, in one comment, or says what came of
// something else that somebody did.
type Answer struct {
	Name    string // tells the answers of a pull request apart
	Replies []Reply
}

// Markdown returns the comment, of at most limit bytes.
func (a Answer) Markdown(limit int) string {
	marker := AnswerMarker(a.Name) + "\n"
	var parts []string
	for _, r := range a.Replies {
		parts = append(parts, strings.TrimSpace(r.markdown()))
	}
	return marker + Cut(strings.Join(parts, "\n\n")+"\n", limit-len(marker))
}

// Done says that a project was applied.
type Done struct {
	Project string
	Counts  Counts
	// Body is what there is to show: outputs, warnings. In Markdown, may be empty.
	Body string
}

func (d Done) markdown() string {
	return fmt.Sprintf("**Applied** %s: %s.\n\n%s", Code(d.Project), d.Counts.done(), d.Body)
}

// Planned says that a project was planned because somebody asked; the plan itself is
// in the status.
type Planned struct {
	Project string
	Counts  Counts
}

func (p Planned) markdown() string {
	return fmt.Sprintf("**Planned** %s: %s. The plan is in the comment above.", Code(p.Project), p.Counts.planned())
}

// Failed says that planning or applying a project went wrong.
type Failed struct {
	Project string
	Verb    Verb
	// Counts are what was done before; of an apply only.
	Counts Counts
	// Untouched says that an apply failed before it changed anything.
	Untouched bool
	// Closed says that the pull request is not open any more, so that the plan of an apply
	// is gone with it.
	Closed bool `json:",omitempty"`
	// Remaining is how many changes were not begun.
	Remaining int
	// Lost says that nobody knows how an apply ended, and what was done.
	Lost bool   `json:",omitempty"`
	Body string // what went wrong, in Markdown
}

func (f Failed) markdown() string {
	what := fmt.Sprintf("**Not planned**: %s.", Code(f.Project))
	switch {
	case f.Verb == Apply && f.Untouched && f.Closed:
		what = fmt.Sprintf("**Not applied**: %s. Nothing was changed, and the plan is gone with the pull request, which is not open any more: open another one that touches the project. Its plan shows what is left to do.", Code(f.Project))
	case f.Verb == Apply && f.Untouched:
		what = fmt.Sprintf("**Not applied**: %s. Nothing was changed, and the plan can still be applied.", Code(f.Project))
	case f.Verb == Apply && f.Lost:
		what = fmt.Sprintf("**The apply of %s failed**: it did not come to its end.", Code(f.Project))
	case f.Verb == Apply:
		what = fmt.Sprintf("**The apply of %s failed**: %s before that. What is done is in the state.", Code(f.Project), f.Counts.done())
		if f.Remaining > 0 {
			what += fmt.Sprintf(" **Not begun: %s.** Comment %s: what remains has to be planned anew.", changes(f.Remaining), Code("lockstep plan"))
		}
	}
	return what + "\n\n" + f.Body
}

func changes(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

// Pending says that a command is being carried out: its answer will be here.
type Pending struct {
	Project string
	Verb    Verb
}

func (p Pending) markdown() string {
	doing := map[Verb]string{Plan: "planned", Apply: "applied"}[p.Verb]
	return fmt.Sprintf("%s is being %s: the result will be here.", Code(p.Project), doing)
}

// Superseded says that a plan which somebody asked for is not made, because a newer
// one is.
type Superseded struct{ Project string }

func (s Superseded) markdown() string {
	return fmt.Sprintf("**Not planned** %s: something newer came in between, and it is what is planned.", Code(s.Project))
}

// Unfinished says that a pull request was closed without being merged, though it was
// applied.
type Unfinished struct {
	Project string
	By      string // login of who applied
	Head    string // SHA that was applied
}

func (u Unfinished) markdown() string {
	return fmt.Sprintf("**Applied, but not merged**: %s. %s applied %s, and its changes exist, but the base branch does not have them: the next plan of this project shows them as to be undone. Open the pull request again and merge it to keep them.",
		Code(u.Project), Code(u.By), Code(short(u.Head)))
}

// Broken says that Lockstep itself could not do what was asked for.
type Broken struct{ Reason string }

func (b Broken) markdown() string {
	return fmt.Sprintf("**Lockstep could not do this**: %s. Comment again to try once more.", plainly(b.Reason))
}

// TooMany says that somebody asks for more than is carried out.
type TooMany struct {
	By   string    // login
	Most int       // comments with commands in an hour
	Free time.Time // when the next one is carried out
}

func (m TooMany) markdown() string {
	return fmt.Sprintf("**Not carried out**: of the comments of %s on this pull request, %d with commands were carried out within an hour, and that is as many as there can be. The next one can be at %s; until then there is no answer to others.",
		Code(m.By), m.Most, m.Free.UTC().Format("15:04 MST"))
}

// Refused says that a command is not carried out, and why.
type Refused struct {
	Command Command
	Project string // "" if it is about none in particular
	Reasons []Reason
}

// A Reason is why something is refused, and what helps. Both are Markdown.
type Reason struct{ Text, Remedy string }

func (r Refused) markdown() string {
	var b strings.Builder
	did := map[Verb]string{Plan: "planned", Apply: "applied", Unlock: "unlocked", Help: "helped"}[r.Command.Verb]
	of := ""
	if r.Project != "" {
		of = " " + Code(r.Project)
	}
	fmt.Fprintf(&b, "**Not %s**%s:\n\n", did, of)
	for _, x := range r.Reasons {
		fmt.Fprintf(&b, "- %s\n", x.Text)
	}
	for i, x := range r.Reasons {
		if x.Remedy != "" && !repeated(r.Reasons[:i], x.Remedy) {
			fmt.Fprintf(&b, "\n%s\n", x.Remedy)
		}
	}
	return b.String()
}

func repeated(list []Reason, remedy string) bool {
	for _, x := range list {
		if x.Remedy == remedy {
			return true
		}
	}
	return false
}

// Misunderstood says that a line could not be read.
type Misunderstood struct{ Line Line }

func (m Misunderstood) markdown() string {
	s := fmt.Sprintf("%s was **not understood**: %s.", Code(shorten(m.Line.Text, 80)), plainly(m.Line.Problem))
	if m.Line.Suggestion != "" {
		s += fmt.Sprintf(" Did you mean %s?", Code(m.Line.Suggestion))
	}
	return s
}

// plainly puts the part of a sentence that somebody else wrote, which is in quotes,
// into code.
func plainly(problem string) string {
	from, to := strings.Index(problem, `"`), strings.LastIndex(problem, `"`)
	if from < 0 || from == to {
		return problem
	}
	return problem[:from] + Code(problem[from+1:to]) + problem[to+1:]
}

// Guide lists the commands, and the projects that they can name.
type Guide struct{ Projects []string }

func (g Guide) markdown() string {
	var b strings.Builder
	b.WriteString("A command is a line of its own in a new comment:\n\n")
	b.WriteString("| command | what it does |\n|---|---|\n")
	for _, row := range [][2]string{
		{"lockstep plan", "plans the projects that this pull request touches"},
		{"lockstep apply", "applies the plans that are shown above, if they still hold"},
		{"lockstep apply HASH", "applies the plan that is shown with this hash, and no other"},
		{"lockstep unlock", "releases what an apply of this pull request has left locked"},
		{"lockstep help", "shows this"},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", Code(row[0]), row[1])
	}
	fmt.Fprintf(&b, "\nWith %s, %s or %s a command is for one project, directory or workspace only.\n", Code("-p NAME"), Code("-d DIR"), Code("-w WORKSPACE"))
	if len(g.Projects) > 0 {
		b.WriteString("\nProjects here: ")
		for i, p := range g.Projects {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(Code(p))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// Unlocked says how many locks were released, and who holds others.
type Unlocked struct {
	Project string
	Locks   int
	Others  []string `json:",omitempty"`
}

func (u Unlocked) markdown() string {
	text := fmt.Sprintf("%s is **not locked** by this pull request.", Code(u.Project))
	if u.Locks > 0 {
		text = fmt.Sprintf("**Unlocked** %s. Comment %s and look at the plan before anything is applied.", Code(u.Project), Code("lockstep plan"))
	}
	if len(u.Others) > 0 {
		text += fmt.Sprintf(" There is a lock that is not its own, and stays: %s.", list(u.Others))
	}
	return text
}
