package deploying

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline/applist"
)

// keyName returns the name of the secret with the App's private key. hookName returns the name of the secret
// with the App's webhook secret.
func (d *deployment) keyName() string {
	if d.options.app != "" {
		return applist.KeySecret(applist.Prefix(d.options.stack), d.options.app)
	}
	return d.options.stack + "/github-app-key"
}

func (d *deployment) hookName() string {
	if d.options.app != "" {
		return applist.HookSecret(applist.Prefix(d.options.stack), d.options.app)
	}
	return d.options.stack + "/webhook-secret"
}

// hookURL returns the address in the stack to which the App sends webhooks; "" if there is none yet.
func (d *deployment) hookURL() string {
	url := d.present.Outputs["WebhookUrl"]
	if d.options.app != "" && url != "" {
		return applist.HookURL(url, d.options.app)
	}
	return url
}

// apps returns the stack's Apps, without the first one.
func (d *deployment) apps() (applist.List, error) {
	list, err := applist.Parse(d.present.Parameters["Apps"])
	if err != nil {
		err = cli.Hinted(fmt.Errorf("the stack's parameter Apps cannot be read: %w", err), "replace it with -parameter Apps=... See `lockstep docs reference/template`")
	}
	return list, err
}

// addApp adds the App of the option -app to the stack's parameter Apps, if the App is registered.
func (d *deployment) addApp(parameters map[string]string) error {
	list, err := d.apps()
	if err != nil || d.key.App.ID == 0 {
		return err
	}
	a := applist.App{Name: d.options.app, ID: d.key.App.ID, URL: d.api(), Serves: compact(d.options.serves)}
	if a.Serves == "" {
		was, _ := list.Named(a.Name)
		a.Serves = was.Serves
	}
	if first := d.present.Parameters; first["AppId"] == strconv.FormatInt(a.ID, 10) && strings.TrimSuffix(first["GitHubUrl"], "/") == strings.TrimSuffix(a.URL, "/") {
		return cli.Hinted(fmt.Errorf("the App with the ID %d is the first App of the stack, so it cannot also be the App %q", a.ID, a.Name), "remove -app to update the first App, or register another App")
	}
	text := list.With(a).String()
	if _, err := applist.Parse(text); err != nil {
		return fmt.Errorf("the App %q cannot be added: %w", a.Name, err)
	}
	parameters["Apps"] = text
	return nil
}

// compact removes the spaces from a list of owners and repositories.
func compact(serves string) string {
	return strings.Join(strings.FieldsFunc(serves, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }), ",")
}

// askServes asks the user for which owners and repositories an App will work, if the stack does not have this
// App yet.
func (d *deployment) askServes() error {
	list, err := d.apps()
	if err != nil || d.options.serves != "" {
		return err
	}
	if _, there := list.Named(d.options.app); there {
		return nil
	}
	d.options.serves, err = d.person.ask("serves", fmt.Sprintf("Which owners and repositories will the App %s serve?", d.options.app), d.options.owner)
	if err == nil {
		if _, wrong := applist.Parse(fmt.Sprintf("%s 1 https://github.com/ %s", d.options.app, compact(d.options.serves))); wrong != nil {
			err = cli.Hinted(fmt.Errorf("-serves cannot be %q: %w", d.options.serves, wrong), "write owners and repositories, separated by commas: -serves acme,acme/infra")
		}
	}
	return err
}
