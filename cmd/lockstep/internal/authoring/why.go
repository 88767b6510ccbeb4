package authoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/config/inputs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/functions/pipeline/patches"
	"github.com/lockstep-iac/lockstep/functions/workdir"
)

var Why = cli.Command{Name: "why", Synopsis: "Show which lines of the configuration cause a planned change", Run: func(a *cli.App, args []string) int {
	var planned, since string
	var asJSON bool
	var given cli.VarFlags
	f := a.NewFlags("why", "why [OPTIONS] ADDRESS[.ATTRIBUTE]")
	f.Vars(&given)
	f.StringVar(&planned, "plan", "tfplan", "the saved plan, as \"lockstep plan -out=FILE\" writes it")
	f.StringVar(&since, "since", "", "show only lines that differ from the commit at which the branch left this one, such as origin/main")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	if code, ok := f.ParseArgs(args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return f.Refuse("Address is missing", "Give the command why the address of an object that the plan changes, with or without an attribute: \"lockstep why aws_instance.web.tags\".")
	}
	path := a.Path(planned)
	if _, err := os.Stat(path); err != nil {
		return a.Show(noSavedPlan(planned))
	}
	plan, op, ds := opening.OpenPlan(a, path, cli.LockFlags{}, workdir.LocalPaths{}, "")
	defer op.Close()
	if ds.HasErrors() {
		return a.Show(ds)
	}
	in := causes.Input{Config: op.Config, Plan: plan, Values: map[string]hcl.Expression{}}
	sources, _ := a.Sources(op.Dir, given) // the plan has the values; this finds their places
	values, _ := inputs.Collect(op.Config.Root.Content, sources)
	for name, v := range values {
		if v.Expr != nil && v.Range != nil {
			in.Values[name] = v.Expr
		}
	}
	for _, s := range sources {
		if s.File != nil {
			a.Files[s.FileName] = s.File
		}
	}
	if since != "" {
		var err error
		if in.Edits, err = editsSince(a, op.Dir.Path, since); err != nil {
			return a.Show(diags.FromError("The changed lines cannot be read", err))
		}
	}
	found, ds := causesAt(causes.Find(in), f.Arg(0))
	if ds.HasErrors() {
		return a.Show(ds)
	}
	w := whyWriter{a: a, since: since}
	if asJSON {
		data, err := json.MarshalIndent(w.data(found), "", "  ")
		return a.WriteJSON(data, err)
	}
	fmt.Fprint(a.Out, w.text(found))
	return 0
}}

// causesAt returns the causes of one object, or of one attribute of it. The error names the objects that the plan
// changes.
func causesAt(all []causes.Cause, address string) ([]causes.Cause, diags.Diagnostics) {
	object := "" // the longest address with which the argument begins
	var known []string
	for _, c := range all {
		name := objectOf(c)
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
		rest, is := strings.CutPrefix(address, name)
		if is && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(name) > len(object) {
			object = name
		}
	}
	if object == "" {
		nearest := diags.Suggest(address, slices.Values(known))
		if nearest == "" && len(known) > 0 {
			nearest = fmt.Sprintf(" It changes %s.", listed(known))
		}
		return nil, diags.Errorf(nil, "The plan does not change this object", "The plan has no change of %s.%s", address, nearest)
	}
	attribute := strings.TrimPrefix(strings.TrimPrefix(address, object), ".")
	var out []causes.Cause
	var attributes []string
	for _, c := range all {
		if objectOf(c) != object {
			continue
		}
		name := attributeOf(c)
		if name != "" && !slices.Contains(attributes, name) {
			attributes = append(attributes, name)
		}
		rest, is := strings.CutPrefix(name, attribute)
		if attribute == "" || is && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		text := "The plan changes no attribute of it that the configuration sets."
		if len(attributes) > 0 {
			text = fmt.Sprintf("The plan changes %s.", listed(attributes))
		}
		return nil, diags.Errorf(nil, "The plan does not change this attribute", "No line of the configuration changes %q of %s. %s", attribute, object, text)
	}
	return out, nil
}

func objectOf(c causes.Cause) string {
	if c.Change == nil {
		return "output." + c.Output.Name
	}
	return c.Change.Addr.String()
}

func attributeOf(c causes.Cause) string {
	return strings.TrimPrefix(schema.FormatPath(c.Attribute), ".")
}

// maxListed is the maximum number of names in an error.
const maxListed = 5

func listed(names []string) string {
	if len(names) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}

// maxLine is the maximum number of characters that are shown of a line.
const maxLine = 100

// oneLine returns a line of a file for a terminal: without the space around it and without control characters.
func oneLine(line string) string {
	text := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(line)))
	if len(text) > maxLine {
		return string(text[:maxLine]) + "..."
	}
	return string(text)
}

// uneditedTexts say why no line causes a change.
var uneditedTexts = map[causes.Reason]string{
	causes.Drifted:   "The object was changed outside of the configuration.",
	causes.Tainted:   "The object is marked as tainted.",
	causes.Requested: "The command that made the plan asks for the replacement.",
	causes.NotFound:  "No line of the configuration was found. The provider causes the change, or it was there before.",
	causes.TooMany:   "The configuration is too large for this search.",
}

// A whyWriter writes causes for people and for programs.
type whyWriter struct {
	a     *cli.App
	since string
}

// text returns the causes for people: for each attribute the references, and the place where they end.
func (w whyWriter) text(found []causes.Cause) string {
	var b strings.Builder
	action := plans.NoOp
	if c := found[0]; c.Change != nil {
		action = c.Change.Action
	} else {
		action = c.Output.Action
	}
	fmt.Fprintf(&b, "%s: %s\n", objectOf(found[0]), action)
	last := "\x00"
	for _, c := range found {
		if name := attributeOf(c); name != last {
			last = name
			if name != "" {
				fmt.Fprintf(&b, "\n%s%s\n", name, w.change(c))
			} else {
				b.WriteString("\n")
			}
		}
		if c.Unedited != causes.Edited {
			fmt.Fprintf(&b, "  %s\n", uneditedTexts[c.Unedited])
			continue
		}
		for _, s := range c.Steps {
			at := ""
			if s.Range.Filename != "" {
				at = fmt.Sprintf("%s:%d", s.Range.Filename, s.Range.Start.Line)
			}
			fmt.Fprintf(&b, "    %-28s %s\n", at, s.Name)
		}
		fmt.Fprintf(&b, "  > %-28s %s\n", place(c.Place), w.line(c))
	}
	return b.String()
}

func place(r hcl.Range) string {
	if r.End.Line > r.Start.Line {
		return fmt.Sprintf("%s:%d-%d", r.Filename, r.Start.Line, r.End.Line)
	}
	return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
}

// change returns the values of the attribute, as far as they are short.
func (w whyWriter) change(c causes.Cause) string {
	text := ""
	if before, after := render.Short(c.Before), render.Short(c.After); before != "" && after != "" {
		text = ": " + before + " -> " + after
	}
	if c.Replaces {
		text += " (forces replacement)"
	}
	return text
}

// line returns the first line of a place, without the space around it. A line that makes a sensitive value is not
// shown.
func (w whyWriter) line(c causes.Cause) string {
	if render.Short(c.Before) == render.ShortSensitive || render.Short(c.After) == render.ShortSensitive {
		return render.ShortSensitive
	}
	f := w.a.Files[c.Place.Filename]
	if f == nil {
		return ""
	}
	lines := bytes.Split(f.Bytes, []byte("\n"))
	if n := c.Place.Start.Line; n >= 1 && n <= len(lines) {
		return oneLine(string(lines[n-1]))
	}
	return ""
}

// A whyCause is a cause in JSON.
type whyCause struct {
	Object    string    `json:"object"`
	Action    string    `json:"action"`
	Attribute string    `json:"attribute,omitempty"`
	Replaces  bool      `json:"replaces,omitempty"`
	Steps     []whyStep `json:"steps,omitempty"`
	Place     *whyPlace `json:"place,omitempty"`
	Unedited  string    `json:"unedited,omitempty"`
}

type whyStep struct {
	Name  string    `json:"name"`
	Place *whyPlace `json:"place,omitempty"`
}

type whyPlace struct {
	File  string `json:"file"`
	First int    `json:"first_line"`
	Last  int    `json:"last_line"`
}

func placeOf(r hcl.Range) *whyPlace {
	if r.Filename == "" {
		return nil
	}
	return &whyPlace{r.Filename, r.Start.Line, r.End.Line}
}

func (w whyWriter) data(found []causes.Cause) []whyCause {
	out := []whyCause{}
	for _, c := range found {
		x := whyCause{Object: objectOf(c), Attribute: attributeOf(c), Replaces: c.Replaces, Place: placeOf(c.Place), Unedited: string(c.Unedited)}
		if c.Change != nil {
			x.Action = c.Change.Action.String()
		} else {
			x.Action = c.Output.Action.String()
		}
		for _, s := range c.Steps {
			x.Steps = append(x.Steps, whyStep{s.Name, placeOf(s.Range)})
		}
		out = append(out, x)
	}
	return out
}

// editsSince returns the lines of a working tree that differ from the commit at which the present branch left
// another one. dir is the root module's directory: file names are relative to it.
func editsSince(a *cli.App, dir, since string) (causes.Edits, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // git's paths have no links
	}
	if err != nil {
		return nil, err
	}
	git := func(args ...string) (string, error) {
		c := exec.CommandContext(a.Ctx, "git", args...)
		c.Dir = dir
		out, err := c.Output()
		var failed *exec.ExitError
		if err != nil && errors.As(err, &failed) {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
		}
		return string(out), err
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	top = strings.TrimSpace(top)
	base, err := git("merge-base", "--end-of-options", since, "HEAD")
	if err != nil {
		return nil, err
	}
	base = strings.TrimSpace(base)
	names, err := git("diff", "--name-only", "--no-renames", "-z", base, "--", ":/")
	if err != nil {
		return nil, err
	}
	fresh, err := git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", ":/")
	if err != nil {
		return nil, err
	}
	out := causes.Edits{}
	for name := range strings.SplitSeq(strings.TrimSuffix(names+fresh, "\x00"), "\x00") {
		if name == "" {
			continue
		}
		at := filepath.Join(top, filepath.FromSlash(name))
		content, err := os.ReadFile(at)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		text, err := git("diff", "--no-ext-diff", "--no-color", "--no-renames", base, "--", ":/"+name)
		if err != nil {
			return nil, err
		}
		_, hunks, changed := strings.Cut("\n"+text, "\n@@ ")
		f := patches.Place(strings.TrimSuffix("@@ "+hunks, "\n"), content)
		if !changed && len(content) > 0 { // git does not know the file yet
			lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
			f.Edits = []causes.Edit{{First: 1, Last: len(lines), Added: lines}}
		}
		relative, err := filepath.Rel(dir, at)
		if err != nil {
			return nil, err
		}
		out[filepath.ToSlash(relative)] = f.Edits
	}
	return out, nil
}
