package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// Flags are a command's options, in Terraform's style with one dash: -name=value.
type Flags struct {
	*flag.FlagSet
	App    *App
	help   func()
	stream *bool // -json, where that asks for a stream of messages
}

// NewFlags returns an empty set of options for a command, to which the caller adds the command's options. usage
// is the usage line in the help.
func (a *App) NewFlags(name, usage string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), App: a}
	f.SetOutput(io.Discard)
	f.Usage = func() {} // which the library calls for every mistake
	f.help = func() {
		c := a.Commands.named(name)
		fmt.Fprintf(a.Out, "Usage: lockstep %s\n\n", usage)
		if c.About != "" && !strings.Contains(usage, "\n") {
			fmt.Fprintf(a.Out, "%s\n\n", wrapped(c.About))
		}
		if c.Example != "" {
			fmt.Fprintf(a.Out, "Example:\n  %s\n\n", c.Example)
		}
		fmt.Fprint(a.Out, "Options:\n")
		f.VisitAll(func(x *flag.Flag) {
			if x.Usage != "" {
				fmt.Fprintf(a.Out, "  -%-22s %s\n", x.Name, x.Usage)
			}
		})
	}
	f.BoolVar(&a.noColor, "no-color", a.noColor, "no colours in the output")
	return f
}

// ParseArgs parses the options in args. If ok is false, the command must end with the exit code in code.
func (f *Flags) ParseArgs(args []string) (code int, ok bool) {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.help()
		return 0, false
	}
	if err != nil {
		return f.Refuse("Failed to parse command-line flags", "%s.%s \"lockstep %s -help\" lists the options", err, f.nearest(err), f.Name()), false
	}
	return 0, true
}

// nearest returns a sentence that says what to do instead of an unknown option: it suggests the most similar one. It
// returns "" if no option is similar, or if err is not about an unknown option.
func (f *Flags) nearest(err error) string {
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return ""
	}
	if name == "json" || name == "json-into" { // OpenTofu has them for nearly all commands
		if f.Lookup("json") != nil {
			return " Use -json, and redirect the output to a file."
		}
		return fmt.Sprintf(" The command %s writes text only. Leave out the option, and read the exit code.", f.Name())
	}
	best, least := "", 3 // the same limit as in HCL's suggestions
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

// streaming reports whether the options parsed so far ask for a stream of JSON messages.
func (f *Flags) streaming() bool { return f.stream != nil && *f.stream }

// Given reports whether the user gave the option with this name on the command line, whatever its value.
func (f *Flags) Given(name string) bool {
	found := false
	f.Visit(func(x *flag.Flag) { found = found || x.Name == name })
	return found
}

// Refuse reports an error in the command line with a summary: in the stream of JSON messages if the options ask
// for one, else as text. It returns the exit code.
func (f *Flags) Refuse(summary, format string, args ...any) int {
	ds := diags.FromError(summary, fmt.Errorf(format, args...))
	if !f.streaming() {
		return f.App.Show(ds)
	}
	f.App.View(true).Diagnostics(ds)
	return 1
}

// WrongArguments reports that a command has too few or too many arguments, and returns the exit code. hint
// shows the right arguments. If the cause is an option after the first argument, the message says so:
// options must come before the arguments.
func (f *Flags) WrongArguments(hint, format string, args ...any) int {
	for _, arg := range f.Args() {
		if strings.HasPrefix(arg, "-") && arg != "-" {
			return f.App.Usage(fmt.Sprintf("write options before the arguments: lockstep %s %s ...", f.Name(), arg), "the option %s comes after the arguments", arg)
		}
	}
	return f.App.Usage(hint, format, args...)
}

// NoArguments reports an error to the user if there are arguments that are not options. If ok is false, the
// command must end with the exit code in code.
func (f *Flags) NoArguments() (code int, ok bool) {
	if f.NArg() == 0 {
		return 0, true
	}
	return f.Refuse(TooMany, "The command %s takes no arguments. To work in another directory, use -chdir.", f.Name()), false
}

const TooMany = "Too many command line arguments"
