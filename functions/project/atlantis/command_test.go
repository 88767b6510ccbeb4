package atlantis

import (
	"math/rand"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCommands is a table of commands of run steps: the words of a program, between bars, or why there are none.
func TestCommands(t *testing.T) {
	t.Parallel()
	variables := map[string]string{"CONFIG": "prod.hcl", "TEXT": "a b", "EMPTY": "", "BRACES": "{dir}", "WORKSPACE": "own"}
	for text, want := range map[string]string{
		"tflint":                          "|tflint|",
		" tflint\t--format=sarif \n":      "|tflint|--format=sarif|",
		"tflint '--x=a b' \"c d\" '' e''": "|tflint|--x=a b|c d||e|",
		"tflint \\\n  --format=sarif":     "|tflint|--format=sarif|",
		"tflint\r\n":                      "|tflint|",
		"conftest test \"$SHOWFILE\"":     "|conftest|test|{plan_json}|",
		"conftest test ${SHOWFILE}":       "|conftest|test|{plan_json}|",
		"tflint --chdir=$DIR":             "|tflint|--chdir={dir}|",
		"x $HEAD_COMMIT":                  "|x|{head_sha}|",
		"x $WORKSPACE":                    "|x|own|",
		"x -c $CONFIG":                    "|x|-c|prod.hcl|",
		"x \"$TEXT\" '$TEXT'":             "|x|a b|$TEXT|",
		"x 'a|b;c&d>e*?[]~#!`\\'":         "|x|a|b;c&d>e*?[]~#!`\\|",
		"x \"a|b;c&d>e*?[]~#!'\" ä":       "it has a special character outside of quotation marks",
		"x \"ä\"":                         "|x|ä|",
		"'tflint'":                        "|tflint|",

		"":                  "it is empty",
		" \n":               "it is empty",
		"''":                "it is empty",
		"a | b":             "it has a pipe (|)",
		"a && b":            "it has several commands (&)",
		"a &":               "it has several commands (&)",
		"a; b":              "it has several commands (;)",
		"a\nb":              "it has several lines",
		"a > b":             "it redirects its output (>)",
		"a 2>&1":            "it redirects its output (>)",
		"a < b":             "it redirects a file (<)",
		"(a)":               "it starts a subshell",
		"a `b`":             "it has the output of another command (`)",
		"a \"`b`\"":         "it has the output of another command (`)",
		"a $(b)":            "it has the output of another command, or an expression ($)",
		"a \"$(b)\"":        "it has the output of another command, or an expression ($)",
		"a ${X:-y}":         "it has the output of another command, or an expression ($)",
		"a $1":              "it has the output of another command, or an expression ($)",
		"a $?":              "it has the output of another command, or an expression ($)",
		"a $":               "it has the output of another command, or an expression ($)",
		"a $'b'":            "it has the output of another command, or an expression ($)",
		"a *.tf":            "it has a pattern of files (*)",
		"a ?.tf":            "it has a pattern of files (?)",
		"a [x]":             "it has a pattern of files ([)",
		"a ~/x":             "it has the home directory of Atlantis' server (~)",
		"a # b":             "it has a comment (#)",
		"! a":               "it has the character !",
		"a \\b":             "it has a backslash",
		"a \"\\b\"":         "it has a backslash",
		"a {b,c}":           "it has braces, which have a meaning in a step block",
		"a '{plan_json}'":   "it has braces, which have a meaning in a step block",
		"a 'b":              "a quotation mark is not closed",
		"a \"b":             "a quotation mark is not closed",
		"a 'b\nc'":          "it has a line break or a control character between quotation marks",
		"a \x00":            "it has a special character outside of quotation marks",
		"a\vb":              "it has a special character outside of quotation marks",
		"checker $PLANFILE": "$PLANFILE is a file of Terraform. A step block has the plan as JSON, in {plan_json}",
		"terraform show -json $PLANFILE > $SHOWFILE": "Lockstep does the work of terraform itself",
		"a $BASE_BRANCH_NAME":                        "only Atlantis' server knows the variable $BASE_BRANCH_NAME",
		"a $TEXT":                                    "a shell changes the value of the variable $TEXT",
		"a $EMPTY":                                   "a shell changes the value of the variable $EMPTY",
		"a \"$BRACES\"":                              "a shell changes the value of the variable $BRACES",
		"X=1 a":                                      "it sets a variable before the program. Write an env step",
		"$CONFIG a":                                  "|prod.hcl|a|",
		"$DIR/x.sh":                                  "its program is the value of a variable",
		"./x.sh":                                     "its program is a file, which a pull request could change. Add the program to the toolbox, and write its name alone",
		"/usr/bin/tflint":                            "its program is a file, which a pull request could change. Add the program to the toolbox, and write its name alone",
		"cd x":                                       "cd is a command of the shell",
		"exit 1":                                     "exit is a command of the shell",
		". x":                                        ". is a command of the shell",
		"sh -c 'a | b'":                              "sh starts another command",
		"env A=b c":                                  "env starts another command",
		"terraform fmt -check":                       "Lockstep does the work of terraform itself",
		"terragrunt plan":                            "Lockstep does the work of terragrunt itself",
		"-x":                                         "its first word is not the name of a program",
		"'a b' c":                                    "its first word is not the name of a program",
		"a" + strings.Repeat(" b", 100):              "it has more than 100 words",
	} {
		c := parse(text, variables)
		got := c.why
		if c.words != nil {
			got = "|" + strings.Join(c.words, "|") + "|"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestCommandsInAShell makes random commands of pieces with a meaning for shells. Of each command that is accepted, a
// real shell makes the same words.
func TestCommandsInAShell(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Fields(`a b=c -d --e=f 'g 'h"i "j' 'k"l' '' "" $DIR ${DIR} "$SHOWFILE" '$DIR' \\ | & ; < > * ? [ ] ~ # ! ( ) { } $ . / % @ + , : ^ " ' =`)
	pieces = append(pieces, " ", " ", " ", "\t", "\n", "\\\n", "'m | n; o'", "\"p && q > r\"", "ä")
	r := rand.New(rand.NewSource(1))
	accepted := 0
	for range 30_000 {
		text := "x "
		for range 1 + r.Intn(6) {
			text += pieces[r.Intn(len(pieces))]
		}
		c := parse(text, nil)
		if c.words == nil {
			continue
		}
		if accepted++; accepted > 400 {
			break
		}
		cmd := exec.Command(sh, "-c", "set -- "+strings.Trim(text, " \t\n")+"\nprintf '%s\\0' \"$@\"")
		cmd.Dir = t.TempDir()
		cmd.Env = []string{"DIR={dir}", "SHOWFILE={plan_json}"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(words, c.words) {
			t.Fatalf("%q: %q, and a shell makes %q", text, c.words, words)
		}
	}
	if accepted < 100 {
		t.Errorf("only %d commands were accepted", accepted)
	}
}
