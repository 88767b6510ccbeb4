package atlantis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// substitutions are Atlantis' variables of run steps that have the same meaning in a step block, and what a step block
// has in their place.
var substitutions = map[string]string{"DIR": "{dir}", "WORKSPACE": "{workspace}", "SHOWFILE": planJSON, "HEAD_COMMIT": "{head_sha}"}

const planJSON = "{plan_json}"

// A command is the command of a run step, as the words of a program and its arguments. If the text is not certainly
// such a command, why is the reason, as a phrase.
type command struct {
	words []string
	why   string
}

// parse splits the command of a run step into words, as a shell does. Shells differ in what they do with a character.
// So parse accepts only commands that each shell reads in the same way: words of letters, digits and some characters,
// texts between quotation marks, and variables whose values are known here. variables are those of env steps.
//
// Source: https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html
func parse(text string, variables map[string]string) command {
	p := &shellReader{text: strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), " \t\n"), variables: variables}
	for p.why == "" && len(p.text) > 0 {
		p.next()
	}
	p.end()
	if p.why == "" || len(p.words) > 0 && slices.Contains(ours, p.words[0]) {
		p.why = whyNot(p.words)
	}
	if p.why != "" {
		return command{why: p.why}
	}
	return command{words: p.words}
}

// A shellReader reads a command. word is the present word; inside is set once it has begun.
type shellReader struct {
	text      string
	variables map[string]string
	words     []string
	word      strings.Builder
	inside    bool
	why       string
}

func (p *shellReader) end() {
	if p.inside {
		p.words = append(p.words, p.word.String())
		p.word.Reset()
		p.inside = false
	}
}

func (p *shellReader) add(text string) {
	p.word.WriteString(text)
	p.inside = true
}

// refused has the phrases for the characters that have a meaning outside of quotation marks.
var refused = map[byte]string{
	'|': "it has a pipe (|)", '&': "it has several commands (&)", ';': "it has several commands (;)", '\n': "it has several lines",
	'<': "it redirects a file (<)", '>': "it redirects its output (>)", '(': "it starts a subshell", ')': "it starts a subshell",
	'`': "it has the output of another command (`)", '*': "it has a pattern of files (*)", '?': "it has a pattern of files (?)", '[': "it has a pattern of files ([)", ']': "it has a pattern of files (])",
	'~': "it has the home directory of Atlantis' server (~)", '#': "it has a comment (#)", '!': "it has the character !", '\\': "it has a backslash",
	'{': braces, '}': braces,
}

const braces = "it has braces, which have a meaning in a step block"

// simple matches words that mean the same with and without quotation marks.
var simple = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]*$`)

// next reads the next part of the command.
func (p *shellReader) next() {
	c := p.text[0]
	switch {
	case c == ' ' || c == '\t':
		p.end()
	case strings.HasPrefix(p.text, "\\\n"): // the line goes on
		p.text = p.text[1:]
	case c == '\'' || c == '"':
		p.quoted(c)
		return
	case c == '$':
		p.variable(false)
		return
	case simple.MatchString(p.text[:1]):
		p.add(p.text[:1])
	case refused[c] != "":
		p.why = refused[c]
	default:
		p.why = "it has a special character outside of quotation marks"
	}
	p.text = p.text[1:]
}

// quoted reads a text between quotation marks of one kind.
func (p *shellReader) quoted(mark byte) {
	p.text = p.text[1:]
	p.add("")
	for p.why == "" {
		if p.text == "" {
			p.why = "a quotation mark is not closed"
			return
		}
		switch c := p.text[0]; {
		case c == mark:
			p.text = p.text[1:]
			return
		case mark == '"' && c == '$':
			p.variable(true)
			continue
		case mark == '"' && strings.HasPrefix(p.text, "\\\n"):
			p.text = p.text[1:]
		case mark == '"' && (c == '`' || c == '\\'), c == '{', c == '}':
			p.why = refused[c]
		case c < ' ' || c == 0x7f:
			p.why = "it has a line break or a control character between quotation marks"
		default:
			p.add(p.text[:1])
		}
		p.text = p.text[1:]
	}
}

// named matches a variable at the beginning of a text.
var named = regexp.MustCompile(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)

// variable reads a variable. quoted is set between quotation marks: elsewhere, a shell splits the value.
func (p *shellReader) variable(quoted bool) {
	m := named.FindStringSubmatch(p.text)
	if m == nil {
		p.why = "it has the output of another command, or an expression ($)"
		return
	}
	name := m[1] + m[2]
	value, set := p.variables[name]
	if text, known := substitutions[name]; known && !set {
		p.add(text)
	} else {
		switch {
		case name == "PLANFILE":
			p.why = "$PLANFILE is a file of Terraform. A step block has the plan as JSON, in " + planJSON
		case !set:
			p.why = fmt.Sprintf("only Atlantis' server knows the variable $%s", visible(name))
		case !quoted && (value == "" || !simple.MatchString(value)), strings.ContainsAny(value, "{}"), strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }):
			p.why = fmt.Sprintf("a shell changes the value of the variable $%s", visible(name))
		}
		p.add(value)
	}
	p.text = p.text[len(m[0]):]
}

// Words that are not programs: those of the shell, those that start a shell or any other command, and those whose work
// Lockstep does itself.
var (
	builtins  = strings.Fields(". : [ alias bg break case cd command continue do done echo elif else esac eval exec exit export false fg fi for function getopts hash if in jobs kill let local printf pwd read readonly return select set shift source test then time times trap true type typeset ulimit umask unalias unset until wait while declare pushd popd shopt")
	launchers = strings.Fields("sh bash dash zsh ksh ash fish busybox env nohup sudo su xargs nice timeout setsid parallel watch chroot")
	ours      = strings.Fields("terraform tofu terragrunt")
)

// assigned matches a word that sets a variable, before a program.
var assigned = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// maxWords is the maximum number of words of a program in a step block.
const maxWords = 100

// whyNot returns the phrase that says why words are not a program with arguments; "" if they are.
func whyNot(words []string) string {
	if len(words) == 0 || words[0] == "" {
		return "it is empty"
	}
	switch name := words[0]; {
	case assigned.MatchString(name):
		return "it sets a variable before the program. Write an env step"
	case strings.Contains(name, "{"):
		return "its program is the value of a variable"
	case strings.Contains(name, "/"):
		return "its program is a file, which a pull request could change. Add the program to the toolbox, and write its name alone"
	case slices.Contains(builtins, name):
		return fmt.Sprintf("%s is a command of the shell", name)
	case slices.Contains(launchers, name):
		return fmt.Sprintf("%s starts another command", name)
	case slices.Contains(ours, name):
		return fmt.Sprintf("Lockstep does the work of %s itself", name)
	case !simple.MatchString(name) || strings.HasPrefix(name, "-"):
		return "its first word is not the name of a program"
	case len(words) > maxWords:
		return fmt.Sprintf("it has more than %d words", maxWords)
	}
	return ""
}
