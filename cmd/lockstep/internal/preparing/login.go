package preparing

import (
	"errors"
	"fmt"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
)

// defaultHost is the host of login and logout if the command line names none, as in Terraform.
const defaultHost = "app.terraform.io"

var Login = cli.Command{Name: "login", Synopsis: "Obtain and save credentials for a remote host", Run: func(a *cli.App, args []string) int {
	var input bool
	f := a.NewFlags("login", "login [OPTIONS] [HOST]")
	f.BoolVar(&input, "input", true, "ask for approval; login cannot do without")
	l, code, ok := newLogin(f, args)
	if !ok {
		return code
	}
	if !a.MayAsk(input) {
		return f.Refuse("Login is an interactive command", "The \"lockstep login\" command uses interactive prompts to obtain and record credentials, so it can't be run with input disabled.\n\nTo configure credentials in a non-interactive context, write existing credentials directly to a CLI configuration file")
	}
	if l.store.Place(l.host) == cliconfig.TokenElsewhere {
		return f.Refuse("Credentials for "+l.shown()+" are manually configured", "The \"lockstep login\" command cannot log in because credentials for this host are already configured in a CLI configuration file.\n\nTo log in, first revoke the existing credentials and remove that block from the CLI configuration")
	}
	return a.Show(l.run())
}}

// A hostLogin is a login to a host, or a logout.
type hostLogin struct {
	app   *cli.App
	host  string
	store *cliconfig.CredentialStore
	given func(host string) (map[string]any, bool) // services in the CLI configuration
	file  string                                   // the credentials file
	name  string                                   // the credentials helper's
}

// newLogin parses the arguments of login and logout. If ok is false, the command must end with the exit code.
func newLogin(f *cli.Flags, args []string) (l *hostLogin, code int, ok bool) {
	if code, ok := f.ParseArgs(args); !ok {
		return nil, code, false
	}
	given := defaultHost
	switch f.NArg() {
	case 0:
	case 1:
		given = f.Arg(0)
	default:
		return nil, f.Refuse(cli.TooMany, "the %s command expects at most one argument: the host", f.Name()), false
	}
	host, err := svchost.ForComparison(given)
	if err != nil {
		return nil, f.Refuse("Invalid hostname", "The given hostname %q is not valid: %s", given, err), false
	}
	d, ds := f.App.Dir()
	if ds.HasErrors() {
		return nil, f.App.Show(ds), false
	}
	l = &hostLogin{app: f.App, host: string(host), store: cliconfig.OpenCredentials(d.CLI), given: d.CLI.Services, file: d.CLI.CredentialsFile}
	if d.CLI.Helper != nil {
		l.name = d.CLI.Helper.Name
	}
	return l, 0, true
}

// shown returns the host as users write it.
func (l *hostLogin) shown() string { return svchost.ForDisplay(l.host) }

func (l *hostLogin) run() diags.Diagnostics {
	a := l.app
	client := &hosts.Client{Token: l.store.Token}
	offer, err := findLogin(a.Ctx, client, l.host, l.given)
	switch {
	case errors.Is(err, errNoLogin):
		return diags.Errorf(nil, "Host does not support Lockstep tokens API", "The given hostname %q does not support creating Lockstep authorization tokens: %s.", l.shown(), err)
	case err != nil:
		return diags.FromError("Service discovery failed for "+l.shown(), err)
	}
	if !l.agreed(offer) {
		return diags.Errorf(nil, "Login cancelled", "Login process cancelled because it was not confirmed.")
	}
	var token hosts.Token
	var ds diags.Diagnostics
	if offer.Client != nil {
		token, ds = l.authorized(offer.Client)
	} else {
		token, ds = l.typed(offer.API)
	}
	if ds.HasErrors() {
		return ds
	}
	if err := l.store.Put(l.host, token); err != nil {
		return diags.Errorf(nil, "Failed to save API token", "The given host returned an API token, but Lockstep failed to save it: %s.", err)
	}
	if offer.API != nil {
		fmt.Fprintf(a.Out, "%s Logged in to %s\n", a.Print().Bold("Success!"), l.shown())
		return nil
	}
	fmt.Fprintf(a.Out, "%s Lockstep has obtained and saved an API token.\n\nThe new API token will be used for any future Lockstep command that must make\nauthenticated requests to %s.\n", a.Print().Bold("Success!"), l.shown())
	return nil
}

// agreed asks the user whether to start the login, and reports whether the answer is yes.
func (l *hostLogin) agreed(offer *loginOffer) bool {
	means := "OAuth"
	if offer.API != nil {
		means = "your browser"
	}
	fmt.Fprintf(l.app.Out, "Lockstep will request an API token for %s using %s.\n\n", l.shown(), means)
	fmt.Fprint(l.app.Out, "This will work only if you are able to use a web browser on this computer to\ncomplete a login process. If not, you must obtain an API token by another\nmeans and configure it in the CLI configuration manually.\n\n")
	fmt.Fprintf(l.app.Out, "If login is successful, Lockstep will store the token in %s\n\n", l.keeping())
	return l.app.Confirm("Do you want to proceed?", "Only 'yes' will be accepted to confirm.")
}

// keeping returns a sentence that says where the token will be stored.
func (l *hostLogin) keeping() string {
	if l.store.Place(l.host) == cliconfig.TokenWithHelper {
		return fmt.Sprintf("the configured\n%q credentials helper for use by subsequent commands.", l.name)
	}
	return fmt.Sprintf("plain text in\nthe following file for use by subsequent commands:\n    %s", l.file)
}

// authorized gets a token from the host by OAuth: the user agrees on a page of the host.
func (l *hostLogin) authorized(c *loginClient) (hosts.Token, diags.Diagnostics) {
	token, err := c.authorize(l.app.Ctx, func(url string) {
		l.visit(url, "login", "authenticate with")
		fmt.Fprint(l.app.Out, "Lockstep will now wait for the host to signal that login was successful.\n\n")
	})
	if err != nil {
		return token, diags.FromError("Failed to obtain auth token", err)
	}
	return token, nil
}

// typed gets a token that the user creates on a page of the host and types here.
func (l *hostLogin) typed(api *loginAPI) (hosts.Token, diags.Diagnostics) {
	a := l.app
	l.visit(api.Page(), "tokens", "create a token for")
	fmt.Fprintf(a.Out, "Generate a token using your browser, and copy-paste it into this prompt.\n\nLockstep will store the token in %s\n\n%s\n  Enter a value: ", l.keeping(), a.Print().Bold("Token for "+l.shown()+":"))
	text, err := a.ReadSecret()
	fmt.Fprintln(a.Out)
	if err != nil {
		return hosts.Token{}, diags.FromError("Failed to retrieve token", err)
	}
	token := hosts.NewToken(strings.TrimSpace(text))
	user, err := api.User(a.Ctx, token)
	switch {
	case errors.Is(err, errInvalidToken):
		return token, diags.FromError("Token is invalid", err)
	case err != nil:
		return token, diags.FromError("Failed to retrieve user account details", err)
	}
	fmt.Fprintf(a.Out, "\nRetrieved token for user %s\n\n", a.Print().Bold(user))
	return token, nil
}

// visit opens a page in the browser, or prints only its URL if that is not possible.
func (l *hostLogin) visit(url, page, purpose string) {
	if err := l.app.Browse(url); err == nil {
		fmt.Fprintf(l.app.Out, "Lockstep must now open a web browser to the %s page for %s.\n\nIf a browser does not open this automatically, open the following URL to proceed:\n    %s\n\n", page, l.shown(), url)
		return
	}
	fmt.Fprintf(l.app.Out, "Open the following URL to %s %s:\n    %s\n\n", purpose, l.shown(), url)
}
