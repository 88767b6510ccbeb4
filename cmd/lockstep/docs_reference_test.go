package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/infra/golden"
)

// optionLine is an option in the help of a command.
var optionLine = regexp.MustCompile(`(?m)^  (-\S+) +(.*)$`)

// TestReference generates the documentation's page of the command line from the table of commands.
func TestReference(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Command line\n\nThis page lists every command of the program `lockstep`, with an example and its options.\n\n" +
		"To work in another directory, write `lockstep -chdir=DIR COMMAND`. `lockstep COMMAND -help` prints the help of a command.\n" +
		"Each command also has the options `-no-color` and `-compact-warnings`, and reads options from the environment variables `TF_CLI_ARGS` and `TF_CLI_ARGS_name`.\n")
	for _, chapter := range []string{cli.PullRequests, cli.Terraform, cli.State} {
		fmt.Fprintf(&b, "\n## %s\n", chapter)
		for _, c := range commands() {
			if c.Chapter != chapter {
				continue
			}
			help := inProcess(append(strings.Fields(c.Name), "-help")...).Out
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\n```console flags\n$ %s\n```\n", c.Name, c.About, c.Example)
			_, options, _ := strings.Cut(help, "\nOptions:\n")
			title := "\n| option | meaning |\n|---|---|\n"
			for _, m := range optionLine.FindAllStringSubmatch(options, -1) {
				if m[1] != "-no-color" {
					fmt.Fprintf(&b, "%s| `%s` | %s |\n", title, m[1], strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(m[2]))
					title = ""
				}
			}
		}
	}
	golden.File(t, "../docs/reference/commands.md", b.String())
}
