package deploying

import (
	"context"
	"errors"
	"strconv"

	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
	"github.com/lockstep-iac/lockstep/github"
)

// A query identifies one of the stack's Apps, to ask GitHub about it.
type query struct {
	name, address string // name of the App ("" for the first one), and address of its webhooks
	id            int64
	key, url      string // name or ARN of the secret with its key, and address of its GitHub's API
}

// aboutApps asks GitHub about all Apps of the stack. If the GitHub server of one App does not answer, it
// continues with the other Apps.
func (d examination) aboutApps(ctx context.Context, f *deploymentFacts, try func(fact string, find func() error)) {
	was, hook := d.present.Parameters, d.present.Outputs["WebhookUrl"]
	add := func(q query) func() error {
		return func() error {
			a, err := d.aboutApp(ctx, q)
			if err == nil {
				f.Apps = append(f.Apps, a)
			}
			return err
		}
	}
	try("the App", func() error {
		id, err := strconv.ParseInt(was["AppId"], 10, 64)
		if err != nil {
			return errors.New("the stack has no AppId")
		}
		return add(query{address: hook, id: id, key: was["AppKeySecretArn"], url: was["GitHubUrl"]})()
	})
	try("the Apps beside the first one", func() error {
		list, err := d.apps()
		for _, a := range list {
			try("the App "+a.Name, add(query{a.Name, applist.HookURL(hook, a.Name), a.ID, applist.KeySecret(applist.Prefix(d.options.stack), a.Name), a.URL}))
		}
		return err
	})
}

// aboutApp asks GitHub for the facts about one App.
func (d examination) aboutApp(ctx context.Context, q query) (examinedApp, error) {
	pem, err := d.vault.Read(ctx, q.key)
	if err != nil {
		return examinedApp{}, err
	}
	app, err := github.NewApp(github.AppConfig{ID: q.id, Key: pem, URL: q.url, Transport: d.out.github})
	if err != nil {
		return examinedApp{}, err
	}
	about, err := app.About(ctx)
	if err != nil {
		return examinedApp{}, err
	}
	out := examinedApp{Name: q.name, Address: q.address, Slug: about.Slug, Page: about.Page, Permissions: about.Permissions, Events: about.Events}
	needs(&out)
	if out.HookURL, err = app.HookURL(ctx); err != nil {
		return out, err
	}
	installed, err := app.Installations(ctx)
	if err != nil {
		return out, err
	}
	for _, i := range installed {
		out.Installed = append(out.Installed, i.Account)
		if i.Suspended {
			out.Suspended = append(out.Suspended, i.Account)
		}
	}
	return out, d.deliveries(ctx, app, &out)
}
