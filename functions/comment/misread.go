package comment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/functions/comment/grammar"
	"github.com/lockstep-iac/lockstep/functions/comment/markdown"
)

// misreadWords returns the words of a problem: the rest of a sentence, in Markdown.
func misreadWords(p grammar.Problem) string {
	if words := problemWords[p.Kind]; words != nil {
		return words(p)
	}
	return "this version of Lockstep does not know why"
}

// namesOption is the rule of names.
const namesOption = "names consist of letters, digits and _ . - with / between their parts, and * stands for any part"

// problemWords has the words of each kind of problem.
var problemWords = map[grammar.Kind]func(grammar.Problem) string{
	grammar.TooMany: func(p grammar.Problem) string {
		return fmt.Sprintf("a comment can have at most %d commands; this one and all after it are ignored", p.Most)
	},
	grammar.TooLong: func(p grammar.Problem) string {
		return fmt.Sprintf("it is longer than %d bytes", p.Most)
	},
	grammar.Invisible: func(grammar.Problem) string {
		return "it has characters that nobody sees. Type it anew"
	},
	grammar.OpenQuote: func(p grammar.Problem) string {
		return fmt.Sprintf("the quote at %s is not closed", markdown.Code(p.Word))
	},
	grammar.Marked: func(grammar.Problem) string {
		return "in code, in a list, in bold or in quotes it is no command, and it stands here alone. Write it as plain text"
	},
	grammar.NoVerb:      func(grammar.Problem) string { return "the command is missing" },
	grammar.UnknownVerb: func(p grammar.Problem) string { return "there is no command " + markdown.Code(p.Word) },

	grammar.UnknownOption: func(p grammar.Problem) string {
		if strings.HasPrefix(strings.TrimLeft(p.Word, "-"), "var-file") {
			return fmt.Sprintf("files of variables are those that %s in lockstep.hcl names for the project, and a comment gives values by %s", markdown.Code("var_files"), markdown.Code("-var NAME=VALUE"))
		}
		return fmt.Sprintf("there is no option %s here", markdown.Code(p.Word))
	},
	grammar.UnknownWord: func(p grammar.Problem) string {
		return fmt.Sprintf("the meaning of %s is unclear. A project is named with %s", markdown.Code(p.Word), markdown.Code("-p NAME"))
	},
	grammar.NotNeeded: func(p grammar.Problem) string {
		return fmt.Sprintf("%s has no meaning here", markdown.Code(p.Flag))
	},
	grammar.NotTaken: notTaken,
	grammar.NoValue: func(p grammar.Problem) string {
		return fmt.Sprintf("%s needs %s after it", markdown.Code(p.Flag), markdown.Code(p.Want))
	},
	grammar.NeedlessValue: func(p grammar.Problem) string {
		return fmt.Sprintf("%s has no value: write it, or leave it out", markdown.Code(p.Flag))
	},
	grammar.Twice: func(p grammar.Problem) string {
		if !slices.Contains([]string{"-p", "-d", "-w"}, p.Flag) {
			return fmt.Sprintf("%s is given twice: leave one of them out", markdown.Code(p.Flag))
		}
		return fmt.Sprintf("%s is given twice: write one line for each, or a pattern with *", markdown.Code(p.Flag))
	},
	grammar.Together: func(p grammar.Problem) string {
		return fmt.Sprintf("%s and %s exclude each other", markdown.Code(p.Flag), markdown.Code(p.Other))
	},
	grammar.Lacking: func(p grammar.Problem) string {
		return fmt.Sprintf("%s needs %s", p.Verb, markdown.Code(p.Flag+" "+p.Want))
	},
	grammar.NoArgument: func(p grammar.Problem) string {
		return fmt.Sprintf("%s needs %s", p.Verb, markdown.Code(p.Want))
	},
	grammar.NoOptions: func(grammar.Problem) string { return "help has no options" },

	grammar.BadName: func(p grammar.Problem) string {
		return fmt.Sprintf("%s cannot be a %s: %s", markdown.Code(p.Word), markdown.Code(p.Want), namesOption)
	},
	grammar.BadAddress: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is no address for %s: write one like %s, in quotes if it has spaces", markdown.Code(p.Word), markdown.Code(cmp.Or(p.Flag, p.Want)), markdown.Code(`module.net["a"].aws_subnet.main[0]`))
	},
	grammar.BadVariable: func(p grammar.Problem) string {
		return fmt.Sprintf("%s gives no variable a value: write %s, of at most 1000 characters", markdown.Code(p.Word), markdown.Code("-var NAME=VALUE"))
	},
	grammar.BadSwitch: func(p grammar.Problem) string {
		return fmt.Sprintf("the only value of %s is %s", markdown.Code(p.Flag), markdown.Code(p.Want))
	},
	grammar.BadReason: func(p grammar.Problem) string {
		return fmt.Sprintf("a reason is a text of at most %d characters, in quotes", p.Most)
	},
	grammar.BadID: func(p grammar.Problem) string {
		if p.Word == "" {
			return "the ID of an object is empty"
		}
		return fmt.Sprintf("%s cannot be the ID of an object", markdown.Code(p.Word))
	},
	grammar.ShortPlan: func(p grammar.Problem) string {
		return fmt.Sprintf("%s is too short for a plan's hash: give at least %d characters", markdown.Code(p.Word), p.Most)
	},
	grammar.TwoPlans: func(grammar.Problem) string { return "two plans are given: write one line for each" },
	grammar.ManyValues: func(p grammar.Problem) string {
		return fmt.Sprintf("it has more than %d values", p.Most)
	},
}

// notTaken is about an option of another verb.
func notTaken(p grammar.Problem) string {
	if p.Verb == grammar.Apply {
		return fmt.Sprintf("%s is an option of a plan. An apply carries out the plan that is shown: plan with the option, look, and apply that", markdown.Code(p.Flag))
	}
	return fmt.Sprintf("%s is no option of %s", markdown.Code(p.Flag), p.Verb)
}
