package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/program/programtest"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// inProcess runs a command line in this process, without any input.
func inProcess(args ...string) programtest.Result {
	var out, stderr bytes.Buffer
	code := lockstep().Run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, nil)
	return programtest.Result{Code: code, Out: out.String(), Stderr: stderr.String()}
}

// The modules for the users' accounts are formatted.
func TestModulesAreFormatted(t *testing.T) {
	t.Parallel()
	if r := inProcess("fmt", "-check", "-diff", "-recursive", "../../infra"); r.Code != 0 {
		t.Errorf("exit code %d\n%s%s", r.Code, r.Out, r.Stderr)
	}
}

// Every command tells its options on standard output, and refuses others.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		words := strings.Fields(c.Name)
		for _, flag := range []string{"-help", "--help", "-h"} {
			r := inProcess(append(words, flag)...)
			if r.Code != 0 || r.Stderr != "" || !strings.HasPrefix(r.Out, "Usage: lockstep "+c.Name) {
				t.Errorf("%s %s: exit code %d\n%s%s", c.Name, flag, r.Code, r.Out, r.Stderr)
			}
		}
		r := inProcess(append(words, "-no-such-option")...)
		if r.Code != 1 || r.Out != "" || !strings.HasPrefix(r.Stderr, "\nError: ") && !strings.HasPrefix(r.Stderr, "lockstep: error: there is no command") {
			t.Errorf("%s -no-such-option: exit code %d\n%s%s", c.Name, r.Code, r.Out, r.Stderr)
		}
	}
}

// The list of commands has each once, with what it is for.
func TestHelpListsEveryCommand(t *testing.T) {
	t.Parallel()
	r := inProcess("-help")
	for _, c := range commands() {
		n := 0
		for _, line := range strings.Split(r.Out, "\n") {
			if strings.HasPrefix(line, "  "+c.Name+" ") && strings.HasSuffix(line, c.Synopsis) {
				n++
			}
		}
		if n != 1 || c.Synopsis == "" {
			t.Errorf("%s is listed %d times", c.Name, n)
		}
		help := inProcess(append(strings.Fields(c.Name), "-help")...).Out
		if !strings.HasPrefix(c.Example, "lockstep ") || !strings.Contains(help, "Example:\n  "+c.Example+"\n") {
			t.Errorf("%s has no example: %s", c.Name, help)
		}
		if prose, _, _ := strings.Cut(help, "Example:"); strings.Count(prose, ". ")+strings.Count(prose, ".\n") < 2 {
			t.Errorf("the help of %s does not tell in two sentences what it does: %s", c.Name, help)
		}
	}
}

// TestCompletion completes commands, and the options of one, where a shell asks for them.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"lockstep val":             "validate ",
		"lockstep state r":         "replace-provider  rm ",
		"lockstep workspace ":      "delete  list  new  select  show ",
		"lockstep -chdir=x pla":    "plan ",
		"lockstep plan -refre":     "-refresh -refresh-data -refresh-only",
		"lockstep state mv -loc":   "-lock -lock-timeout",
		"lockstep nonsense -a":     "",
		"lockstep plan -out=x abc": "",
	} {
		var out bytes.Buffer
		code := lockstep().Run(nil, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, []string{"COMP_LINE=" + line})
		if got := strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), "\n", " "); got != want || code != 0 {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r := inProcess("completion", shell); r.Code != 0 || !strings.Contains(r.Out, "lockstep") {
			t.Errorf("%s: %+v", shell, r)
		}
	}
	if r := inProcess("completion", "tcsh"); r.Code != 1 || !strings.Contains(r.Stderr, "`lockstep completion zsh`") {
		t.Errorf("another shell: %+v", r)
	}
}

// TestMisspelt suggests the command that was probably meant.
func TestMisspelt(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"deploy doctr": "deploy doctor", "providers schma": "providers schema", "pln": "plan", "state lst": "state list", "config chek": "config check",
		"workspce": "workspace", "aply": "apply",
	} {
		if r := inProcess(strings.Fields(line)...); r.Code != 1 || !strings.Contains(r.Stderr, "did you mean `lockstep "+want+"`?") {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// The help of every command is in testdata/help.txt, for its readers: -update rewrites it.
func TestHelpTexts(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	got.WriteString(inProcess("-help").Out)
	for _, c := range commands() {
		if !strings.HasPrefix(c.Name, "env") { // the same as those of `workspace`
			got.WriteString("\n----\n" + inProcess(append(strings.Fields(c.Name), "-help")...).Out)
		}
	}
	golden.File(t, "testdata/help.txt", got.String())
}
