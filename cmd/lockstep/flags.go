package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agext/levenshtein"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// flags is a command's options, in Terraform's style: one dash, -name=value.
type flags struct {
	*flag.FlagSet
	app    *app
	help   func()
	stream *bool // -json, where that asks for a stream of messages
}

// newFlags starts the options of a command; usage is its help, without the options.
func (a *app) newFlags(name, usage string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), app: a}
	f.SetOutput(io.Discard)
	f.Usage = func() {} // which the library calls for every mistake
	f.help = func() {
		fmt.Fprintf(a.out, "Usage: lockstep %s\n\nOptions:\n", usage)
		f.VisitAll(func(x *flag.Flag) {
			if x.Usage != "" {
				fmt.Fprintf(a.out, "  -%-22s %s\n", x.Name, x.Usage)
			}
		})
	}
	f.BoolVar(&a.noColor, "no-color", a.noColor, "no colours in the output")
	return f
}

// parse reads the options. If ok is false, the command ends with the code.
func (f *flags) parse(args []string) (code int, ok bool) {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.help()
		return 0, false
	}
	if err != nil {
		return f.refuse("Failed to parse command-line flags", "%s.%s \"lockstep %s -help\" lists the options", err, f.nearest(err), f.Name()), false
	}
	return 0, true
}

// nearest returns which option was probably meant by one that there is not, or "".
func (f *flags) nearest(err error) string {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return ""
	}
	best, least := "", 3 // as far off as HCL's own suggestions
	f.VisitAll(func(x *flag.Flag) {
		if n := levenshtein.Distance(name, x.Name, nil); n < min(least, len(name)) && x.Usage != "" {
			best, least = x.Name, n
		}
	})
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean -%s?", best)
}

// jsonStream is -json of commands that write a stream of messages then.
func (f *flags) jsonStream(v *bool) {
	f.stream = v
	f.BoolVar(v, "json", false, "write a stream of JSON messages")
}

// streaming reports whether the options read so far ask for a stream of messages.
func (f *flags) streaming() bool { return f.stream != nil && *f.stream }

// given reports whether an option was given, whatever its value.
func (f *flags) given(name string) bool {
	found := false
	f.Visit(func(x *flag.Flag) { found = found || x.Name == name })
	return found
}

// refuse reports a mistake in the command line under a headline, where it is looked for:
// in the stream, or as text.
func (f *flags) refuse(summary, format string, args ...any) int {
	ds := diags.FromError(summary, fmt.Errorf(format, args...))
	if !f.streaming() {
		return f.app.show(ds)
	}
	f.app.view(true).diagnostics(ds)
	return 1
}

// noArguments refuses arguments other than options. If ok is false, the command ends
// with the code.
func (f *flags) noArguments() (code int, ok bool) {
	if f.NArg() == 0 {
		return 0, true
	}
	return f.refuse(tooMany, "%s takes no arguments: use -chdir to work in another directory", f.Name()), false
}

const tooMany = "Too many command line arguments"

// listFlag is an option that may be given several times.
type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

// varFlags are -var and -var-file in the order they were given.
type varFlags struct {
	given []varFlag
	ask   bool // for what is missing
}

type varFlag struct {
	file bool
	text string
}

type varOption struct {
	to   *varFlags
	file bool
}

func (o varOption) String() string { return "" }
func (o varOption) Set(s string) error {
	o.to.given = append(o.to.given, varFlag{o.file, s})
	return nil
}

func (f *flags) vars(v *varFlags) {
	f.app.vars = v
	f.Var(varOption{v, false}, "var", "set a variable: -var 'name=value'")
	f.Var(varOption{v, true}, "var-file", "set variables from a file")
}

// lockFlags say whether and how long to wait for the state's lock.
type lockFlags struct {
	lock    bool
	timeout time.Duration
}

func (f *flags) locking(l *lockFlags) {
	f.BoolVar(&l.lock, "lock", true, "hold the state's lock meanwhile")
	f.DurationVar(&l.timeout, "lock-timeout", 0, "how long to wait for the lock")
}

// stateFlags are the local backend's paths.
func (f *flags) state(p *workdir.LocalPaths) {
	f.StringVar(&p.State, "state", "", "the state file of the local backend")
	f.StringVar(&p.StateOut, "state-out", "", "where to write the new state")
	f.StringVar(&p.Backup, "backup", "", "where to keep the old state; \"-\" for nowhere")
}

// inputFlag is -input: whether to ask for what is missing.
func (f *flags) input(v *bool) {
	f.BoolVar(v, "input", true, "ask for variables that have no value")
}

// compactWarnings is -compact-warnings, which [app.runCommand] has taken already where
// it stands alone.
func (f *flags) compactWarnings() {
	f.BoolVar(&f.app.compact, "compact-warnings", f.app.compact, "show warnings by their headline only, unless there are errors")
}

// operationFlags are what plan, apply, destroy and refresh share.
type operationFlags struct {
	vars    varFlags
	locks   lockFlags
	paths   workdir.LocalPaths
	destroy bool
	// destroyCommand says that the command was destroy rather than apply.
	destroyCommand bool
	refreshOnly    bool
	refresh        bool
	part           partFlags
	replace        listFlag
	generate       string // file for blocks that imports lack
	parallelism    int
	input          bool
	json           bool
}

func (f *flags) operation(o *operationFlags) {
	f.vars(&o.vars)
	f.locking(&o.locks)
	f.state(&o.paths)
	f.input(&o.input)
	f.BoolVar(&o.destroy, "destroy", false, "plan to destroy everything that is managed")
	f.BoolVar(&o.refreshOnly, "refresh-only", false, "only bring the state up to date with what exists")
	f.BoolVar(&o.refresh, "refresh", true, "look at what exists before planning")
	f.partial(&o.part)
	f.Var(&o.replace, "replace", "replace this instance")
	f.IntVar(&o.parallelism, "parallelism", 10, "how many provider calls may be under way at once")
	f.jsonStream(&o.json)
	f.compactWarnings()
}
