package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/term"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/language"
	"github.com/lockstep-iac/lockstep/engine/render"
)

// Print returns the printer of text for people. It uses colours only on a terminal.
func (a *App) Print() *render.Printer {
	a.printing.Do(func() { // the first to print may be one of many at the same time
		a.printer = &render.Printer{Color: !a.noColor && a.Getenv("NO_COLOR") == "" && isTerminal(a.Out), Width: width(a.Out), ShowSensitive: a.secrets}
	})
	return a.printer
}

// SourcesOf returns the source files that diagnostics refer to, including files outside of the configuration,
// such as the lock file and the CLI configuration.
func (a *App) SourcesOf(ds diags.Diagnostics) map[string]*hcl.File {
	for _, d := range ds {
		if d.Subject == nil || a.Files[d.Subject.Filename] != nil {
			continue
		}
		if src, err := os.ReadFile(d.Subject.Filename); err == nil {
			a.Files[d.Subject.Filename] = &hcl.File{Bytes: src}
		}
	}
	return a.Files
}

// Show writes diagnostics to standard error, and returns the exit code: 1 if there are errors.
func (a *App) Show(ds diags.Diagnostics) int {
	return a.showTo(a.Err, ds)
}

// Tell is like Show, but writes warnings to standard output. It is for commands whose standard output is for
// people.
func (a *App) Tell(ds diags.Diagnostics) int { return a.showTo(a.Out, ds) }

// showTo writes warnings to w and errors to standard error, and returns the exit code.
func (a *App) showTo(w io.Writer, ds diags.Diagnostics) int {
	a.write(w, ds)
	if ds.HasErrors() {
		return 1
	}
	return 0
}

// write writes warnings to w and errors to standard error, sorted by severity and range. Warnings with the same
// summary are written once, unless an option says otherwise.
func (a *App) write(w io.Writer, ds diags.Diagnostics) {
	ds = a.wanted(ds).Sorted()
	files := a.SourcesOf(ds)
	var once []diags.Severity
	if !a.single {
		once = append(once, diags.Warning)
	}
	if a.oneError {
		once = append(once, diags.Error)
	}
	groups := render.Groups(ds, once...)
	if a.compact && !ds.HasErrors() {
		io.WriteString(w, a.Print().Headlines(groups))
		return
	}
	for _, g := range groups {
		to := a.Err
		if g.Severity == diags.Warning {
			to = w
		}
		io.WriteString(to, a.Print().Diagnostic(g.Full(), files))
	}
}

// wanted returns ds without the warnings about deprecated parts of modules that the option -deprecation leaves out. In
// an older version of the language, whose users expect the warnings of that Terraform, it also leaves out advice.
func (a *App) wanted(ds diags.Diagnostics) diags.Diagnostics {
	older := a.Language() != language.Newest
	if a.warnOf == allModules && !older {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), func(d diags.Diagnostic) bool {
		x, _ := d.Extra.(diags.Cause)
		return x.Deprecated && (a.warnOf == noModules || a.warnOf != allModules && x.Remote) || x.Advice && older
	})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width returns the width of a terminal in columns; 78 if w is not a terminal.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 78
}

// WriteJSON writes a JSON result to standard output, or reports err. It returns the exit code.
func (a *App) WriteJSON(data []byte, err error) int {
	if err != nil {
		return a.Failed(fmt.Errorf("the result cannot be shown: %w", err)) // Terraform prints no diagnostic either
	}
	a.Out.Write(append(data, '\n'))
	return 0
}
