package deploying

import (
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/functions/pipeline/intake"
	"github.com/lockstep-iac/lockstep/functions/pipeline/tenants"
	"github.com/lockstep-iac/lockstep/github"
)

// options are those of deploy.
type options struct {
	region, stack, bucket string
	site, owner, name     string
	appID, appKey         string
	app, serves           string // of an App beside the first one
	artifacts             string
	boundary              string
	tags, parameters      pairs
	plan, approve, input  bool
	manifest              bool   // print the page that registers the App, and end
	code                  string // of an App that was registered with it
	siteGiven             bool
	ownerGiven            bool
	pem                   string // a private key; never shown
	id                    int64
}

// pairs is an option NAME=VALUE that may be given several times.
type pairs map[string]string

// String implements flag.Value.
func (p pairs) String() string { return "" }

// Set implements flag.Value.
func (p pairs) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("it is NAME=VALUE")
	}
	p[name] = value
	return nil
}

// place are the options that name an installation.
func (o *options) place(f *cli.Flags) {
	f.StringVar(&o.region, "region", "", "the AWS region; default: that of the AWS configuration")
	f.StringVar(&o.stack, "stack", "lockstep", "the name of the stack; one account can have several")
	f.StringVar(&o.artifacts, "artifacts", "", "the directory with template.yaml and the functions' zip files; default: those that a release carries")
}

func (o *options) flags(f *cli.Flags) {
	o.tags, o.parameters = pairs{}, pairs{}
	o.place(f)
	f.StringVar(&o.bucket, "bucket", "", "the bucket for the functions' code; default: lockstep-ACCOUNT-REGION, which is made")
	f.StringVar(&o.site, "github", "https://github.com", "the address of GitHub, or of a GitHub Enterprise Server")
	f.StringVar(&o.owner, "organization", "", "the GitHub organization that is to own the App; empty for your own account")
	f.StringVar(&o.name, "app-name", "", "the name of the App; default: lockstep-ORGANIZATION")
	f.StringVar(&o.appID, "app-id", "", "the ID of an App that exists already; needs -app-key")
	f.StringVar(&o.appKey, "app-key", "", "a file with a private key of the App, as downloaded from GitHub")
	f.StringVar(&o.app, "app", "", "a name of yours for an App beside the first one, of another organization or GitHub Enterprise Server: it is added to the stack, or updated")
	f.StringVar(&o.serves, "serves", "", "with -app, the owners and repositories that the App serves, such as acme, acme/infra")
	f.BoolVar(&o.manifest, "manifest", false, "for a machine without a browser: print the page that registers the App; open it in a browser elsewhere, and run again with -code")
	f.StringVar(&o.code, "code", "", "the code with which GitHub has answered to the page of -manifest: it stands in the address bar, behind code=")
	f.StringVar(&o.boundary, "permissions-boundary", "", "the ARN of the policy that bounds each role of the stack")
	f.Var(o.tags, "tag", "NAME=VALUE, a tag of the stack and all that is in it; may be given several times")
	f.Var(o.parameters, "parameter", "NAME=VALUE, a parameter of template.yaml; may be given several times")
	f.BoolVar(&o.plan, "plan", false, "show the steps that are left, and change nothing")
	f.BoolVar(&o.approve, "auto-approve", false, "do not ask for approval")
	f.BoolVar(&o.input, "input", true, "ask for what is not given by options")
}

// check reads the files that the options name, and finds mistakes among them.
func (o *options) check(f *cli.Flags) error {
	o.ownerGiven, o.siteGiven = f.Given("organization"), f.Given("github")
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,39}$`).MatchString(o.stack) {
		return fmt.Errorf("-stack is %q: it is up to 40 letters, digits and -, which queues and functions begin with", o.stack)
	}
	if o.owner != "" && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$`).MatchString(o.owner) {
		return fmt.Errorf("-organization is %q, which is no name of an organization", o.owner)
	}
	if len(o.name) > 34 {
		return errors.New("-app-name has more than 34 characters, and GitHub takes no more")
	}
	if err := o.forms(); err != nil {
		return err
	}
	if o.boundary != "" {
		o.parameters["PermissionsBoundaryArn"] = o.boundary
	}
	for _, name := range []string{"AppKeySecretArn", "WebhookSecretArn"} {
		if _, given := o.parameters[name]; given != (o.parameters["AppId"] != "") {
			return errors.New("the parameters AppId, AppKeySecretArn and WebhookSecretArn belong together")
		}
	}
	if (o.parameters["SubnetIds"] == "") != (o.parameters["SecurityGroupIds"] == "") {
		return errors.New("the parameters SubnetIds and SecurityGroupIds belong together")
	}
	if err := o.checkApp(f); err != nil {
		return err
	}
	return o.readKey()
}

// forms finds values that AWS or GitHub would refuse, before either is asked.
func (o *options) forms() error {
	for _, form := range []struct{ option, value, pattern, is string }{
		{"region", o.region, `^[a-z]{2}(-[a-z]+)+-[0-9]$`, "the name of a region, such as eu-central-1"},
		{"bucket", o.bucket, `^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`, "the name of a bucket: 3 to 63 small letters, digits, dots and dashes"},
		{"github", o.site, `^https?://[A-Za-z0-9.:-]+/?$`, "the address of a GitHub, such as https://github.example.com"},
		{"app-name", o.name, `^[A-Za-z0-9][A-Za-z0-9 ._-]*$`, "the name of an App: letters, digits, spaces, dots and dashes"},
		{"code", o.code, `^[A-Za-z0-9_-]+$`, "a code of GitHub's: what stands behind code= in the address"},
	} {
		if form.value != "" && !regexp.MustCompile(form.pattern).MatchString(form.value) {
			return fmt.Errorf("-%s is %q, and is to be %s", form.option, form.value, form.is)
		}
	}
	if o.manifest && o.code != "" {
		return errors.New("-manifest comes first, and -code with the next run")
	}
	if o.code != "" && o.appID != "" {
		return errors.New("-code is of an App that GitHub has just registered, and -app-id of one that exists: give one of them")
	}
	if o.manifest && !o.ownerGiven {
		return cli.Hinted(errors.New("-manifest needs -organization"), "-organization= registers the App for your own account")
	}
	return nil
}

// checkApp finds mistakes in the options of an App beside the first one.
func (o *options) checkApp(f *cli.Flags) error {
	switch {
	case !f.Given("app") && o.serves != "":
		return errors.New("-serves needs -app; the first App's are the parameter Serves")
	case !f.Given("app"):
		return nil
	case o.parameters["Apps"] != "":
		return errors.New("-app writes the parameter Apps itself")
	case o.parameters["AppId"] != "" || o.parameters["GitHubUrl"] != "":
		return errors.New("the parameters AppId, AppKeySecretArn, WebhookSecretArn and GitHubUrl are the first App's: with -app, -app-id and -app-key name an App that exists, and -github its server")
	}
	if err := tenants.Space(o.app).Check(); err != nil {
		return fmt.Errorf("-app: %w", err)
	}
	if _, err := intake.ParseServes(o.serves); err != nil {
		return fmt.Errorf("-serves: %w", err)
	}
	return nil
}

func (o *options) readKey() error {
	var err error
	if o.appID != "" {
		if o.id, err = strconv.ParseInt(o.appID, 10, 64); err != nil || o.id <= 0 {
			return fmt.Errorf("-app-id is %q: it is a number, in the App's settings", o.appID)
		}
		if o.appKey == "" {
			return errors.New("-app-id needs -app-key")
		}
	}
	if o.appKey != "" {
		text, err := os.ReadFile(o.appKey)
		if err != nil {
			return fmt.Errorf("-app-key: %s: %s", o.appKey, cli.Reason(err))
		}
		if block, _ := pem.Decode(text); block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return cli.Hinted(fmt.Errorf("-app-key: %s has no private key", o.appKey), "GitHub's settings of the App make one, as a file that begins with -----BEGIN RSA PRIVATE KEY-----")
		}
		o.pem = string(text)
	}
	return nil
}

// apiOf returns the address of the API of a GitHub, by the address of its pages.
// Source: https://docs.github.com/en/enterprise-server@latest/rest/using-the-rest-api/getting-started-with-the-rest-api,
// https://docs.github.com/en/enterprise-cloud@latest/admin/data-residency/about-github-enterprise-cloud-with-data-residency
func apiOf(site string) string {
	site = strings.TrimSuffix(site, "/")
	host := strings.TrimPrefix(site, "https://")
	switch {
	case host == "github.com":
		return github.DefaultURL
	case strings.HasSuffix(host, ".ghe.com"):
		return "https://api." + host + "/"
	}
	return site + "/api/v3/"
}
