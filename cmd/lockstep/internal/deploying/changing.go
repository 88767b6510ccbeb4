package deploying

import (
	"context"
	"errors"
	"strings"
)

// change changes the stack as the user has requested. It creates a change set, asks the user to approve it, and
// executes it.
func (d *deployment) change(ctx context.Context) error {
	switch status := d.present.Status; {
	case status != "REVIEW_IN_PROGRESS" && strings.HasSuffix(status, "_IN_PROGRESS"):
		if err := d.stack.awaitChange(ctx, d.person.printEvent); err != nil {
			return err
		}
		return d.changeAgain(ctx)
	case status == "ROLLBACK_COMPLETE" || status == "CREATE_FAILED":
		if err := d.person.agree("Do you want to delete the rest of the stack " + d.options.stack + "?"); err != nil {
			return err
		}
		if err := d.stack.Remove(ctx, d.present, d.person.printEvent); err != nil {
			return err
		}
		return d.changeAgain(ctx)
	}
	at, ok, err := d.depot.Find(ctx, templateFile, []byte(d.wish.Template.Text))
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the template is no longer in the bucket")
	}
	return d.execute(ctx, at)
}

// changeAgain makes and executes a new change set, after another operation on the stack has ended. It does
// nothing if that operation has already changed the stack as requested.
func (d *deployment) changeAgain(ctx context.Context) error {
	var err error
	if d.present, err = d.stack.Look(ctx); err != nil {
		return err
	}
	if err := d.surveyStack(); err != nil {
		return err
	}
	if !d.present.fresh() && len(d.present.differences(d.wish)) == 0 {
		return nil
	}
	return d.change(ctx)
}

func (d *deployment) execute(ctx context.Context, template depotPlace) error {
	changes, err := d.stack.Prepare(ctx, d.present, d.wish, templateAddress(template, d.region))
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		d.person.table(changes)
		if err := d.person.agree("Do you want to execute this change set?"); err != nil {
			return err
		}
		if err := d.stack.execute(ctx, d.person.printEvent); err != nil {
			return err
		}
	}
	// CloudFormation hides the values of some parameters, so a comparison would still find differences.
	// deployed says that the stack is up to date despite them.
	d.deployed = true
	return nil
}
