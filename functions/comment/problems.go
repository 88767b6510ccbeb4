package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// misreadWords returns the end of a sentence, in Markdown, about a problem with a command. It returns "" for a
// kind of problem that only another version of Lockstep has.
func misreadWords(p grammar.Problem) string {
	if words := problemWords[p.Kind]; words != nil {
		return words(p)
	}
	return ""
}

// namesOption is the text with the rule for names.
const namesOption = "a name has letters, digits, `_`, `.` and `-`, and `/` between its parts; `*` matches any text"

// problemWords has the text about each kind of problem.
var problemWords = map[grammar.Kind]func(grammar.Problem) string{
	grammar.TooMany: func(p grammar.Problem) string {
		return fmt.Sprintf("a comment can have at most %d commands, so this command and all after it are ignored", p.Most)
	},
	grammar.TooLong: func(p grammar.Problem) string {
		return fmt.Sprintf("the line is longer than %d bytes", p.Most)
	},
	grammar.Invisible: func(grammar.Problem) string {
		return "the line has invisible characters. Type it again by hand"
	},
	grammar.OpenQuote: func(p grammar.Problem) string {
		return fmt.Sprintf("the quote at %s is not closed", markdown.Code(p.Word))
	},
	grammar.Marked: func(grammar.Problem) string {
		return "Lockstep ignores commands in code, lists, bold text and quotes. Write the command as plain text"
	},
	grammar.NoVerb:      func(grammar.Problem) string { return "the command is missing" },
	grammar.UnknownVerb: func(p grammar.Problem) string { return "there is no command " + markdown.Code(p.Word) },

	grammar.UnknownOption: func(p grammar.Problem) string {
		if strings.HasPrefix(strings.TrimLeft(p.Word, "-"), "var-file") {
			return fmt.Sprintf("a comment cannot name files of variables. Set %s of the project in `lockstep.hcl`, or give single values with %s", markdown.Code("var_files"), markdown.Code("-var NAME=VALUE"))
		}
		return fmt.Sprintf("this command has no option %s", markdown.Code(p.Word))
	},
	grammar.UnknownWord: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is unclear. To name a project, write %s", markdown.Code(p.Word), markdown.Code("-p NAME"))
	},
	grammar.NotNeeded: func(p grammar.Problem) string {
		return fmt.Sprintf("%s has no effect here", markdown.Code(p.Flag))
	},
	grammar.NotTaken: notTaken,
	grammar.NoValue: func(p grammar.Problem) string {
		return fmt.Sprintf("%s needs a value: %s", markdown.Code(p.Flag), markdown.Code(p.Want))
	},
	grammar.NeedlessValue: func(p grammar.Problem) string {
		return fmt.Sprintf("%s takes no value", markdown.Code(p.Flag))
	},
	grammar.Twice: func(p grammar.Problem) string {
		if !slices.Contains([]string{"-p", "-d", "-w"}, p.Flag) {
			return fmt.Sprintf("%s appears twice: remove one of them", markdown.Code(p.Flag))
		}
		return fmt.Sprintf("%s appears twice. Write one line for each name, or one pattern with `*`", markdown.Code(p.Flag))
	},
	grammar.Together: func(p grammar.Problem) string {
		return fmt.Sprintf("%s and %s cannot be combined", markdown.Code(p.Flag), markdown.Code(p.Other))
	},
	grammar.Lacking: func(p grammar.Problem) string {
		return fmt.Sprintf("%s needs %s", p.Verb, markdown.Code(p.Flag+" "+p.Want))
	},
	grammar.NoArgument: func(p grammar.Problem) string {
		return fmt.Sprintf("%s needs %s", p.Verb, markdown.Code(p.Want))
	},
	grammar.NoOptions: func(grammar.Problem) string { return "help takes no options" },

	grammar.BadName: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is not a valid %s: %s", markdown.Code(p.Word), markdown.Code(p.Want), namesOption)
	},
	grammar.BadAddress: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is not a valid address for %s: write one like %s, in quotes if it has spaces", markdown.Code(p.Word), markdown.Code(cmp.Or(p.Flag, p.Want)), markdown.Code(`module.net["a"].aws_subnet.main[0]`))
	},
	grammar.BadAction: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is not a valid address of an action: write one like %s, in quotes if it has spaces", markdown.Code(p.Word), markdown.Code(`module.net["a"].action.aws_lambda_invoke.main`))
	},
	grammar.BadVariable: func(p grammar.Problem) string {
		return fmt.Sprintf("%s sets no variable: write %s, with at most 1000 characters", markdown.Code(p.Word), markdown.Code("-var NAME=VALUE"))
	},
	grammar.BadSwitch: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is not a value of %s: write %s, %s or %s", markdown.Code(p.Word), markdown.Code(p.Flag), markdown.Code("true"), markdown.Code("false"), markdown.Code(grammar.Affected))
	},
	grammar.BadReason: func(p grammar.Problem) string {
		return fmt.Sprintf("the reason has to be a text of at most %d characters, in quotes", p.Most)
	},
	grammar.BadID: func(p grammar.Problem) string {
		if p.Word == "" {
			return "the ID of an object is empty"
		}
		return fmt.Sprintf("%s is not a valid ID of an object", markdown.Code(p.Word))
	},
	grammar.ShortPlan: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is too short for the hash of a plan: write at least %d characters", markdown.Code(p.Word), p.Most)
	},
	grammar.TwoPlans: func(grammar.Problem) string { return "the line names two plans. Write one line for each plan" },
	grammar.ManyValues: func(p grammar.Problem) string {
		return fmt.Sprintf("the line has more than %d values", p.Most)
	},
}

// notTaken returns the text about an option that the verb of the command does not accept.
func notTaken(p grammar.Problem) string {
	if p.Verb == grammar.Apply {
		return fmt.Sprintf("%s is an option of `lockstep plan`, and an apply carries out a plan as it is. Plan with the option, read the plan, then apply it", markdown.Code(p.Flag))
	}
	return fmt.Sprintf("%s is not an option of %s", markdown.Code(p.Flag), p.Verb)
}
