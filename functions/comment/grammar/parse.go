package grammar

import (
	"slices"
	"strings"
)

// A Line is a line of a comment that is addressed to Lockstep.
type Line struct {
	Text string // as written, without the space around it, and shortened
	// Command is the meaning of the line. If it has none, Problem is the reason, and Suggestion, if
	// not empty, is a command that may have been meant. A line for another program has both a meaning
	// and a problem, of the kind [Foreign].
	Command    Command
	Problem    Problem
	Suggestion string
}

// MaxCommands is the limit of commands in one comment, maxLine that of a line in bytes, and maxWord
// that of other people's words in what is kept of a line.
const (
	MaxCommands = 10
	maxLine     = 4000
	maxText     = 80
	maxWord     = 40
	maxValues   = 50
)

// Parse finds the lines of a comment that are addressed to Lockstep, in order. Text that is quoted,
// in a code block, or hidden in an HTML comment is not, unless a comment has nothing else: see [Marked].
// A command that is repeated counts once. Beyond [MaxCommands] there is one more line, with that as its problem.
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

// parseLine reads a line. ok is false if it is not addressed to us.
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

// programs are those whose commands people type here by habit.
var programs = []string{"atlantis", "digger", "terraform", "tofu"}

// theirs are commands of other programs that we have under other names, and words that people put in the place of a verb of
// ours, each with the command that is suggested for it: the person puts in what stands in capitals, or in dots.
var theirs = map[string]Command{
	"atlantis approve_policies": {Verb: Override, Reason: "..."},
	"atlantis version":          {Verb: Help},
	"atlantis cancel":           {Verb: Help}, // which leaves alone what is under way, as stop does not
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
	"lockstep show":             {Verb: Help}, // which is spelt like stop
}

// destruction is a plan of it, which destroys nothing.
var destruction = Command{Verb: Plan, Options: Options{Destroy: true}}

// addressee returns the program that a line may be for, by the word that begins it; "" for none. It is
// surely for us if that is our name as we write it, has an @ or a / before it, or has nothing or a verb
// behind it. Other lines can be sentences about a program.
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

// foreign makes a line of one for another program. It is not addressed to us unless all of it could be a
// command: people write of these programs, too. Its Command is empty if it is not whole.
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
