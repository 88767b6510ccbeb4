package statekeeping

import (
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
)

// editing adds the options that are common to all commands that edit the state.
func editing(f *cli.Flags, x *opening.Access) {
	f.Locking(&x.Locks)
	f.StringVar(&x.Paths.State, "state", "", "the state file of the local backend")
	f.StringVar(&x.Paths.Backup, "backup", "", "the backup file for the old state")
	f.Bool("ignore-remote-version", false, "")
}
