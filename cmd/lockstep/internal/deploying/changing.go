package deploying

import (
	"context"
	"errors"
	"strings"
)

// change changes the stack to what the user has requested, by one change set that the user has approved.
func (d *deployment) change(ctx context.Context) error {
	switch status := d.present.Status; {
	case status != "REVIEW_IN_PROGRESS" && strings.HasSuffix(status, "_IN_PROGRESS"):
		if err := d.stack.awaitChange(ctx, d.person.told); err != nil {
			return err
		}
		return d.again(ctx)
	case status == "ROLLBACK_COMPLETE" || status == "CREATE_FAILED":
		if err := d.person.agree("Do you want to delete the rest of the stack " + d.options.stack + "?"); err != nil {
			return err
		}
		if err := d.stack.Remove(ctx, d.present, d.person.told); err != nil {
			return err
		}
		return d.again(ctx)
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

// again continues change after an operation on the stack has ended.
func (d *deployment) again(ctx context.Context) error {
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
		if err := d.stack.execute(ctx, d.person.told); err != nil {
			return err
		}
	}
	// Hidden parameters cannot be compared, so from now on the stack counts as up to date.
	d.deployed = true
	return nil
}
