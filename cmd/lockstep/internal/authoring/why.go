package authoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/opening"
	"github.com/lockstep-iac/lockstep/engine/causes"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/render"
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
	plan, op, ds := openSaved(a, planned)
	defer op.Close()
	if ds.HasErrors() {
		return a.Show(ds)
	}
	all, err := opening.Causes(op, plan, given, since)
	if err != nil {
		return a.Show(diags.FromError("The changed lines cannot be read", err))
	}
	found, ds := causesAt(all, f.Arg(0))
	if ds.HasErrors() {
		return a.Show(ds)
	}
	w := whyWriter{a: a, since: since}
	if asJSON {
		data, err := json.MarshalIndent(render.Causes(found), "", "  ")
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
		name := c.Object()
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
		if c.Object() != object {
			continue
		}
		name := c.AttributeName()
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
	text := []rune(cli.Plain(strings.TrimSpace(line)))
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
	fmt.Fprintf(&b, "%s: %s\n", found[0].Object(), action)
	last := "\x00"
	for _, c := range found {
		if name := c.AttributeName(); name != last {
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
