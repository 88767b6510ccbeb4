package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/term"

	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

// A command is one sub-command. Commands of two words have a space in their name.
type command struct {
	name     string
	synopsis string
	main     bool // listed first
	run      func(a *app, args []string) int
}

// app is one invocation: where it reads and writes, and in which directory it works.
type app struct {
	streams
	ctx      context.Context
	environ  []string
	chdir    string
	noColor  bool
	compact  bool                 // warnings are shown by their headlines
	files    map[string]*hcl.File // sources for snippets
	printer  *render.Printer
	printing sync.Once       // sets printer
	hurry    <-chan struct{} // closed when what is under way is to be given up
	lines    *bufio.Reader   // what a person types
	vars     *varFlags       // of the command; nil if it has none
	warned   bool            // of the CLI configuration
	logs     logs
	budget   *budget.Budget
}

func newApp(ctx context.Context, s streams, environ []string) *app {
	a := &app{streams: s, ctx: ctx, environ: environ, chdir: ".", files: map[string]*hcl.File{}, budget: budget.Generous()}
	a.budget.Watch(ctx, engine.StepsToEnd)
	return a
}

// run finds the sub-command and runs it.
func (a *app) run(args []string) int {
	a.logs = a.openLogs()
	a.logs.begin(args)
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, _ := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		switch name {
		case "chdir":
			a.chdir = value
			if info, err := os.Stat(value); err != nil || !info.IsDir() {
				return a.usage("-chdir=%s: there is no such directory", value)
			}
		case "help", "h":
			a.help(a.out)
			return 0
		case "version", "v":
			return versionCommand.run(a, nil)
		default:
			return a.usage("there is no global option -%s; the options of a command stand behind its name", name)
		}
		args = args[1:]
	}
	if len(args) == 0 {
		a.help(a.out)
		return 127
	}
	for n := min(len(args), 3); n > 0; n-- {
		name := strings.Join(args[:n], " ")
		for _, c := range commands() {
			if c.name == name {
				return a.runCommand(c, args[n:])
			}
		}
	}
	if args[0] == "help" {
		a.help(a.out)
		return 0
	}
	return a.usage("there is no command %q%s; `lockstep -help` lists them", args[0], suggest(args[0]))
}

// runCommand runs a command with the options that the environment adds.
func (a *app) runCommand(c command, args []string) int {
	args, err := a.withEnvironment(c.name, args)
	if err != nil {
		return a.usage("%s", err)
	}
	return c.run(a, a.withoutLooks(args))
}

// withoutLooks takes note of the options about how a command looks, which every command
// has, and which may stand behind its arguments, too. It returns the others.
func (a *app) withoutLooks(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		switch arg {
		case "-no-color":
			a.noColor = true
		case "-compact-warnings":
			a.compact = true
		default:
			return false
		}
		return true
	})
}

// usage reports a command line that cannot be understood.
func (a *app) usage(format string, args ...any) int {
	fmt.Fprintf(a.err, "lockstep: error: %s\n", fmt.Sprintf(format, args...))
	return 1
}

// help lists the commands.
func (a *app) help(w io.Writer) {
	fmt.Fprint(w, "Usage: lockstep [-chdir=DIR] COMMAND [OPTIONS]\n\nMain commands:\n")
	list := commands()
	for _, main := range []bool{true, false} {
		if !main {
			fmt.Fprint(w, "\nAll other commands:\n")
		}
		for _, c := range list {
			if c.main == main {
				fmt.Fprintf(w, "  %-18s %s\n", c.name, c.synopsis)
			}
		}
	}
	fmt.Fprint(w, "\nGlobal options (before the command):\n  -chdir=DIR         work in another directory\n  -help              this text; behind a command, that command's options\n  -version           an alias for the version command\n")
}

// suggest returns a hint at the command that was probably meant.
func suggest(name string) string {
	for _, c := range commands() {
		if strings.HasPrefix(c.name, name) || strings.HasPrefix(name, c.name) {
			return fmt.Sprintf(" (did you mean %q?)", c.name)
		}
	}
	return ""
}

// dir opens the working directory. What is wrong with the CLI configuration is no part of what
// a command says: it is written to the standard error, once, and the command goes on with the rest of
// that configuration, as in the stock tool.
func (a *app) dir() (*workdir.Dir, diags.Diagnostics) {
	d, wrong := workdir.Open(a.chdir, a.environ)
	if !a.warned && a.show(wrong) != 0 {
		fmt.Fprint(a.err, "\nAs a result of the above problems, Lockstep may not behave as intended.\n")
	}
	a.warned = true
	var ds diags.Diagnostics
	if a.getenv("TF_ENCRYPTION") != "" {
		ds = append(ds, diags.Errorf(nil, "State encryption is not supported",
			"The environment variable TF_ENCRYPTION says how OpenTofu encrypts states and plans. Lockstep writes them as they are, and reads no others: unset the variable if that is meant.")...)
	}
	d.Budget = a.budget
	d.Sources = func() []config.VariableSource {
		var given varFlags
		if a.vars != nil {
			given = *a.vars
		}
		sources, _ := a.sources(d, given) // what is wrong with them is said when all are collected
		return sources
	}
	d.Note = func(s string) { fmt.Fprintf(a.err, "lockstep: note: %s\n", s) }
	return d, ds
}

// startDir returns the directory that the program was started in, which path.cwd
// names whatever -chdir says.
func (a *app) startDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return a.chdir
	}
	return dir
}

// getenv returns a variable of the environment.
func (a *app) getenv(name string) string {
	for _, kv := range slices.Backward(a.environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// inAutomation reports whether nobody reads hints about what to type next.
func (a *app) inAutomation() bool { return a.getenv("TF_IN_AUTOMATION") != "" }

// print returns the printer for people: with colours on a terminal only.
func (a *app) print() *render.Printer {
	a.printing.Do(func() { // the first to print may be one of many at the same time
		a.printer = &render.Printer{Color: !a.noColor && a.getenv("NO_COLOR") == "" && isTerminal(a.out), Width: width(a.out)}
	})
	return a.printer
}

// sourcesOf returns the files that diagnostics point at, with those that are no part of
// the configuration, such as the lock file or the CLI configuration.
func (a *app) sourcesOf(ds diags.Diagnostics) map[string]*hcl.File {
	for _, d := range ds {
		if d.Subject == nil || a.files[d.Subject.Filename] != nil {
			continue
		}
		if src, err := os.ReadFile(d.Subject.Filename); err == nil {
			a.files[d.Subject.Filename] = &hcl.File{Bytes: src}
		}
	}
	return a.files
}

// show writes diagnostics: all to standard error, and returns 1 if there are errors.
func (a *app) show(ds diags.Diagnostics) int {
	return a.showTo(a.err, ds)
}

// tell is show for commands whose standard output is for people: warnings are part of it.
func (a *app) tell(ds diags.Diagnostics) int { return a.showTo(a.out, ds) }

// showTo writes warnings to w, and errors to the standard error.
func (a *app) showTo(w io.Writer, ds diags.Diagnostics) int {
	a.write(w, ds)
	if ds.HasErrors() {
		return 1
	}
	return 0
}

// write writes warnings to w, and errors to the standard error, by severity and place. Warnings under
// one headline are written once.
func (a *app) write(w io.Writer, ds diags.Diagnostics) {
	ds = ds.Sorted()
	files := a.sourcesOf(ds)
	groups := render.GroupWarnings(ds)
	if a.compact && !ds.HasErrors() {
		io.WriteString(w, a.print().Headlines(groups))
		return
	}
	for _, g := range groups {
		to := a.err
		if g.Severity == diags.Warning {
			to = w
		}
		io.WriteString(to, a.print().Diagnostic(g.Full(), files))
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width returns the width of a terminal, or 78.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 78
}

// paths is path for a list.
func (a *app) paths(list []string) []string {
	var out []string
	for _, p := range list {
		out = append(out, a.path(p))
	}
	return out
}

// path returns a path of the command line as seen from the process' directory.
func (a *app) path(p string) string {
	if filepath.IsAbs(p) || a.chdir == "." {
		return p
	}
	return filepath.Join(a.chdir, p)
}
