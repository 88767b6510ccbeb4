package cli

import (
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// JsonStream is -json of commands that write a stream of messages then.
func (f *Flags) JsonStream(v *bool) {
	f.stream = v
	f.BoolVar(v, "json", false, "write a stream of JSON messages")
}

// ListFlag is an option that may be given several times.
type ListFlag []string

func (l *ListFlag) String() string { return strings.Join(*l, ",") }

func (l *ListFlag) Set(s string) error { *l = append(*l, s); return nil }

// LockFlags are -lock and -lock-timeout.
type LockFlags struct {
	Lock    bool
	Timeout time.Duration
}

func (f *Flags) Locking(l *LockFlags) {
	f.BoolVar(&l.Lock, "lock", true, "hold the state's lock meanwhile")
	f.DurationVar(&l.Timeout, "lock-timeout", 0, "how long to wait for the lock")
}

// stateFlags are the local backend's paths.
func (f *Flags) State(p *workdir.LocalPaths) {
	f.StringVar(&p.State, "state", "", "the state file of the local backend")
	f.StringVar(&p.StateOut, "state-out", "", "where to write the new state")
	f.StringVar(&p.Backup, "backup", "", "where to keep the old state; \"-\" for nowhere")
}

// Input adds -input, which allows questions for missing values.
func (f *Flags) Input(v *bool) {
	f.BoolVar(v, "input", true, "ask for variables that have no value")
}

// CompactWarnings is -compact-warnings, which [app.runCommand] has taken already where
// it stands alone.
func (f *Flags) CompactWarnings() {
	f.BoolVar(&f.App.compact, "compact-warnings", f.App.compact, "show warnings by their headline only, unless there are errors")
}
