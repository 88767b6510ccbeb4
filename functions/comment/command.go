package comment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Verb is the action of a command.
type Verb string

// A Command is the valid command of a line. Empty names select all projects that the pull request
// touches.
type Command struct {
	Verb Verb
	// Plan limits an apply to the plan of this hash, or of a hash that begins so.
	Plan      string `json:",omitempty"`
	Project   string `json:",omitempty"` // -p
	Dir       string `json:",omitempty"` // -d
	Workspace string `json:",omitempty"` // -w
}

// String returns the command as it is typed: [Parse] of it gives the same command.
func (c Command) String() string {
	s := keyword + " " + string(c.Verb)
	if c.Plan != "" {
		s += " " + c.Plan
	}
	for _, o := range options {
		if name := *o.field(&c); name != "" {
			s += " " + o.flag + " " + name
		}
	}
	return s
}

// Selects reports whether a command is for a project.
func (c Command) Selects(name, dir, workspace string) bool {
	return (c.Project == "" || c.Project == name) && (c.Dir == "" || c.Dir == dir) && (c.Workspace == "" || c.Workspace == workspace)
}

const keyword = "lockstep"

// An option of a command.
type option struct {
	flag, stands string
	field        func(*Command) *string
}

var options = []option{
	{"-p", "NAME", func(c *Command) *string { return &c.Project }},
	{"-d", "DIR", func(c *Command) *string { return &c.Dir }},
	{"-w", "WORKSPACE", func(c *Command) *string { return &c.Workspace }},
}

// namePattern matches the names of projects, directories and workspaces: letters, digits and _ . -
// in one or more parts that begin with a letter, a digit or _; or the repository's root directory.
// No part can be ".." or look like an option.
var namePattern = regexp.MustCompile(`^(\.|[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*)$`)

// maxName is the limit of a name's length in bytes.
const maxName = 200

// ValidName reports whether a command can contain a name.
func ValidName(s string) bool { return len(s) <= maxName && namePattern.MatchString(s) }

// A Line is a line of a comment that is addressed to Lockstep.
type Line struct {
	Text string // as written, without the space around it
	// Command is the meaning of the line. If it has none, Problem is the reason, and Suggestion, if
	// not empty, is a command that may have been meant.
	Command    Command
	Problem    string
	Suggestion string
}

// MaxCommands is the limit of commands in one comment.
const MaxCommands = 10

// Parse finds the lines of a comment that are addressed to Lockstep, in order. Text that is quoted,
// in a code block, or hidden in an HTML comment is not. Beyond [MaxCommands] there is one more
// line, with that as its problem.
func Parse(body string) []Line {
	var out []Line
	for text := range spoken(body) {
		words := strings.Fields(text)
		line, ok := parseLine(words)
		if !ok {
			continue
		}
		line.Text = text
		if len(out) == MaxCommands {
			line.Problem, line.Suggestion = fmt.Sprintf("a comment can have at most %d commands; this one and all after it are ignored", MaxCommands), ""
			line.Command = Command{}
			return append(out, line)
		}
		out = append(out, line)
	}
	return out
}

// parseLine parses the words of a line. ok is false if the line is not addressed to us.
func parseLine(words []string) (line Line, ok bool) {
	if len(words) == 0 {
		return line, false
	}
	verb := ""
	if len(words) > 1 {
		verb = words[1]
	}
	if words[0] != keyword {
		// A slip: almost the keyword, followed by a verb.
		almost := strings.EqualFold(strings.TrimLeft(words[0], "/@"), keyword)
		if !almost || !slices.Contains(verbs, Verb(strings.ToLower(verb))) {
			return line, false
		}
		line.Problem = "commands begin with the word " + keyword + ", in lower case"
		line.Suggestion = understood(words)
		return line, true
	}
	if verb == "" {
		line.Problem, line.Suggestion = "the command is missing", keyword+" help"
		return line, true
	}
	if !slices.Contains(verbs, Verb(verb)) {
		line.Problem = fmt.Sprintf("there is no command %q", shorten(verb, 40))
		line.Suggestion = understood(append([]string{keyword, nearest(verb)}, words[2:]...))
		return line, true
	}
	c := Command{Verb: Verb(verb)}
	if line.Problem = c.parseOptions(words[2:]); line.Problem == "" {
		line.Command = c
	} else {
		line.Suggestion = c.String()
	}
	return line, true
}

// parseOptions reads the words after the verb into c; it stops at the first problem and returns it.
func (c *Command) parseOptions(words []string) (problem string) {
	for len(words) > 0 {
		if c.Verb == Apply && hashPattern.MatchString(words[0]) {
			if problem := c.parsePlan(words[0]); problem != "" {
				return problem
			}
			words = words[1:]
			continue
		}
		i := slices.IndexFunc(options, func(o option) bool { return o.flag == words[0] })
		if i < 0 {
			return fmt.Sprintf("%q is not one of the options -p NAME, -d DIR and -w WORKSPACE", shorten(words[0], 40))
		}
		o := options[i]
		switch {
		case c.Verb == Help:
			return "help has no options"
		case len(words) == 1:
			return fmt.Sprintf("%s needs a %s after it", o.flag, o.stands)
		case *o.field(c) != "":
			return fmt.Sprintf("%s is given twice: write one line for each", o.flag)
		case !ValidName(words[1]):
			return fmt.Sprintf("%q cannot be a %s: names consist of letters, digits and _ . - with / between their parts", shorten(words[1], 40), o.stands)
		}
		*o.field(c) = words[1]
		words = words[2:]
	}
	return ""
}

// hashPattern matches words that may be meant as a plan's hash.
var hashPattern = regexp.MustCompile(`^[0-9A-Fa-f]{1,64}$`)

// shortestPlan is the least number of characters of a hash that select a plan.
const shortestPlan = 7

func (c *Command) parsePlan(word string) (problem string) {
	switch {
	case len(word) < shortestPlan:
		return fmt.Sprintf("%q is too short for a plan's hash: give at least %d characters", word, shortestPlan)
	case c.Plan != "":
		return "two plans are given: write one line for each"
	}
	c.Plan = strings.ToLower(word)
	return ""
}

// understood returns the valid beginning of the command that words would be with the keyword
// corrected.
func understood(words []string) string {
	verb := strings.ToLower(words[1])
	if !slices.Contains(verbs, Verb(verb)) {
		return keyword + " help"
	}
	c := Command{Verb: Verb(verb)}
	c.parseOptions(words[2:])
	return c.String()
}

// shorten cuts text of others, for messages.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

// nearest returns the verb with the most similar spelling, or "help" if none is similar.
func nearest(s string) string {
	best, least := string(Help), 3
	for _, v := range verbs {
		if d := distance(strings.ToLower(s), string(v)); d < least {
			best, least = string(v), d
		}
	}
	return best
}

// distance is how many letters must be put in, left out or changed to make b of a.
func distance(a, b string) int {
	if len(a) > 20 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
