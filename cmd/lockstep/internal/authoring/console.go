package authoring

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/term"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/funcs"
	"github.com/lockstep-iac/lockstep/engine/parsing"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var Console = cli.Command{Name: "console", Synopsis: "Evaluate expressions interactively", Run: func(a *cli.App, args []string) int {
	var vars cli.VarFlags
	var paths workdir.LocalPaths
	var planned bool
	var scope string
	f := a.NewFlags("console", "console [OPTIONS]")
	f.Vars(&vars)
	f.StringVar(&paths.State, "state", "", "the state file of the local backend")
	f.BoolVar(&planned, "plan", false, "evaluate with the planned values of a new plan")
	f.StringVar(&scope, "scope", "", "evaluate in this module instance: -scope='module.NAME[KEY]'")
	f.ShowSensitive()
	f.CompactWarnings()
	// OpenTofu's console locks the state. This one only reads it, so it accepts these options and does nothing.
	f.Bool("lock", true, "")
	f.Duration("lock-timeout", 0, "")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() > 0 {
		return f.Refuse(cli.TooMany, "The command console takes no arguments. It reads expressions from standard input.")
	}
	op := opening.New(a)
	defer op.Close()
	c, ds := newConsole(op, vars, paths, planned)
	if c != nil {
		ds = append(ds, c.enter(scope)...)
	}
	if code := a.Show(ds); c == nil || c.nowhere {
		return code
	}
	if file, ok := a.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return c.interact(file)
	}
	return c.pipe(a.In)
}}

// A console evaluates expressions that a user types.
type console struct {
	a    *cli.App
	eval *eval.Evaluator
	run  engine.Run
	in   addrs.ModuleInstance // whose names expressions refer to
	// nowhere is set if the module instance in which the user wants to evaluate expressions does not exist.
	nowhere bool
}

// enter selects the module instance in which the console evaluates expressions. "" is the root module.
func (c *console) enter(scope string) diags.Diagnostics {
	if scope == "" {
		return nil
	}
	const summary = "Module instance does not exist"
	c.nowhere = true
	in, err := addrs.ParseModuleInstance(scope)
	if err != nil {
		return diags.Errorf(nil, "Invalid -scope", "%q is not the address of a module instance: %s. Write -scope='module.NAME' or -scope='module.NAME[KEY]'.", scope, err)
	}
	m := c.run.Config.Modules[in.Module()]
	if m == nil {
		return diags.Errorf(nil, summary, "The configuration has no %s. Run \"lockstep modules\" to list the modules that there are.", in.Module())
	}
	instances, ds := c.eval.Modules(m)
	if ds.HasErrors() {
		return ds
	}
	if !slices.Contains(instances, in) {
		return append(ds, diags.Errorf(nil, summary, "%s has no instance %s. %s", in.Module(), in, theseAre(instances))...)
	}
	c.in, c.nowhere = in, false
	return ds
}

// theseAre returns a sentence that lists some of the module instances, for an error message.
func theseAre(list []addrs.ModuleInstance) string {
	const shown = 10
	var names []string
	for _, m := range list[:min(len(list), shown)] {
		names = append(names, m.String())
	}
	switch {
	case len(names) == 0:
		return "It has none now: see its count or for_each."
	case len(list) > shown:
		names = append(names, "...")
	}
	return "Use one of these: " + strings.Join(names, ", ") + "."
}

// newConsole opens the configuration, the state and the providers. It does not lock the state, because the
// console writes nothing. A directory without a configuration is accepted. If planned is set, newConsole makes
// a plan, and expressions have the values after that plan. An error in the plan leaves some values unknown. The
// result is nil only if no expression can be evaluated at all.
func newConsole(o *opening.Operation, given cli.VarFlags, paths workdir.LocalPaths, planned bool) (*console, diags.Diagnostics) {
	ds := o.OpenAll(paths)
	if ds.HasErrors() {
		return nil, ds
	}
	var more diags.Diagnostics
	if o.Variables, more = collectSet(o.App, o.Dir, o.Config, given); more.HasErrors() {
		return nil, append(ds, more...)
	}
	run := o.Run()
	run.WorkingDir, run.BaseDir = o.App.StartDir(), o.Dir.WorkingDir()
	ev, _, more := engine.Evaluator(o.App.Ctx, run, o.State.Current)
	if planned && !more.HasErrors() {
		plan, problems := engine.Plan(o.App.Ctx, run, o.State.Current, engine.PlanOptions{})
		if ds = append(ds, problems...); plan == nil {
			return nil, ds
		}
		ev, _, more = engine.PlannedEvaluator(o.App.Ctx, run, plan)
		if problems.HasErrors() {
			more = append(more, diags.Warningf(nil, "Due to the problems above, some expressions may produce unexpected results", "")...)
		}
	}
	if ds = append(ds, more...); more.HasErrors() {
		return nil, ds
	}
	return &console{a: o.App, eval: ev, run: run}, ds
}

// collectSet returns the values of the root variables. Variables without a value are missing in the result;
// unlike in a plan, that is not an error.
func collectSet(a *cli.App, d *workdir.Dir, cfg *config.Config, given cli.VarFlags) (map[string]cty.Value, diags.Diagnostics) {
	sources, ds := a.Sources(d, given)
	if ds.HasErrors() {
		return nil, ds
	}
	unset := map[string]bool{}
	for _, v := range inputs.Unset(cfg.Root.Content, sources) {
		unset[v.Range.String()] = true
	}
	vars, more := inputs.Values(cfg.Root.Content, sources)
	for _, d := range more {
		if d.Subject == nil || !unset[d.Subject.String()] {
			ds = append(ds, d)
		}
	}
	return vars, ds
}

// pipe evaluates each line of an input, and writes only the last result, as Terraform does. It stops at the
// first error.
func (c *console) pipe(r io.Reader) int {
	last := ""
	for lines := bufio.NewScanner(r); lines.Scan(); {
		text := strings.TrimSpace(lines.Text())
		if text == "exit" {
			return 0
		}
		result, ds := c.answer(text)
		if code := c.a.Show(ds); code != 0 {
			return code
		}
		last = result
	}
	fmt.Fprintln(c.a.Out, last)
	return 0
}

// interact reads expressions from a user until the end of input. While a bracket is open, an expression
// continues on the next line.
func (c *console) interact(file *os.File) int {
	old, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return c.pipe(file)
	}
	defer term.Restore(int(file.Fd()), old)
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, c.a.Out}, "> ")
	out, stderr := c.a.Out, c.a.Err
	c.a.Out, c.a.Err = screen, screen
	defer func() { c.a.Out, c.a.Err = out, stderr }()
	for text := ""; ; {
		line, err := screen.ReadLine()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return 0
			}
			return c.a.Show(diags.FromError("Error reading from the terminal", err))
		}
		if text += line; open(text) {
			text += "\n"
			screen.SetPrompt(": ")
			continue
		}
		screen.SetPrompt("> ")
		if strings.TrimSpace(text) == "exit" {
			return 0
		}
		result, ds := c.answer(strings.TrimSpace(text))
		if c.a.Show(ds) == 0 && result != "" {
			fmt.Fprintln(screen, result)
		}
		text = ""
	}
}

// open reports whether the text of an expression is incomplete: a bracket or a heredoc is not closed yet.
func open(text string) bool {
	tokens, _ := hclsyntax.LexExpression([]byte(text), consoleInput, hcl.InitialPos)
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOHeredoc,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCHeredoc,
			hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
	}
	return depth > 0
}

// consoleInput is the file name in the ranges of typed expressions.
const consoleInput = "<console-input>"

const consoleHelp = `The console evaluates expressions as they could stand in the root module: they may
refer to variables, locals, modules, and resources with the values that the state has.

Type an expression and press Enter to see its value. "exit", or Control-D, ends the console.`

// answer evaluates one expression, or runs one of the console's commands, such as "help".
func (c *console) answer(text string) (string, diags.Diagnostics) {
	switch text {
	case "":
		return "", nil
	case "help":
		return consoleHelp, nil
	}
	x, hs := parsing.Expression([]byte(text), consoleInput, hcl.InitialPos)
	c.a.Files[consoleInput] = &hcl.File{Bytes: []byte(text)}
	ds := diags.FromHCL(hs)
	if ds.HasErrors() {
		return "", ds
	}
	if ds = append(ds, engine.CheckTyped(c.a.Ctx, c.run, c.in.Module(), x)...); ds.HasErrors() {
		return "", ds
	}
	v, more := c.eval.Typed(x, eval.Scope{Module: c.in})
	if ds = append(ds, more...); ds.HasErrors() {
		if own := ds.Unreported(); own.HasErrors() {
			return "", own
		}
		return "", append(ds.Unreported(), c.eval.Diagnostics()...)
	}
	return c.text(v, ds)
}

// text returns a value in the form in which the console shows it.
func (c *console) text(v cty.Value, ds diags.Diagnostics) (string, diags.Diagnostics) {
	if bare, _ := v.Unmark(); bare.Type() == funcs.TypeType {
		if !bare.IsKnown() || bare.IsNull() {
			return "any", ds
		}
		return funcs.FormatType(*bare.EncapsulatedValue().(*cty.Type)), ds
	}
	if hasType(v.Type()) {
		return "", append(ds, diags.Errorf(nil, "Invalid use of type function",
			`The "type" function, which only the console has, cannot be part of an expression.`)...)
	}
	return c.a.Print().Value(v), ds
}

// hasType reports whether values of the type ty contain a result of the function "type".
func hasType(ty cty.Type) bool {
	switch {
	case ty == funcs.TypeType:
		return true
	case ty.IsCollectionType():
		return hasType(ty.ElementType())
	case ty.IsTupleType():
		for _, e := range ty.TupleElementTypes() {
			if hasType(e) {
				return true
			}
		}
	case ty.IsObjectType():
		for _, e := range ty.AttributeTypes() {
			if hasType(e) {
				return true
			}
		}
	}
	return false
}
