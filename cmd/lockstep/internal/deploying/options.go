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

// options are the options of the command deploy.
type options struct {
	region, stack, bucket string
	site, owner, name     string
	appID, appKey         string
	app, serves           string // of an App other than the first
	artifacts             string
	boundary              string
	tags, parameters      pairs
	plan, approve, input  bool
	manifest              bool   // print the page that registers the App, and end
	code                  string // GitHub's code for an App that was registered in another browser
	siteGiven             bool
	ownerGiven            bool
	pem                   string // a private key; never shown
	id                    int64
}

// pairs are the values of an option NAME=VALUE that may be given several times.
type pairs map[string]string

// String implements flag.Value.
func (p pairs) String() string { return "" }

// Set implements flag.Value.
func (p pairs) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("write NAME=VALUE")
	}
	p[name] = value
	return nil
}

// place defines the options that identify a deployment, such as the name of its stack.
func (o *options) place(f *cli.Flags) {
	f.StringVar(&o.region, "region", "", "AWS region (default: that of your AWS configuration)")
	f.StringVar(&o.stack, "stack", "lockstep", "name of the CloudFormation stack")
	f.StringVar(&o.artifacts, "artifacts", "", "directory with template.yaml and the functions' zip files (default: those in this program)")
}

func (o *options) flags(f *cli.Flags) {
	o.tags, o.parameters = pairs{}, pairs{}
	o.place(f)
	f.StringVar(&o.bucket, "bucket", "", "S3 bucket for the functions' code (default: lockstep-ACCOUNT-REGION, made if it does not exist)")
	f.StringVar(&o.site, "github", "https://github.com", "address of GitHub, or of your GitHub Enterprise Server")
	f.StringVar(&o.owner, "organization", "", "GitHub organization that will own the App; empty for your own account")
	f.StringVar(&o.name, "app-name", "", "name of the App (default: lockstep-ORGANIZATION)")
	f.StringVar(&o.appID, "app-id", "", "ID of an existing App; needs -app-key")
	f.StringVar(&o.appKey, "app-key", "", "file with a private key of the App (.pem), as downloaded from GitHub")
	f.StringVar(&o.app, "app", "", "add a further App to the stack, of another organization or server, under this name; or update it")
	f.StringVar(&o.serves, "serves", "", "with -app: owners and repositories that the App serves, such as acme,acme/infra")
	f.BoolVar(&o.manifest, "manifest", false, "without a browser on this machine: print the page that registers the App; open it elsewhere, then run again with -code")
	f.StringVar(&o.code, "code", "", "code that GitHub shows after the page of -manifest: copy it from the address bar, after code=")
	f.StringVar(&o.boundary, "permissions-boundary", "", "ARN of a permissions boundary for each role of the stack")
	f.Var(o.tags, "tag", "NAME=VALUE: tag of the stack and its resources; can be given several times")
	f.Var(o.parameters, "parameter", "NAME=VALUE: parameter of template.yaml; can be given several times")
	f.BoolVar(&o.plan, "plan", false, "show the remaining steps and change nothing")
	f.BoolVar(&o.approve, "auto-approve", false, "do not ask for approval")
	f.BoolVar(&o.input, "input", true, "ask for values that the options do not give")
}

// check reads the files that the options name, and returns an error if options are wrong.
func (o *options) check(f *cli.Flags) error {
	o.ownerGiven, o.siteGiven = f.Given("organization"), f.Given("github")
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,39}$`).MatchString(o.stack) {
		return cli.Hinted(fmt.Errorf("-stack is %q, which is not a valid name", o.stack), "use up to 40 letters, digits and dashes, with a letter first: -stack lockstep")
	}
	if o.owner != "" && !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$`).MatchString(o.owner) {
		return cli.Hinted(fmt.Errorf("-organization is %q, which is not the name of an organization", o.owner), "copy the name from its page on GitHub: -organization acme")
	}
	if len(o.name) > 34 {
		return cli.Hinted(errors.New("-app-name is longer than 34 characters, which is GitHub's limit"), "choose a shorter name")
	}
	if err := o.forms(); err != nil {
		return err
	}
	if o.boundary != "" {
		o.parameters["PermissionsBoundaryArn"] = o.boundary
	}
	for _, name := range []string{"AppKeySecretArn", "WebhookSecretArn"} {
		if _, given := o.parameters[name]; given != (o.parameters["AppId"] != "") {
			return cli.Hinted(errors.New("one of the parameters AppId, AppKeySecretArn and WebhookSecretArn is missing"), "set all three with -parameter, or none")
		}
	}
	if (o.parameters["SubnetIds"] == "") != (o.parameters["SecurityGroupIds"] == "") {
		return cli.Hinted(errors.New("one of the parameters SubnetIds and SecurityGroupIds is missing"), "set both with -parameter, or neither")
	}
	if err := o.checkApp(f); err != nil {
		return err
	}
	return o.readKey()
}

// forms returns an error for values whose form AWS or GitHub would refuse. It makes no request.
func (o *options) forms() error {
	for _, form := range []struct{ option, value, pattern, remedy string }{
		{"region", o.region, `^[a-z]{2}(-[a-z]+)+-[0-9]$`, "write the name of a region: -region eu-central-1"},
		{"bucket", o.bucket, `^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`, "use 3 to 63 small letters, digits, dots and dashes: -bucket acme-lockstep"},
		{"github", o.site, `^https?://[A-Za-z0-9.:-]+/?$`, "write the address of a server: -github https://github.example.com"},
		{"app-name", o.name, `^[A-Za-z0-9][A-Za-z0-9 ._-]*$`, "use letters, digits, spaces, dots and dashes: -app-name lockstep-acme"},
		{"code", o.code, `^[A-Za-z0-9_-]+$`, "copy the text after code= from the browser's address bar: -code CODE"},
	} {
		if form.value != "" && !regexp.MustCompile(form.pattern).MatchString(form.value) {
			return cli.Hinted(fmt.Errorf("-%s is %q, which is not valid", form.option, form.value), "%s", form.remedy)
		}
	}
	if o.manifest && o.code != "" {
		return cli.Hinted(errors.New("-manifest and -code cannot be used together"), "run with -manifest first. Then run again with the code that GitHub shows: -code CODE")
	}
	if o.code != "" && o.appID != "" {
		return cli.Hinted(errors.New("-code and -app-id cannot be used together"), "give -code for an App that you have just registered, or -app-id and -app-key for an existing App")
	}
	if o.manifest && !o.ownerGiven {
		return cli.Hinted(errors.New("-manifest needs -organization"), "add -organization NAME, or -organization= for your own account")
	}
	return nil
}

// checkApp returns an error if the options for an additional App (not the stack's first one) are wrong.
func (o *options) checkApp(f *cli.Flags) error {
	switch {
	case !f.Given("app") && o.serves != "":
		return cli.Hinted(errors.New("-serves is only for a further App"), "for the first App write -parameter Serves=%s; for a further one add -app NAME", o.serves)
	case !f.Given("app"):
		return nil
	case o.parameters["Apps"] != "":
		return cli.Hinted(errors.New("-app and the parameter Apps cannot be used together"), "remove -parameter Apps: -app sets it")
	case o.parameters["AppId"] != "" || o.parameters["GitHubUrl"] != "":
		return cli.Hinted(errors.New("the parameters AppId, AppKeySecretArn, WebhookSecretArn and GitHubUrl are for the first App, not for that of -app"), "give the further App with -app-id and -app-key, and its server with -github")
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
			return cli.Hinted(fmt.Errorf("-app-id is %q, which is not a number", o.appID), "copy the number after \"App ID\" in the App's settings on GitHub")
		}
		if o.appKey == "" {
			return cli.Hinted(errors.New("-app-id needs -app-key"), "add -app-key FILE with a private key of the App, from its settings on GitHub")
		}
	}
	if o.appKey != "" {
		text, err := os.ReadFile(o.appKey)
		if err != nil {
			return fmt.Errorf("the file %s of -app-key cannot be read: %s", o.appKey, cli.Reason(err))
		}
		if block, _ := pem.Decode(text); block == nil || !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return cli.Hinted(fmt.Errorf("the file %s of -app-key has no private key", o.appKey), "generate a private key in the App's settings on GitHub: the file begins with -----BEGIN RSA PRIVATE KEY-----")
		}
		o.pem = string(text)
	}
	return nil
}

// apiOf returns the address of a GitHub server's API from the address of its web pages.
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
