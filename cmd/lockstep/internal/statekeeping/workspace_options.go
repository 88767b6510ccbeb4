package statekeeping

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/statebackend"
)

// workspaceVariable is the environment variable that selects a workspace. It is more important than the
// selection by `workspace select`.
const workspaceVariable = "TF_WORKSPACE"

// parseWorkspace parses the options of a command such as `workspace list`. If the first word is `env`,
// Terraform's old name of `workspace`, it also prints a warning. If ok is false, the command must end with the
// exit code.
func parseWorkspace(f *cli.Flags, args []string) (code int, ok bool) {
	code, ok = f.ParseArgs(args)
	if ok && strings.HasPrefix(f.Name(), "env ") {
		f.App.Tell(renamed)
	}
	return code, ok
}

// renamed is the warning of commands whose first word is `env`, the old name of `workspace`.
var renamed = diags.Warningf(nil, `The "lockstep env" family of commands is deprecated`,
	`What were environments once are workspaces now. Use the "lockstep workspace" commands instead.`)

// workspaceName returns the only argument of a command, the name of a workspace. deed says, for errors, what
// the command does with the workspace. If ok is false, the command must end with the exit code.
func workspaceName(f *cli.Flags, args []string, deed string) (name string, code int, ok bool) {
	if code, ok := parseWorkspace(f, args); !ok {
		return "", code, false
	}
	a := f.App
	switch {
	case f.NArg() != 1:
		return "", f.WrongArguments(fmt.Sprintf("write one name: lockstep %s NAME", f.Name()), "%s takes exactly one name", f.Name()), false
	case a.Getenv(workspaceVariable) != "":
		return "", a.Usage(fmt.Sprintf("unset %s to %s another workspace", workspaceVariable, deed), "the environment variable %s selects the workspace %q", workspaceVariable, a.Getenv(workspaceVariable)), false
	}
	if err := statebackend.CheckWorkspaceName(f.Arg(0)); err != nil {
		return "", a.Usage("", "%s", err), false
	}
	return f.Arg(0), 0, true
}
