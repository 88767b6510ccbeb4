package cli

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// JsonStream adds the option -json. The command must then write a stream of JSON messages.
func (f *Flags) JsonStream(v *bool) {
	f.stream = v
	f.BoolVar(v, "json", false, "write a stream of JSON messages")
	f.Var(jsonInto{f.App}, "json-into", "write a stream of JSON messages to this file, beside the text")
}

// jsonInto is the option -json-into. The file may be a pipe that another program reads.
type jsonInto struct{ app *App }

func (o jsonInto) String() string { return "" }

func (o jsonInto) Set(path string) error {
	if o.app.jsonInto != nil {
		return errors.New("it was given twice")
	}
	file, err := os.OpenFile(o.app.Path(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return errors.New(Reason(err))
	}
	o.app.jsonInto = file
	return nil
}

// ShowSensitive adds -show-sensitive.
func (f *Flags) ShowSensitive() {
	f.BoolVar(&f.App.secrets, "show-sensitive", false, "show sensitive values")
}

// Concise adds -concise, which leaves out the progress of single objects.
func (f *Flags) Concise() {
	f.BoolVar(&f.App.concise, "concise", false, "do not show the progress of single objects")
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

// modulesOf are the values of the option -deprecation: which modules' deprecated variables and outputs are warned about.
type modulesOf byte

const (
	allModules modulesOf = iota
	localModules
	noModules
)

// CompactWarnings adds the options that say how diagnostics are shown. [App.withoutLooks] has already handled their
// usual values, for every command.
func (f *Flags) CompactWarnings() {
	f.BoolVar(&f.App.compact, "compact-warnings", f.App.compact, "show only the headlines of warnings, unless there are errors")
	f.BoolFunc("consolidate-warnings", "show one of several warnings with the same headline, which is the default; =false shows each", func(text string) error {
		on, err := strconv.ParseBool(text)
		f.App.single = !on
		return err
	})
	f.BoolVar(&f.App.oneError, "consolidate-errors", f.App.oneError, "show one of several errors with the same headline")
	f.Func("deprecation", "show warnings about deprecated parts of all modules (module:all), of those in directories (module:local), or of none (module:none)", func(string) error {
		return errors.New("write module:all, module:local or module:none")
	})
}
