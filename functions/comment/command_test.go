package comment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse is a table of comments and what is understood of them: a command as it
// is printed, or the problem and, behind "->", the suggestion.
func TestParse(t *testing.T) {
	tests := []struct{ comment, want string }{
		{"lockstep plan", "lockstep plan"},
		{"lockstep apply", "lockstep apply"},
		{"lockstep unlock", "lockstep unlock"},
		{"lockstep recover -p network", "lockstep recover -p network"},
		{"lockstep stop -p network", "lockstep stop -p network"},
		{"lockstep help", "lockstep help"},
		{"  lockstep   apply\t-p  net ", "lockstep apply -p net"},
		{"lockstep plan -w prod -d envs/eu-1 -p net.v2", "lockstep plan -p net.v2 -d envs/eu-1 -w prod"},
		{"lockstep plan -d .", "lockstep plan -d ."},
		{"lockstep apply 1a2b3c4", "lockstep apply 1a2b3c4"},
		{"lockstep apply -p net 1A2B3C4D5E6F", "lockstep apply 1a2b3c4d5e6f -p net"},
		{"lockstep apply 1a2b3c4d5e6f -p net -w prod", "lockstep apply 1a2b3c4d5e6f -p net -w prod"},
		{"lockstep apply -p 1a2b3c4", "lockstep apply -p 1a2b3c4"},
		{"Looks good!\n\nlockstep apply\n\nThanks.", "lockstep apply"},
		{"lockstep plan -p a\r\nlockstep plan -p b\r\n", "lockstep plan -p a\nlockstep plan -p b"},

		// not for us
		{"", ""},
		{"I think lockstep apply is next", ""},
		{"locksteps apply", ""},
		{"`lockstep apply`", ""},
		{"> lockstep apply", ""},
		{">lockstep apply", ""},
		{"- lockstep apply", ""},
		{"    lockstep apply", ""},
		{"\tlockstep apply", ""},
		{"```\nlockstep apply\n```", ""},
		{"```sh\nlockstep apply\n``\nlockstep apply\n~~~\nlockstep apply", ""},
		{"~~~\nlockstep apply\n```\nlockstep apply\n~~~\nlockstep plan", "lockstep plan"},
		{"````\n```\nlockstep apply\n````\nlockstep plan", "lockstep plan"},
		{"```x`y\nlockstep plan", "lockstep plan"}, // that is no fence
		{"<!--\nlockstep apply\n-->", ""},
		{"<!-- hello\nlockstep apply --> \nlockstep plan", "lockstep plan"},
		{"<!-- lockstep apply -->", ""},
		{"a <!-- b --> c\nlockstep plan", "lockstep plan"},
		{"Lockstep is fun", ""},

		// for us, but not understood
		{"lockstep", "the command is missing -> lockstep help"},
		{"lockstep aply", `there is no command "aply" -> lockstep apply`},
		{"lockstep plna -p net", `there is no command "plna" -> lockstep plan -p net`},
		{"lockstep destroy", `there is no command "destroy" -> lockstep help`},
		{"lockstep Apply", `there is no command "Apply" -> lockstep apply`},
		{"Lockstep apply", "commands begin with the word lockstep, in lower case -> lockstep apply"},
		{"@lockstep plan -p a", "commands begin with the word lockstep, in lower case -> lockstep plan -p a"},
		{"/lockstep plan -x", "commands begin with the word lockstep, in lower case -> lockstep plan"},
		{"lockstep plan net", `"net" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep plan`},
		{"lockstep plan -p net -auto-approve", `"-auto-approve" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep plan -p net`},
		{"lockstep plan -p", "-p needs a NAME after it -> lockstep plan"},
		{"lockstep plan -p a -p b", "-p is given twice: write one line for each -> lockstep plan -p a"},
		{"lockstep apply 1a2b3c", `"1a2b3c" is too short for a plan's hash: give at least 7 characters -> lockstep apply`},
		{"lockstep apply 1a2b3c4 -p net 5e6f708", "two plans are given: write one line for each -> lockstep apply 1a2b3c4 -p net"},
		{"lockstep apply 1a2b3cg", `"1a2b3cg" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep apply`},
		{"lockstep plan 1a2b3c4", `"1a2b3c4" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep plan`},
		{"lockstep stopp", `there is no command "stopp" -> lockstep stop`},
		{"lockstep stop 1a2b3c4", `"1a2b3c4" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep stop`},
		{"lockstep unlock 1a2b3c4", `"1a2b3c4" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep unlock`},
		{"lockstep help me", `"me" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep help`},
		{"lockstep help -p a", "help has no options -> lockstep help"},

		// what people have tried elsewhere
		{"lockstep plan -w a;id", `"a;id" cannot be a WORKSPACE: names consist of letters, digits and _ . - with / between their parts -> lockstep plan`},
		{"lockstep plan -w a && id", `"&&" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep plan -w a`},
		{"lockstep plan -w $(id)", `"$(id)" cannot be a WORKSPACE: names consist of letters, digits and _ . - with / between their parts -> lockstep plan`},
		{"lockstep plan -d ../..", `"../.." cannot be a DIR: names consist of letters, digits and _ . - with / between their parts -> lockstep plan`},
		{"lockstep plan -d /etc", `"/etc" cannot be a DIR: names consist of letters, digits and _ . - with / between their parts -> lockstep plan`},
		{"lockstep plan -d a/../b", `"a/../b" cannot be a DIR: names consist of letters, digits and _ . - with / between their parts -> lockstep plan`},
		{"lockstep plan -p -var", `"-var" cannot be a NAME: names consist of letters, digits and _ . - with / between their parts -> lockstep plan`},
		{"lockstep plan -var x=y", `"-var" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep plan`},
		{"lockstep plan -- -p a", `"--" is not one of the options -p NAME, -d DIR and -w WORKSPACE -> lockstep plan`},
	}
	for _, test := range tests {
		var got []string
		for _, l := range Parse(test.comment) {
			switch {
			case l.Problem == "":
				got = append(got, l.Command.String())
			default:
				got = append(got, l.Problem+" -> "+l.Suggestion)
			}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q: %s", test.comment, diff)
		}
	}
}

// TestVerbs holds that a command which is half there is noticed.
func TestVerbs(t *testing.T) {
	for _, r := range table {
		for _, gap := range r.missing() {
			t.Error(gap)
		}
	}
	if diff := cmp.Diff([]string{"stop has no participle", "stop has no help line"}, row{verb: "stop"}.missing()); diff != "" {
		t.Errorf("a command without columns: %s", diff)
	}
}

func TestTooManyCommands(t *testing.T) {
	got := Parse(strings.Repeat("lockstep plan\n", 1000))
	if len(got) != MaxCommands+1 || got[MaxCommands].Problem == "" || got[MaxCommands-1].Problem != "" {
		t.Errorf("%d lines", len(got))
	}
}

// FuzzParse holds that whatever is understood is understood again when it is printed,
// that suggestions are commands, and that names are of the one pattern.
func FuzzParse(f *testing.F) {
	f.Add("lockstep plan -p a -d b/c -w d")
	f.Add("Lockstep aply\nlockstep unlock -w $x\n```\nlockstep help")
	f.Add("lockstep apply 1A2b3c4 -p a\nlockstep apply -d b 0000000 1111111\nlockstep apply 12")
	f.Add("<!--\nlockstep apply\n-->\n> lockstep plan")
	f.Fuzz(func(t *testing.T, body string) {
		for _, l := range Parse(body) {
			commands := []string{l.Suggestion}
			if l.Problem == "" {
				commands = []string{l.Command.String()}
			}
			for _, s := range commands {
				if s == "" {
					continue
				}
				again := Parse(s)
				if len(again) != 1 || again[0].Problem != "" || again[0].Command.String() != s {
					t.Errorf("%q: %q is read as %+v", body, s, again)
				}
				if l.Problem == "" && again[0].Command != l.Command {
					t.Errorf("%q: %+v is read as %+v", body, l.Command, again[0].Command)
				}
			}
			if p := l.Command.Plan; p != "" && (l.Command.Verb != Apply || len(p) < 7 || len(p) > 64 || strings.Trim(p, "0123456789abcdef") != "") {
				t.Errorf("%q: the plan %q", body, p)
			}
			for _, name := range []string{l.Command.Project, l.Command.Dir, l.Command.Workspace} {
				if name != "" && !ValidName(name) || strings.Contains(name, "..") && strings.Contains("/"+name+"/", "/../") {
					t.Errorf("%q: the name %q", body, name)
				}
			}
		}
	})
}

// missing names the columns that a row lacks.
func (r row) missing() []string {
	var out []string
	if r.participle == "" {
		out = append(out, fmt.Sprintf("%s has no participle", r.verb))
	}
	if len(r.help) == 0 {
		out = append(out, fmt.Sprintf("%s has no help line", r.verb))
	}
	return out
}
