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

// A Teller prints stories as they happen.
type Teller struct {
	Out io.Writer
	// Bold emphasizes a line; nil leaves it plain.
	Bold func(string) string

	mu   sync.Mutex
	said []string // Lockstep's words in the present scene
	last string   // the status comment as it was last printed
	// want are the texts that the present scene expects, which are printed whatever is cut, and shown is what it has printed.
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
	t.said, t.last, t.want = nil, "", nil
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

// hidden are the texts that the present scene expects and that it has not printed.
func (t *Teller) hidden() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.want), func(part string) bool { return strings.Contains(t.shown.String(), part) })
}

// printed is the form in which an expected text is printed.
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
		if under := strings.HasPrefix(e.Text, "queued") || strings.HasPrefix(e.Text, "in_progress"); !under || t.wanted(line) {
			t.line("%s", line)
		}
	case bot && (e.Kind == "comment" || e.Kind == "edit"):
		t.ours(e)
	case e.Kind == "comment":
		t.line("%s on #%d:", e.Who, e.Number)
		t.print(quoted(e.Text, t.wanted))
	default:
		if text := told(e); text != "" {
			t.line("%s %s", e.Who, text)
		}
	}
}

// told returns an edit of people as text; "" if it is of no interest.
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
	case "reaction":
		return fmt.Sprintf("reacts with %q", e.Text)
	}
	return ""
}

// ours prints a comment of Lockstep. Of a status it prints the plan once, when it is ready, and
// otherwise the headline.
func (t *Teller) ours(e githubtest.Edit) {
	verb := "writes"
	if e.Kind == "edit" {
		verb = "edits its comment"
	}
	text := plainText(e.Text)
	first, rest, _ := strings.Cut(text, "\n")
	plan := slices.ContainsFunc([]string{"ready to apply", "applies on merge", "apply on merge", "previewed without credentials"}, func(state string) bool { return strings.Contains(first, state) })
	if strings.HasPrefix(e.Text, comment.StatusMarker) && !plan {
		text = first + "\n"
		for line := range strings.Lines(rest) {
			if t.wanted(line) {
				text += line
			}
		}
	}
	if text == t.last {
		return
	}
	t.last = text
	t.line("%s %s on #%d:", e.Who, verb, e.Number)
	t.print(quoted(text, t.wanted))
}

// wanted reports whether a line has a text that the present scene expects and has not printed.
func (t *Teller) wanted(line string) bool {
	return slices.ContainsFunc(t.want, func(part string) bool {
		return strings.Contains(line, part) && !strings.Contains(t.shown.String(), part)
	})
}

// The lines of a quotation on a terminal; of longer ones the rest is cut, but for lines that are wanted.
const longestQuote = 24

// quoted puts a bar before each line.
func quoted(text string, wanted func(line string) bool) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSpace(text), "\n")
	left := 0
	if len(lines) > longestQuote {
		rest := slices.DeleteFunc(slices.Clone(lines[longestQuote:]), func(line string) bool { return !wanted(line) })
		left = len(lines) - longestQuote - len(rest)
		lines = append(lines[:longestQuote], rest...)
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight("   │ "+line, " ") + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "   │ … and %d lines more\n", left)
	}
	return b.String()
}

var (
	htmlTag    = regexp.MustCompile(`</?(details|summary|code|b)( open)?>`)
	heading    = regexp.MustCompile(`^#{1,6} `)
	blankLines = regexp.MustCompile(`\n{3,}`)
)

// plainText makes the Markdown of our comments readable on a terminal.
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

// Aside tells what happened behind the scenes.
func (t *Teller) Aside(text string) { t.line("(%s)", text) }
