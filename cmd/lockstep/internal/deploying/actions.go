package deploying

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/github"
)

// makeSecrets creates the two secrets in Secrets Manager, for the App's private key and for its webhook secret,
// before the App is registered. A user who may not create secrets then gets the error before there is a private
// key that could be lost. Lockstep chooses the webhook secret. If GitHub chose it, GitHub would show it only
// once.
func (d *deployment) makeSecrets(ctx context.Context) error {
	tags := map[string]string(d.options.tags)
	if err := d.vault.make(ctx, d.keyName(), "The private key of the GitHub App of "+d.options.stack, tags); err != nil {
		return err
	}
	if err := d.vault.make(ctx, d.hookName(), "The secret that signs webhooks for "+d.options.stack, tags); err != nil {
		return err
	}
	if d.hook.Filled {
		return nil
	}
	var b [32]byte
	rand.Read(b[:]) // never fails
	return d.vault.Put(ctx, d.hookName(), hex.EncodeToString(b[:]))
}

// register registers the App in the user's browser, or uses the App that the options name. It stores the App's
// ID before the App's key. If lockstep ends between the two, the next run finds the App by its ID.
func (d *deployment) register(ctx context.Context) error {
	if d.options.id != 0 {
		return d.adopt(ctx)
	}
	code := d.options.code
	if code == "" {
		if !d.options.input {
			return cli.Hinted(errors.New("only a person can register a GitHub App, in a browser, and -input=false forbids questions"), "run without -input=false. Or run `lockstep deploy -manifest` and open the page in a browser on another machine. Or give an existing App with -app-id and -app-key")
		}
		var err error
		code, err = d.options.request(d.person.visit).Code(ctx)
		if errors.Is(err, errRegisterTime) {
			return cli.Hinted(err, "run `lockstep deploy` again, and press the button on GitHub's page")
		}
		if err != nil {
			return err
		}
	}
	made, err := github.CompleteRegistration(ctx, github.AppConfig{URL: d.api(), Transport: d.out.github}, code)
	if err != nil {
		return cli.Hinted(err, "if the App %s is in GitHub's list of your Apps, delete it there. Then run `lockstep deploy` again", d.options.name)
	}
	app := appFound{ID: made.ID, Slug: made.Slug, Page: made.Page}
	if err := d.vault.Name(ctx, d.keyName(), d.options.site, app); err != nil {
		return d.lost(app, err)
	}
	if err := made.KeepKey(func(pem string) error { return d.vault.Put(ctx, d.keyName(), pem) }); err != nil {
		return d.lost(app, err)
	}
	return nil
}

// lost returns the error that a new App is registered, but its private key could not be stored.
func (d *deployment) lost(app appFound, err error) error {
	return cli.Hinted(fmt.Errorf("the App %s (ID %d) is registered, but its key could not be stored: %w", app.Slug, app.ID, err),
		"generate another private key in the App's settings on GitHub, then run `lockstep deploy -app-id %d -app-key FILE`", app.ID)
}

// registers reports whether the user will have to register an App in the browser.
func (d *deployment) registers(list []step) bool {
	return d.options.id == 0 && d.options.code == "" && d.options.input && slices.ContainsFunc(list, func(s step) bool { return s.Name == registerStep && s.State == stepTodo })
}

// askOwner asks the user which account will own the App, before any step is shown. It also chooses the App's
// name.
func (d *deployment) askOwner() error {
	if d.options.owner == "" && !d.options.ownerGiven {
		var err error
		if d.options.owner, err = d.person.ask("organization", "Which GitHub organization will own the App? (empty: your own account)", ""); err != nil {
			return err
		}
		d.options.ownerGiven = true
	}
	d.options.name = d.options.appName()
	return nil
}

// appName returns the name under which the App will be registered.
func (o options) appName() string {
	name := o.name
	switch {
	case name != "":
	case o.owner != "":
		name = "lockstep-" + o.owner
	default:
		name = "lockstep"
	}
	return name[:min(len(name), maxAppName)]
}

// maxAppName is GitHub's limit for the name of an App.
const maxAppName = 34

// request returns the data for registering the App. show is called with the address of the registration page.
func (o options) request(show func(address string)) appRegistration {
	return appRegistration{Site: o.site, Owner: o.owner, Name: o.appName(), Show: show}
}

// adopt makes the deployment use an App that already exists, and that the options name. It first asks GitHub
// whether the private key in the options belongs to this App.
func (d *deployment) adopt(ctx context.Context) error {
	about, err := d.owned(ctx, d.options.id)
	if err != nil {
		return err
	}
	if err := d.vault.Name(ctx, d.keyName(), d.options.site, appFound{ID: about.ID, Slug: about.Slug, Page: about.Page}); err != nil {
		return err
	}
	return d.vault.Put(ctx, d.keyName(), d.options.pem)
}

// owned asks GitHub whether the private key in the options belongs to the App with the given ID.
func (d *deployment) owned(ctx context.Context, id int64) (github.About, error) {
	app, err := d.appOf(id, github.NewSecret(d.options.pem))
	if err != nil {
		return github.About{}, cli.Hinted(err, "give -app-key the .pem file that you downloaded from the App's settings on GitHub")
	}
	about, err := app.About(ctx)
	if err != nil {
		return about, cli.Hinted(err, "check that the file of -app-key is a private key of the App with the ID %d", id)
	}
	return about, nil
}

// putKey stores the private key from the options, for an App that is registered, but whose key is not stored.
func (d *deployment) putKey(ctx context.Context) error {
	if _, err := d.owned(ctx, d.key.App.ID); err != nil {
		return err
	}
	return d.vault.Put(ctx, d.keyName(), d.options.pem)
}

func (d *deployment) makeDepot(ctx context.Context) error {
	return d.depot.make(ctx, d.found.Bucket.There)
}

// upload uploads the files that are missing in the bucket. The functions' code comes first. The template comes
// last, because it contains the versions of the uploaded code.
func (d *deployment) upload(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if !slices.Contains(d.found.Missing, name) {
			continue
		}
		at, err := d.depot.Put(ctx, name, d.files[name])
		if err != nil {
			return err
		}
		d.placed[name] = at
	}
	t, err := d.template.Placed(d.placed)
	if err != nil {
		return err
	}
	_, err = d.depot.Put(ctx, templateFile, []byte(t.Text))
	return err
}

// setHook tells GitHub the stack's webhook address and webhook secret for the App.
func (d *deployment) setHook(ctx context.Context) error {
	name := d.hookName()
	if d.givenApp() {
		name = d.options.parameters["WebhookSecretArn"]
	}
	secret, err := d.vault.Read(ctx, name)
	if err != nil {
		return err
	}
	if err := d.app.SetHook(ctx, d.found.Stack.HookURL, secret.FirstLine()); err != nil {
		return err
	}
	d.hooked = true
	return nil
}

// attempts is the maximum number of requests by which GitHub is asked whether a webhook was delivered.
const attempts = 20

// check asks GitHub to send the latest webhook once more, and waits until GitHub has delivered it. If the App
// was only just registered, that is the ping webhook.
func (d *deployment) check(ctx context.Context) error {
	list, err := d.app.Deliveries(ctx, time.Now().Add(-kept))
	if err != nil {
		return err
	}
	d.sent, d.delivered = true, nothingToSend
	if len(list) == 0 {
		return nil
	}
	last := list[0]
	if err := d.app.Redeliver(ctx, last.ID); err != nil {
		return err
	}
	for range attempts {
		if err := d.out.pause(ctx); err != nil {
			return err
		}
		if list, err = d.app.Deliveries(ctx, last.At.Add(-time.Second)); err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(x github.DeliveryInfo) bool {
			return x.GUID == last.GUID && x.ID != last.ID && !x.At.Before(last.At)
		})
		if i < 0 {
			continue
		}
		if !list[i].OK {
			return cli.Hinted(fmt.Errorf("the webhook did not arrive: GitHub received the answer %q", list[i].Status),
				"run `aws logs tail --region %s /aws/lambda/%s-webhook` for the reason, then `lockstep deploy` again", d.region, d.options.stack)
		}
		d.delivered = arrivedDelivery
		return nil
	}
	return cli.Hinted(errors.New("GitHub has not delivered the webhook yet"), "look at the deliveries in the App's settings on GitHub, under Advanced. Then run `lockstep deploy` again")
}
