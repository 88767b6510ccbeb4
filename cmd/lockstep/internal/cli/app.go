// Package cli runs one command line. It has the global options and finds the command ([App]), and parses a
// command's options ([Flags]). It opens the working directory and its variables, asks the user questions, and
// writes the output, as text or as a stream of JSON messages ([View]).
//
// It knows no commands except `version` and the groups: the caller passes the table of commands. It does not
// know states, backends and plans, which package opening opens. Start at [App.Run].
package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/render"
)

// An App is one run of the command line. Set its exported fields before [App.Run].
type App struct {
	Streams
	keyboard
	Ctx      context.Context
	Environ  []string
	Chdir    string
	noColor  bool
	compact  bool                 // shows warnings by their headlines only
	single   bool                 // shows each warning, rather than one of those with the same headline
	oneError bool                 // shows one of several errors with the same headline
	warnOf   modulesOf            // the modules whose warnings about deprecated parts are shown
	secrets  bool                 // shows sensitive values
	concise  bool                 // shows no progress
	jsonInto io.WriteCloser       // takes a stream of messages, beside the text; nil: nothing does
	Files    map[string]*hcl.File // sources for snippets
	printer  *render.Printer
	printing sync.Once       // sets printer
	Hurry    <-chan struct{} // closed when actions in progress must stop
	Vars     *VarFlags       // of the command; nil if it has none
	warned   bool            // whether warnings about the CLI configuration were shown
	Logs     logs
	Version  string // Lockstep's own
	Commands Table
	Budget   *budget.Budget
	stream   atomic.Pointer[jsonView] // of -json; nil: text is for people
	crash    []func()                 // see OnCrash
}

func New(ctx context.Context, s Streams, environ []string) *App {
	typed := keyboard{ctx: ctx, in: s.In, out: s.Out, lines: bufio.NewReader(s.In)}
	a := &App{Streams: s, keyboard: typed, Ctx: ctx, Environ: environ, Chdir: ".", Files: map[string]*hcl.File{}, Budget: budget.Generous()}
	a.Budget.Watch(ctx, engine.StepsToEnd)
	return a
}

// Run finds the command that args name and runs it. It returns the exit code of the process.
func (a *App) Run(args []string) int {
	if line := a.Getenv("COMP_LINE"); line != "" {
		a.complete(line)
		return 0
	}
	if _, err := language.Parse(a.Getenv(language.Variable)); err != nil {
		return a.Usage("correct the variable, or unset it", "the environment variable %s: %s", language.Variable, err)
	}
	a.Logs = a.openLogs()
	a.Logs.begin(a.Language(), a.Version, args)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, _ := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		switch name {
		case "chdir":
			a.Chdir = value
			if info, err := os.Stat(value); err != nil || !info.IsDir() {
				return a.Usage("name an existing directory: lockstep -chdir=DIR COMMAND", "the directory %s of -chdir does not exist", value)
			}
		case "help", "h":
			a.Commands.help(a.Out)
			return 0
		case "version", "v":
			return Version.Run(a, nil)
		default:
			return a.Usage("write the options of a command after its name: lockstep COMMAND -"+name, "there is no global option -%s", name)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		a.Commands.help(a.Out)
		return 127
	}
	for n := min(len(args), 3); n > 0; n-- {
		name := strings.Join(args[:n], " ")
		for _, c := range a.Commands {
			if c.Name == name || c.Alias == name {
				if name := a.misspelt(c, args[n:]); name != "" {
					return a.noCommand(name)
				}
				return a.runCommand(c, args[n:])
			}
		}
	}
	if args[0] == "help" {
		a.Commands.help(a.Out)
		return 0
	}
	return a.noCommand(args[0])
}

// noCommand reports that a command does not exist, and suggests the nearest one.
func (a *App) noCommand(name string) int {
	hint := "run `lockstep -help` for all commands"
	if meant := a.Commands.nearest(name); meant != "" {
		hint = fmt.Sprintf("did you mean `lockstep %s`? Run `lockstep -help` for all commands", meant)
	}
	return a.Usage(hint, "there is no command %q", name)
}

// misspelt returns the command that was typed, such as "deploy doctr", if its last word looks like a misspelt
// command of the group c; otherwise "".
func (a *App) misspelt(c Command, args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], "./[=") {
		return ""
	}
	name := c.Name + " " + args[0]
	if strings.HasPrefix(a.Commands.nearest(name), c.Name+" ") {
		return name
	}
	return ""
}

// OnCrash adds a function that is called if the command panics. Functions added later are called first.
func (a *App) OnCrash(f func()) { a.crash = append(a.crash, f) }

// runCommand runs a command with its arguments and the options from the environment.
func (a *App) runCommand(c Command, args []string) int {
	args, err := a.withEnvironment(c.Name, args)
	if err != nil {
		return a.Usage("correct the variable, or unset it", "%s", err)
	}
	ended := false
	defer func() {
		if ended {
			return
		}
		for _, f := range slices.Backward(a.crash) {
			f()
		}
	}()
	code := c.Run(a, a.withoutLooks(args))
	ended = true
	return code
}

// withoutLooks applies the options about colours and similar looks of the output, which every command has, and
// returns the arguments without them. Unlike other options, these may come after a command's arguments.
func (a *App) withoutLooks(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		switch arg {
		case "-no-color":
			a.noColor = true
		case "-compact-warnings":
			a.compact = true
		case "-consolidate-errors", "-consolidate-errors=true":
			a.oneError = true
		case "-consolidate-errors=false":
			a.oneError = false
		case "-consolidate-warnings", "-consolidate-warnings=true":
			a.single = false
		case "-consolidate-warnings=false":
			a.single = true
		case "-deprecation=module:all":
			a.warnOf = allModules
		case "-deprecation=module:local":
			a.warnOf = localModules
		case "-deprecation=module:none":
			a.warnOf = noModules
		default:
			return false
		}
		return true
	})
}

// Usage reports an error in the command line, and returns the exit code. hint says how to fix it; "" if the
// error already does.
func (a *App) Usage(hint, format string, args ...any) int {
	err := fmt.Errorf(format, args...)
	if hint != "" {
		err = Hinted(err, "%s", hint)
	}
	return a.Failed(err)
}

// Getenv returns an environment variable; "" if it is not set.
func (a *App) Getenv(name string) string {
	for _, kv := range slices.Backward(a.Environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// InAutomation reports whether a program reads the output. Suggestions of the next command are then left out.
func (a *App) InAutomation() bool { return a.Getenv("TF_IN_AUTOMATION") != "" }

// Streams are the input and the outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}
