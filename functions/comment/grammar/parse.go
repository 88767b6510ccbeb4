package grammar

import (
	"slices"
	"strings"
)

// A Line is a line of a comment that is addressed to Lockstep.
type Line struct {
	Text string // as written, without the spaces around it, shortened
	// Command is the meaning of the line. If the line has no meaning, Problem is the reason. Suggestion is a
	// command that the author may have meant; "" for none. A line for another program can have a Command and
	// also a Problem, of the kind [Foreign].
	Command    Command
	Problem    Problem
	Suggestion string
}

// Limits of what is read from a comment:
//   - MaxCommands is the maximum number of commands in one comment.
//   - maxLine is the maximum length of a line, in bytes.
//   - maxText and maxWord are the lengths to which a line and a word are shortened for an answer.
//   - maxValues is the maximum number of values in one command.
const (
	MaxCommands = 10
	maxLine     = 4000
	maxText     = 80
	maxWord     = 40
	maxValues   = 50
)

// Parse returns the lines of a comment that are addressed to Lockstep, in their order. It skips text that is
// quoted, in a code block, or hidden in an HTML comment. (There is an exception for comments that contain
// nothing but marked commands: see [Marked].) A repeated command counts once. If there are more than
// [MaxCommands] commands, the last line has the problem [TooMany].
func Parse(body string) []Line {
	var out []Line
	for text := range spoken(body) {
		line, ok := parseLine(text)
		same := func(l Line) bool {
			return l.Problem == line.Problem && l.Problem.IsZero() && l.Command.Equal(line.Command)
		}
		if !ok || slices.ContainsFunc(out, same) {
			continue
		}
		line.Text = shorten(text, maxText)
		if len(out) == MaxCommands {
			return append(out, Line{Text: line.Text, Problem: Problem{Kind: TooMany, Most: MaxCommands}})
		}
		out = append(out, line)
	}
	if out == nil {
		return marked(body)
	}
	return out
}

// parseLine parses one line of a comment. ok is false if the line is not addressed to Lockstep.
func parseLine(text string) (line Line, ok bool) {
	first, rest, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " ")
	to, sure := addressee(first, rest)
	switch {
	case to == "":
		return Line{}, false
	case len(text) > maxLine:
		return Line{Problem: Problem{Kind: TooLong, Most: maxLine}}, sure
	case unprintable(text):
		return Line{Problem: Problem{Kind: Invisible}}, sure
	}
	words, open := split(text)
	if open != "" {
		return Line{Problem: Problem{Kind: OpenQuote, Word: shorten(open, maxWord)}}, sure
	}
	for i, w := range words {
		if !w.quoted {
			words[i].text = dashed(w.text)
		}
	}
	r := reader{words: words[1:], to: to}
	r.read()
	if to == keyword {
		return r.line(), sure || r.close && !r.prose
	}
	return foreign(to, &r)
}

// programs are the other programs whose commands people type by habit.
var programs = []string{"atlantis", "digger", "terraform", "tofu"}

// theirs has a suggested command for words that are no verb of Lockstep: commands of other programs, and words
// that people type instead of a verb. Where a suggestion has a word in capitals or "...", the person has to
// replace it.
var theirs = map[string]Command{
	"atlantis approve_policies": {Verb: Override, Reason: "..."},
	"atlantis version":          {Verb: Help},
	"atlantis cancel":           {Verb: Help}, // Atlantis' cancel leaves work in progress alone, unlike stop
	"atlantis destroy":          destruction,
	"digger destroy":            destruction,
	"terraform destroy":         destruction,
	"tofu destroy":              destruction,
	"terraform refresh":         {Verb: Drift},
	"tofu refresh":              {Verb: Drift},
	"terraform force-unlock":    {Verb: Unlock, Project: "NAME"},
	"tofu force-unlock":         {Verb: Unlock, Project: "NAME"},

	"lockstep destroy":          destruction,
	"lockstep refresh":          {Verb: Drift},
	"lockstep re-plan":          {Verb: Plan},
	"lockstep rerun":            {Verb: Plan},
	"lockstep confirm":          {Verb: Apply},
	"lockstep cancel":           {Verb: Stop},
	"lockstep abort":            {Verb: Stop},
	"lockstep force-unlock":     {Verb: Unlock, Project: "NAME"},
	"lockstep approve_policies": {Verb: Override, Reason: "..."},
	"lockstep show":             {Verb: Help}, // Without this row, the suggestion would be "stop", which has a similar spelling.
}

// destruction is the command for a plan that destroys all objects. The plan alone destroys nothing.
var destruction = Command{Verb: Plan, Options: Options{Destroy: true}}

// addressee returns the program that the first word of a line names; "" for none. sure is set if the line is
// certainly for Lockstep:
//   - the first word is exactly "lockstep", in lower case;
//   - or the first word begins with "@" or "/";
//   - or a verb, or nothing, follows the first word.
//
// If sure is false, the line may be a sentence about the program.
func addressee(first, rest string) (to string, sure bool) {
	first = visible(first)
	name := strings.TrimLeft(first, "/@")
	to = strings.ToLower(name)
	switch {
	case slices.Contains(programs, to):
		return to, false
	case to != keyword:
		return "", false
	}
	verb, _, _ := strings.Cut(rest, " ")
	verb = strings.ToLower(strings.TrimRight(verb, sentenceEnds))
	known := slices.ContainsFunc(Verbs(), func(v Verb) bool { first, _, _ := strings.Cut(string(v), " "); return first == verb })
	return to, known || first == keyword || name != first || rest == ""
}

// foreign parses a command for the program to, such as "terraform". ok is false if the line is probably a
// sentence about the program. The Command of the line is empty if the command is incomplete.
func foreign(to string, r *reader) (Line, bool) {
	if r.prose || !r.close {
		return Line{}, false
	}
	l := r.line()
	if l.Problem.IsZero() {
		l.Suggestion = l.Command.String()
	}
	l.Problem = Problem{Kind: Foreign, Word: to}
	return l, true
}
