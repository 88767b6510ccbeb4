package deploying

import (
	"fmt"
	"slices"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
)

// setBySteps are the stack's parameters to which earlier steps give values.
var setBySteps = []string{"AppId", "AppKeySecretArn", "WebhookSecretArn"}

// required asks the user for the values of the template's parameters, if the stack is new. It leaves out
// parameters that have a value, are optional, or get their value from a step.
func (d *deployment) required() error {
	for _, p := range d.template.Parameters {
		_, given := d.wish.Parameters[p.Name]
		if given || !d.present.fresh() || slices.Contains(setBySteps, p.Name) || !p.Required && p.Name != "Serves" {
			continue
		}
		usual := ""
		if p.Name == "Serves" {
			usual = d.options.owner
		}
		value, err := d.person.ask("parameter "+p.Name+"=...", p.Name+": "+p.Description, usual)
		if err != nil {
			return err
		}
		if err := d.template.Check(map[string]string{p.Name: value}); err != nil || value == "" && p.Required {
			return cli.Hinted(fmt.Errorf("the parameter %s cannot be %q", p.Name, value), "%s", p.Description)
		}
		d.options.parameters[p.Name] = value
	}
	return nil
}

// questions asks the user for every missing value, before any step is done.
func (d *deployment) questions(list []step) error {
	if d.options.plan || d.options.app != "" && d.hookURL() == "" { // to which nothing can be added
		return nil
	}
	if d.registers(list) {
		if err := d.askOwner(); err != nil {
			return err
		}
	}
	if d.options.app != "" {
		return d.askServes() // the stack has its parameters
	}
	return d.required()
}
