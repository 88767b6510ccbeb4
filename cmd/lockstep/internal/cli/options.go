package cli

import (
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// JsonStream adds -json to a command that then writes a stream of JSON messages.
func (f *Flags) JsonStream(v *bool) {
	f.stream = v
	f.BoolVar(v, "json", false, "write a stream of JSON messages")
}

// ListFlag has the values of an option that may be given several times.
type ListFlag []string

func (l *ListFlag) String() string { return strings.Join(*l, ",") }

func (l *ListFlag) Set(s string) error { *l = append(*l, s); return nil }

// LockFlags are the options -lock and -lock-timeout.
type LockFlags struct {
	Lock    bool
	Timeout time.Duration
}

func (f *Flags) Locking(l *LockFlags) {
	f.BoolVar(&l.Lock, "lock", true, "lock the state during the operation")
	f.DurationVar(&l.Timeout, "lock-timeout", 0, "time to wait for the lock, such as 30s")
}

// State adds the options with the paths of the local backend.
func (f *Flags) State(p *workdir.LocalPaths) {
	f.StringVar(&p.State, "state", "", "the state file of the local backend")
	f.StringVar(&p.StateOut, "state-out", "", "the file for the new state")
	f.StringVar(&p.Backup, "backup", "", "the backup file for the old state; \"-\" for none")
}

// Input adds -input, which allows questions for missing values.
func (f *Flags) Input(v *bool) {
	f.BoolVar(v, "input", true, "ask for the values of variables that have none")
}

// CompactWarnings adds -compact-warnings. Without a value, the option was already handled by [app.runCommand].
func (f *Flags) CompactWarnings() {
	f.BoolVar(&f.App.compact, "compact-warnings", f.App.compact, "show only the headlines of warnings, unless there are errors")
}
