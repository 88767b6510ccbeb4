package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/architecture/golden"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// inProcess runs a command line in this process, without any input.
func inProcess(args ...string) result {
	var out, stderr bytes.Buffer
	code := run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, nil)
	return result{code, out.String(), stderr.String()}
}

// Every command tells its options on standard output, and refuses others.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		words := strings.Fields(c.Name)
		for _, flag := range []string{"-help", "--help", "-h"} {
			r := inProcess(append(words, flag)...)
			if r.code != 0 || r.stderr != "" || !strings.HasPrefix(r.out, "Usage: lockstep "+c.Name) {
				t.Errorf("%s %s: exit code %d\n%s%s", c.Name, flag, r.code, r.out, r.stderr)
			}
		}
		r := inProcess(append(words, "-no-such-option")...)
		if r.code != 1 || r.out != "" || !strings.HasPrefix(r.stderr, "\nError: ") && !strings.HasPrefix(r.stderr, "lockstep: error: there is no command") {
			t.Errorf("%s -no-such-option: exit code %d\n%s%s", c.Name, r.code, r.out, r.stderr)
		}
	}
}

// The list of commands has each once, with what it is for.
func TestHelpListsEveryCommand(t *testing.T) {
	t.Parallel()
	r := inProcess("-help")
	for _, c := range commands() {
		n := 0
		for _, line := range strings.Split(r.out, "\n") {
			if strings.HasPrefix(line, "  "+c.Name+" ") && strings.HasSuffix(line, c.Synopsis) {
				n++
			}
		}
		if n != 1 || c.Synopsis == "" {
			t.Errorf("%s is listed %d times", c.Name, n)
		}
	}
}

// The help of every command is in testdata/help.txt, for its readers: -update rewrites it.
func TestHelpTexts(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	got.WriteString(inProcess("-help").out)
	for _, c := range commands() {
		if !strings.HasPrefix(c.Name, "env") { // the same as those of `workspace`
			got.WriteString("\n----\n" + inProcess(append(strings.Fields(c.Name), "-help")...).out)
		}
	}
	golden.File(t, "testdata/help.txt", got.String())
}
