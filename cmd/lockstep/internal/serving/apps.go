package serving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/localpipeline"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
	"github.com/lockstep-iac/lockstep/github"
)

// A furtherApp describes an additional App, in the file that the option -apps names.
type furtherApp struct {
	Name string `json:"name"`
	ID   int64  `json:"app_id"`
	// Key and Secret are paths of files. They are relative to the directory of the file that -apps names.
	Key    string `json:"app_key"`
	Secret string `json:"webhook_secret"`
	URL    string `json:"github_url"` // "" for GitHub's own
	Serves string `json:"serves"`
}

// further reads the additional Apps from the file that the option -apps names. Only the first App is in other
// options.
func (o *serveOptions) further(a *cli.App, s *serveSettings) error {
	if o.apps == "" {
		return nil
	}
	text, err := readFile(a, "apps", o.apps)
	if err != nil {
		return err
	}
	const remedy = `write a list like [{"name": "ghes", "app_id": 1, "app_key": "ghes.pem", "webhook_secret": "ghes.secret", "github_url": "https://HOST/api/v3/", "serves": "acme"}]`
	var list []furtherApp
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return cli.Hinted(fmt.Errorf("-apps: %s: %w", o.apps, err), remedy)
	}
	s.further = map[string]localpipeline.Further{}
	for i, x := range list {
		_, twice := s.further[x.Name]
		err := tenants.Space(x.Name).Check()
		if err == nil && twice {
			err = fmt.Errorf("another App has the name %q", x.Name)
		}
		if err == nil {
			err = o.addApp(a, s, x)
		}
		if err != nil {
			return cli.Hinted(fmt.Errorf("entry %d of %s, the file of -apps: %w", i+1, o.apps, err), remedy)
		}
	}
	return nil
}

// addApp adds an additional App to the settings. x is the App's description in the file that -apps
// names.
func (o *serveOptions) addApp(a *cli.App, s *serveSettings, x furtherApp) error {
	beside := func(name string) string {
		if name == "" || filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(filepath.Dir(o.apps), name)
	}
	key, err := readFile(a, "apps", beside(x.Key))
	if err != nil {
		return err
	}
	secret, err := readFile(a, "apps", beside(x.Secret))
	if err != nil {
		return err
	}
	f := localpipeline.Further{Secret: github.NewSecret(secret)}
	if f.App, err = github.NewApp(github.AppConfig{ID: x.ID, Key: github.NewSecret(key), URL: x.URL}); err != nil {
		return err
	}
	if f.Serves, err = intake.ParseServes(x.Serves); err != nil {
		return err
	}
	s.further[x.Name], s.secrets = f, append(s.secrets, key, secret)
	return nil
}
