package preparing

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/provider/install/cliconfig"
)

var Logout = cli.Command{Name: "logout", Synopsis: "Remove locally-stored credentials for a remote host", Run: func(a *cli.App, args []string) int {
	f := a.NewFlags("logout", "logout [OPTIONS] [HOST]")
	l, code, ok := newLogin(f, args)
	if !ok {
		return code
	}
	switch l.store.Place(l.host) {
	case cliconfig.TokenElsewhere:
		return f.Refuse("Credentials for "+l.shown()+" are manually configured", "The \"lockstep logout\" command cannot log out because credentials for this host are manually configured in a CLI configuration file.\n\nTo log out, revoke the existing credentials and remove that block from the CLI configuration")
	case cliconfig.TokenNowhere:
		fmt.Fprintf(a.Out, "No credentials for %s are stored.\n\n", l.shown())
		return 0
	case cliconfig.TokenWithHelper:
		fmt.Fprintf(a.Out, "Removing the stored credentials for %s from the configured\n%q credentials helper.\n\n", l.shown(), l.name)
	case cliconfig.TokenInFile:
		fmt.Fprintf(a.Out, "Removing the stored credentials for %s from the following file:\n    %s\n\n", l.shown(), l.file)
	}
	if err := l.store.Forget(l.host); err != nil {
		return a.Show(diags.FromError("Failed to remove API token", fmt.Errorf("unable to remove stored API token: %w", err)))
	}
	// The token was removed only on this machine: the host still accepts it.
	fmt.Fprintf(a.Out, "%s Lockstep has removed the stored API token for %s.\n", a.Print().Bold("Success!"), l.shown())
	return 0
}}
