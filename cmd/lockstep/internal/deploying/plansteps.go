package deploying

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/github"
)

// survey finds the facts about the deployment at AWS and GitHub. It returns all steps with their states.
func (d *deployment) survey(ctx context.Context) ([]step, error) {
	var err error
	if d.key, err = d.vault.Look(ctx, d.keyName()); err != nil {
		return nil, err
	}
	if d.hook, err = d.vault.Look(ctx, d.hookName()); err != nil {
		return nil, err
	}
	if d.present, err = d.stack.Look(ctx); err != nil {
		return nil, err
	}
	d.takeOver()
	d.found = deploymentFound{Key: d.key.secretFound, Hook: d.hook.secretFound, App: d.key.App}
	d.found.Stack = stackFound{Status: d.present.Status, Reason: d.present.Reason, HookURL: d.hookURL()}
	if err := d.surveyCode(ctx); err != nil {
		return nil, err
	}
	if err := d.surveyStack(); err != nil {
		return nil, err
	}
	if err := d.surveyApp(ctx); err != nil {
		return nil, err
	}
	return d.list(), nil
}

// list returns all steps of the deployment, with the states that follow from the last survey.
func (d *deployment) list() []step {
	return listSteps(deployWish{
		Stack: d.options.stack, App: d.options.app, KeyName: d.keyName(), HookName: d.hookName(), Region: d.region, Bucket: d.depot.Bucket, GitHub: d.options.site, Owner: d.options.owner,
		GivenApp: d.givenApp(), KeyAtHand: d.options.pem != "", Code: len(d.files) + 1,
	}, d.found)
}

// takeOver copies the settings of an earlier deployment into this one: the place of its code, its App and its
// GitHub. A deployment that was made by hand has its own App and secrets.
func (d *deployment) takeOver() {
	if d.depot.Bucket == "" {
		d.depot.Bucket = d.present.codeBucket()
	}
	if d.depot.Bucket == "" {
		d.depot.Bucket = fmt.Sprintf("lockstep-%s-%s", d.account, d.region)
	}
	if d.key.GitHub != "" {
		d.options.site = d.key.GitHub
	}
	was := d.present.Parameters
	if d.options.app != "" {
		return // an additional App does not use the parameters of the first App
	}
	if !d.key.There && !d.present.fresh() && !d.givenApp() && was["AppId"] != "" {
		for _, name := range []string{"AppId", "AppKeySecretArn", "WebhookSecretArn"} {
			d.options.parameters[name] = was[name]
		}
	}
}

// givenApp reports whether a user created the App and its secrets without the command deploy.
func (d *deployment) givenApp() bool { return d.options.parameters["AppKeySecretArn"] != "" }

// surveyCode finds which files of the functions' code are uploaded.
func (d *deployment) surveyCode(ctx context.Context) error {
	var err error
	if d.found.Bucket, err = d.depot.Look(ctx); err != nil {
		return err
	}
	d.placed = map[string]depotPlace{}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		d.placed[name] = depotPlace{Bucket: d.depot.Bucket, Key: depotKey(name, d.files[name]), Version: "not uploaded"}
		if err := d.find(ctx, name, d.files[name]); err != nil {
			return err
		}
	}
	d.wish.Template, err = d.template.Placed(d.placed)
	if err != nil {
		return err
	}
	// The template contains the versions of the code, so it is uploaded after the code.
	if len(d.found.Missing) > 0 {
		d.found.Missing = append(d.found.Missing, templateFile)
		return nil
	}
	return d.find(ctx, templateFile, []byte(d.wish.Template.Text))
}

func (d *deployment) find(ctx context.Context, name string, content []byte) error {
	var at depotPlace
	ok := false
	if b := d.found.Bucket; b.There && !b.Foreign && b.Elsewhere == "" {
		var err error
		if at, ok, err = d.depot.Find(ctx, name, content); err != nil {
			return err
		}
	}
	if !ok {
		d.found.Missing = append(d.found.Missing, name)
		return nil
	}
	d.placed[name] = at
	return nil
}

// surveyStack compares the stack with the stack that the user has requested.
func (d *deployment) surveyStack() error {
	p := maps.Clone(map[string]string(d.options.parameters))
	switch {
	case d.options.app != "":
		if err := d.addApp(p); err != nil {
			return err
		}
	case !d.givenApp() && d.key.App.ID != 0:
		p["AppId"], p["AppKeySecretArn"], p["WebhookSecretArn"] = strconv.FormatInt(d.key.App.ID, 10), d.key.ARN, d.hook.ARN
		d.options.siteGiven = true
	}
	if d.options.app == "" && d.options.siteGiven && p["GitHubUrl"] == "" {
		p["GitHubUrl"] = apiOf(d.options.site)
	}
	d.wish.Parameters, d.wish.Tags = p, map[string]string(d.options.tags)
	if len(d.options.tags) == 0 {
		d.wish.Tags = d.present.Tags
	}
	if !d.deployed {
		d.found.Changes = d.present.differences(d.wish)
	}
	return nil
}

// surveyApp finds the facts about the App's webhook at GitHub.
func (d *deployment) surveyApp(ctx context.Context) error {
	d.app = nil
	id, key := d.key.App.ID, d.keyName()
	if d.givenApp() {
		key = d.options.parameters["AppKeySecretArn"]
		id, _ = strconv.ParseInt(d.options.parameters["AppId"], 10, 64) // else NewApp refuses it
	} else if id == 0 || !d.key.Filled {
		return nil
	}
	pem, err := d.vault.Read(ctx, key)
	if err != nil {
		return err
	}
	if d.app, err = d.appOf(id, pem); err != nil {
		return cli.Hinted(err, "put the App's private key, PEM, into the secret %s", key)
	}
	if d.found.HookURL, err = d.app.HookURL(ctx); err != nil {
		return err
	}
	if d.found.HookURL != d.found.Stack.HookURL || d.hooked && !d.sent {
		return nil // earlier deliveries went elsewhere
	}
	if d.sent {
		d.found.Delivery = d.delivered
		return nil
	}
	list, err := d.app.Deliveries(ctx, time.Now().Add(-kept))
	if err != nil {
		return err
	}
	d.found.Delivery = deliveryOf(list)
	return nil
}

// kept is how long GitHub lists a delivery of a webhook.
const kept = 3 * 24 * time.Hour

// deliveryOf returns the result of the latest delivery in a list.
func deliveryOf(list []github.DeliveryInfo) hookDelivery {
	switch {
	case len(list) == 0:
		return nothingToSend
	case list[0].OK:
		return arrivedDelivery
	}
	return failedDelivery
}

func (d *deployment) appOf(id int64, pem github.Secret) (*github.App, error) {
	return github.NewApp(github.AppConfig{ID: id, Key: pem, URL: d.api(), Transport: d.out.github})
}

// api returns the address of the API of the App's GitHub server.
func (d *deployment) api() string {
	if d.options.app != "" {
		return apiOf(d.options.site)
	}
	if url := d.options.parameters["GitHubUrl"]; url != "" {
		return url
	}
	if url := d.present.Parameters["GitHubUrl"]; url != "" && d.givenApp() {
		return url
	}
	return apiOf(d.options.site)
}
