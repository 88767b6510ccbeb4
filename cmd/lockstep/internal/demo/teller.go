package demo

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/lockstep-iac/lockstep/functions/comment"
	"github.com/lockstep-iac/lockstep/github/githubtest"
)

// A Teller runs stories and prints what happens.
type Teller struct {
	Out io.Writer
	// Bold emphasizes a line; nil prints it plain.
	Bold func(string) string
	// Brief leaves out everything that no scene expects: reactions, comments that only announce a result, and
	// most lines of a plan.
	Brief bool

	mu   sync.Mutex
	said []string // Lockstep's words in the present scene
	last string   // the comment as it was last printed
	plan string   // the name of the plan that was last printed
	// want are the texts that the present scene expects. A line with such a text is printed even if Brief
	// leaves out the lines around it. shown is the text that the scene has printed so far.
	want  []string
	shown strings.Builder
}

func (t *Teller) bold(s string) string {
	if t.Bold == nil {
		return s
	}
	return t.Bold(s)
}

func (t *Teller) story(s Story) {
	fmt.Fprintf(t.Out, "\n%s\n%s\n", t.bold("== "+s.Name+" =="), s.Shows)
}

func (t *Teller) scene(n int, title string, want []string) {
	t.mu.Lock()
	t.said, t.last, t.plan, t.want = nil, "", "", nil
	for _, part := range want {
		t.want = append(t.want, printed(part))
	}
	t.shown.Reset()
	t.mu.Unlock()
	fmt.Fprintf(t.Out, "\n%s\n", t.bold(fmt.Sprintf("%d. %s", n, title)))
}

// line prints an event that is not on a pull request.
func (t *Teller) line(format string, args ...any) {
	t.print(fmt.Sprintf("   "+format+"\n", args...))
}

func (t *Teller) print(text string) {
	io.WriteString(t.Out, text)
	t.shown.WriteString(text)
}

// hidden returns those expected texts of the present scene that have not been printed yet.
func (t *Teller) hidden() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.want), func(part string) bool { return strings.Contains(t.shown.String(), part) })
}

// printed returns the form in which an expected text is printed.
func printed(part string) string {
	for said, told := range map[string]string{"merge #": "merges #", "issue #": "writes the issue #", "deployment ": "records a deployment to "} {
		if rest, is := strings.CutPrefix(part, said); is {
			return told + rest
		}
	}
	return strings.TrimSuffix(plainText(part), "\n")
}

// edit prints an event on a pull request.
func (t *Teller) edit(e githubtest.Edit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := said(e); s != "" {
		t.said = append(t.said, s)
	}
	bot := strings.HasSuffix(e.Who, "[bot]")
	switch {
	case e.Kind == "check":
		line := fmt.Sprintf("check %s: %s", e.Check, e.Text)
		if e.Number == 0 { // a merge group, say
			line += fmt.Sprintf(" (at %.7s)", e.SHA)
		}
		if under := strings.HasPrefix(e.Text, "queued") || strings.HasPrefix(e.Text, "in_progress"); !under && !t.Brief || t.wanted(line) {
			t.line("%s", line)
		}
	case bot && (e.Kind == "comment" || e.Kind == "edit"):
		t.ours(e)
	case e.Kind == "comment":
		if !strings.Contains(e.Text, "\n") {
			t.line("%s comments on #%d: %s", e.Who, e.Number, e.Text)
			return
		}
		t.line("%s comments on #%d:", e.Who, e.Number)
		t.print(quoted(e.Text, longestQuote, t.wanted))
	case t.Brief && (e.Kind == "reaction" || e.Kind == "minimize"):
	default:
		if text := told(e); text != "" {
			t.line("%s %s", e.Who, text)
		}
	}
}

// told describes an edit that a person made on the fake GitHub; "" if the edit is not interesting.
func told(e githubtest.Edit) string {
	switch e.Kind {
	case "push", "force-push":
		return "pushes to " + e.Text
	case "pull request":
		return fmt.Sprintf("opens #%d: %s", e.Number, e.Text)
	case "delete branch":
		return "deletes the branch " + e.Text
	case "merge", "close", "reopen":
		return fmt.Sprintf("%ss #%d", e.Kind, e.Number)
	case "review":
		return fmt.Sprintf("reviews #%d: %s", e.Number, e.Text)
	case "issue":
		return fmt.Sprintf("writes the issue #%d: %s", e.Number, e.Text)
	case "deployment":
		return "records a deployment to " + e.Text
	case "minimize":
		return fmt.Sprintf("minimizes a comment on #%d, as outdated", e.Number)
	case "reaction":
		return fmt.Sprintf("reacts with %q", e.Text)
	}
	return ""
}

// ours prints one of Lockstep's comments. It prints the status comment in full if it contains a new plan;
// otherwise only the headline.
func (t *Teller) ours(e githubtest.Edit) {
	verb := "writes"
	if e.Kind == "edit" {
		verb = "edits its comment"
	}
	text := plainText(e.Text)
	first := longestQuote
	if name := planName.FindString(text); strings.HasPrefix(e.Text, comment.StatusMarker) && (name == "" || name == t.plan) {
		first = 1
	} else if name != "" {
		t.plan = name
	}
	if t.Brief {
		if !slices.ContainsFunc(strings.Split(text, "\n"), t.wanted) {
			return
		}
		first = 1
	}
	quote := quoted(text, first, t.wanted)
	if quote == t.last {
		return
	}
	t.last = quote
	t.line("%s %s on #%d:", e.Who, verb, e.Number)
	t.print(quote)
}

// wanted reports whether a line contains an expected text of the present scene that is not printed yet.
func (t *Teller) wanted(line string) bool {
	return slices.ContainsFunc(t.want, func(part string) bool {
		return strings.Contains(line, part) && !strings.Contains(t.shown.String(), part)
	})
}

// longestQuote is the number of lines that are printed of a quoted comment, unless only its headline is
// printed. Later lines are printed only if they contain an expected text.
const longestQuote = 24

// quoted returns text as a quotation, with a bar before each line. It contains the first lines, as many as
// first says, and those later lines for which wanted returns true. Each gap is replaced by the number of
// missing lines.
func quoted(text string, first int, wanted func(line string) bool) string {
	var b strings.Builder
	gap := 0
	end := func() {
		switch {
		case gap == 1:
			b.WriteString("   │ ⋮ (1 line)\n")
		case gap > 1:
			fmt.Fprintf(&b, "   │ ⋮ (%d lines)\n", gap)
		}
		gap = 0
	}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if i >= first && !wanted(line) {
			if gap > 0 || line != "" { // an empty line alone is no gap
				gap++
			}
			continue
		}
		end()
		b.WriteString(strings.TrimRight("   │ "+line, " ") + "\n")
	}
	end()
	return b.String()
}

var (
	htmlTag    = regexp.MustCompile(`</?(details|summary|code|b)( open)?>`)
	planName   = regexp.MustCompile("(?m)^Plan `[0-9a-f]+`$")
	heading    = regexp.MustCompile(`^#{1,6} `)
	blankLines = regexp.MustCompile(`\n{3,}`)
)

// plainText converts the Markdown of Lockstep's comments to text for a terminal.
func plainText(markdown string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced:
		case strings.HasPrefix(line, "<!--"), strings.HasPrefix(line, "|---"):
			continue
		default:
			line = html.UnescapeString(htmlTag.ReplaceAllString(line, ""))
			line = heading.ReplaceAllString(strings.ReplaceAll(line, "**", ""), "")
			if strings.HasPrefix(line, "|") {
				line = strings.TrimRight(strings.ReplaceAll(strings.Trim(line, "| "), " | ", "   "), " ")
			}
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSpace(blankLines.ReplaceAllString(b.String(), "\n\n")) + "\n"
}

// Aside prints, in parentheses, something that happens outside of GitHub.
func (t *Teller) Aside(text string) { t.line("(%s)", text) }
