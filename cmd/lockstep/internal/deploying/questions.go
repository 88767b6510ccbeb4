package deploying

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/deploying/steps"
)

// errDeclined is returned if a person does not agree.
var errDeclined = errors.New("it was not confirmed, and nothing more was done")

// agree asks for approval, unless it was given.
func (d *deployment) agree(question string) error {
	if d.options.approve {
		return nil
	}
	if !d.options.input {
		return cli.Hinted(errors.New("nobody may be asked whether to go on"), "-auto-approve goes on without, -plan shows what would be done")
	}
	if !d.cli.Confirm(question, "Only 'yes' will be accepted to confirm.") {
		return cli.Hinted(errDeclined, "-plan shows what would be done, and -auto-approve does not ask")
	}
	return nil
}

// ask asks for the value of an option. An empty answer is the default. Where nobody can be asked, the error names the
// option.
func (d *deployment) ask(option, question, usual string) (string, error) {
	missing := cli.Hinted(fmt.Errorf("-%s is missing", option), "%s", question)
	if !d.options.input {
		return "", missing
	}
	fmt.Fprintf(d.cli.Out, "%s", d.cli.Print().Bold(question))
	if usual != "" {
		fmt.Fprintf(d.cli.Out, " [%s]", usual)
	}
	fmt.Fprint(d.cli.Out, "\n\n  Enter a value: ")
	line, err := d.cli.ReadLine()
	fmt.Fprintln(d.cli.Out)
	if d.cli.Ctx.Err() != nil {
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

// made are the parameters that the steps before the stack give.
var made = []string{"AppId", "AppKeySecretArn", "WebhookSecretArn"}

// required asks for the parameters of a new stack that nothing else gives.
func (d *deployment) required() error {
	for _, p := range d.template.Parameters {
		_, given := d.wish.Parameters[p.Name]
		if given || !d.present.Fresh() || slices.Contains(made, p.Name) || !p.Required && p.Name != "Serves" {
			continue
		}
		usual := ""
		if p.Name == "Serves" {
			usual = d.options.owner
		}
		value, err := d.ask("parameter "+p.Name+"=...", p.Name+": "+p.Description, usual)
		if err != nil {
			return err
		}
		if err := d.template.Check(map[string]string{p.Name: value}); err != nil || value == "" && p.Required {
			return cli.Hinted(fmt.Errorf("%s cannot be %q", p.Name, value), "%s", p.Description)
		}
		d.options.parameters[p.Name] = value
	}
	return nil
}

// questions asks for all that is missing, before anything is done.
func (d *deployment) questions(list []steps.Step) error {
	if d.options.plan {
		return nil
	}
	if d.registers(list) {
		if err := d.askOwner(); err != nil {
			return err
		}
	}
	return d.required()
}
