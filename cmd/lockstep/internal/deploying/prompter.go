package deploying

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// A prompter talks to the user who deploys: it shows steps and changes, asks questions, and asks for approval.
type prompter struct {
	cli     *cli.App
	input   bool // questions are answered
	approve bool // everything is agreed to
	browse  func(address string) error
}

// errDeclined reports that the user did not agree.
var errDeclined = errors.New("you did not answer yes, so nothing more was changed")

// agree asks the user for approval, unless an option has given it.
func (p prompter) agree(question string) error {
	if p.approve {
		return nil
	}
	if !p.input {
		return cli.Hinted(errors.New("approval is needed, and -input=false forbids questions"), "add -auto-approve to go on without a question, or -plan to see the steps")
	}
	if !p.cli.Confirm(question, "Only 'yes' will be accepted to confirm.") {
		return cli.Hinted(errDeclined, "run `lockstep deploy -plan` to see the steps, or -auto-approve to go on without a question")
	}
	return nil
}

// ask asks the user for the value of an option. For an empty answer, it returns the parameter usual. If
// nobody can be asked, the error names the option.
func (p prompter) ask(option, question, usual string) (string, error) {
	missing := cli.Hinted(fmt.Errorf("-%s is missing", option), "%s", question)
	if !p.input {
		return "", missing
	}
	fmt.Fprintf(p.cli.Out, "%s", p.cli.Print().Bold(question))
	if usual != "" {
		fmt.Fprintf(p.cli.Out, " [%s]", usual)
	}
	fmt.Fprint(p.cli.Out, "\n\n  Enter a value: ")
	line, err := p.cli.ReadLine()
	fmt.Fprintln(p.cli.Out)
	if p.cli.Ctx.Err() != nil {
		return "", err
	}
	if err != nil {
		return "", missing
	}
	if line = strings.TrimSpace(line); line == "" {
		line = usual
	}
	return line, nil
}

// table prints the changes of a CloudFormation change set as a table.
func (p prompter) table(changes []stackChange) {
	fmt.Fprintln(p.cli.Out)
	t := tabwriter.NewWriter(p.cli.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ACTION\tRESOURCE\tTYPE\tREPLACED")
	for _, c := range changes {
		replaced := c.Replaces
		if replaced == "" {
			replaced = "no"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Action, c.Resource, c.Type, replaced)
	}
	t.Flush()
	fmt.Fprintln(p.cli.Out)
}

// printEvent prints an event of the CloudFormation stack.
func (p prompter) printEvent(e stackEvent) {
	reason := ""
	if e.Reason != "" {
		reason = ": " + e.Reason
	}
	fmt.Fprintf(p.cli.Out, "  %s %s%s\n", e.Status, e.Resource, reason)
}

// show prints the steps with their states. For a blocked step it also prints what the user can do.
func (p prompter) show(list []step) {
	for _, s := range list {
		fmt.Fprintf(p.cli.Out, "  %-8s %-9s %s\n", s.State, s.Name, s.Text)
		if s.State == stepBlocked {
			fmt.Fprintf(p.cli.Out, "  %-8s %-9s %s\n", "", "", s.Remedy)
		}
	}
	fmt.Fprintln(p.cli.Out)
}

// visit opens a page in the browser, or prints its address.
func (p prompter) visit(address string) {
	if p.browse(address) == nil {
		fmt.Fprintf(p.cli.Out, "A browser opens for the registration of the App. If it does not open, open this page on this machine:\n    %s\n", address)
		return
	}
	fmt.Fprintf(p.cli.Out, "To register the App, open this page in a browser on this machine:\n    %s\n", address)
}
