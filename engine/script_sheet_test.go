package engine_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/marks"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/schema"
	"github.com/lockstep-iac/lockstep/engine/states"
)

var errInterrupted = errors.New("interrupted")

// A sheet is what a step gives, written down. README.md in testdata/script says how.
type sheet struct {
	stage *stage
	shown map[string]bool
	lines []string

	applied bool // an apply was made, without errors
	effects int  // how many calls changed something
}

func (w *sheet) String() string {
	if len(w.lines) == 0 {
		return ""
	}
	return strings.Join(w.lines, "\n") + "\n"
}

func (w *sheet) heading(text string) { w.lines = append(w.lines, text) }

func (w *sheet) line(format string, args ...any) {
	w.lines = append(w.lines, "  "+fmt.Sprintf(format, args...))
}

// sections returns the lines below some of the headings.
func (w *sheet) sections(headings ...string) string {
	var out []string
	in := false
	for _, line := range w.lines {
		if !strings.HasPrefix(line, " ") {
			in = slices.Contains(headings, line)
		}
		if in {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// calls writes down what providers were called for.
func (w *sheet) calls() {
	for _, call := range w.stage.calls() {
		op, _, _ := strings.Cut(call, " ")
		if w.shown[op] {
			w.line("> %s", call)
		}
		if isEffect(call) {
			w.effects++
		}
	}
}

// theirWords are the diagnostics of which the detail is the user's or provider's.
var theirWords = []string{"condition failed", "assertion failed", "Invalid value for variable", "Asked to ", "provisioner error"}

func (w *sheet) diagnostics(ds diags.Diagnostics) {
	var lines []string
	for _, d := range ds {
		text := "Error: "
		if d.Severity == diags.Warning {
			text = "Warning: "
		}
		text += d.Summary
		for _, s := range theirWords {
			if strings.Contains(d.Summary, s) {
				first, _, _ := strings.Cut(d.Detail, "\n")
				text += ": " + first
				break
			}
		}
		if d.Subject != nil {
			text = fmt.Sprintf("%s:%d: %s", d.Subject.Filename, d.Subject.Start.Line, text)
		}
		if d.Address != "" {
			text += " (" + d.Address + ")"
		}
		lines = append(lines, text)
	}
	slices.Sort(lines)
	for _, text := range lines {
		w.line("! %s", text)
	}
}

// signs are the actions' marks; no-ops are left out.
var signs = map[plans.Action]string{
	plans.Create: "+", plans.Update: "~", plans.Delete: "-", plans.Read: "<=", plans.Forget: "forget",
	plans.DeleteThenCreate: "-/+", plans.CreateThenDelete: "+/-", plans.NoOp: "=",
}

// plan writes down a plan, and reports whether there is nothing to do. Drift is
// something to do for -refresh-only.
func (w *sheet) plan(p *plans.Plan) (empty bool) {
	if p == nil {
		return false
	}
	before := len(w.lines)
	for _, c := range p.Drift {
		w.change("drift "+signs[c.Action], c)
	}
	drift := len(w.lines)
	if p.Mode == plans.RefreshOnlyMode {
		drift = before
	}
	for _, c := range p.Changes {
		if c.Action != plans.NoOp || c.PrevAddr != c.Addr.Instance || c.Importing != nil {
			w.change(signs[c.Action], c)
		}
	}
	for _, x := range p.Invocations {
		w.invocation(x)
	}
	for _, o := range p.Outputs {
		if o.Action != plans.NoOp {
			w.line("output %s: %s -> %s", o.Name, show(o.Before), show(o.After))
		}
	}
	empty = len(w.lines) == drift
	for _, c := range p.Checks {
		if c.Status != "pass" {
			w.line("%s: %s", c.ConfigAddr, c.Status)
		}
	}
	if empty && !p.Errored {
		w.line("no changes")
	}
	return empty
}

func (w *sheet) change(sign string, c *plans.ResourceChange) {
	text := sign + " " + address(c.Addr)
	switch c.Action {
	case plans.Create, plans.Read:
		text += " " + attributes(c.After, c.Schema)
	case plans.Update, plans.DeleteThenCreate, plans.CreateThenDelete:
		text += " " + differences(c)
	}
	if c.PrevAddr != c.Addr.Instance {
		text += " from " + c.PrevAddr.String()
	}
	if c.Importing != nil {
		text += " import " + c.Importing.ID
	}
	if c.Reason != plans.ReasonNone {
		_, reason, ok := strings.Cut(string(c.Reason), "_because_")
		if !ok {
			_, reason, _ = strings.Cut(string(c.Reason), "_by_")
		}
		text += " (" + reason + ")"
	}
	w.line("%s", text)
}

func (w *sheet) invocation(x *plans.Invocation) {
	text := "invoke " + x.Addr.String() + " " + attributes(x.Config, x.Schema)
	if x.Event != "" {
		text += fmt.Sprintf(" %s of %s %d.%d", x.Event, x.Caller, x.Trigger, x.Index)
	} else if x.Caller != (addrs.AbsResourceInstance{}) {
		text += " for " + x.Caller.String()
	}
	if x.Event != "" && x.OnFailure != config.Halt {
		text += " or " + string(x.OnFailure)
	}
	if x.Pending {
		text += " (pending)"
	}
	w.line("%s", text)
}

// address leaves out the key of a deposed object, which is random.
func address(a addrs.ResourceInstanceObject) string {
	if a.Deposed != addrs.NotDeposed {
		return a.Instance.String() + " deposed"
	}
	return a.Instance.String()
}

// attributes shows an object without what is null or empty, and without what the
// provider chooses and has not chosen yet.
func attributes(v cty.Value, rs *schema.Schema) string {
	plain, _ := v.Unmark()
	attrs := plain.AsValueMap()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		x := attrs[name]
		if !hidden(x, name, rs) {
			out = append(out, name+"="+show(x))
		}
	}
	return "{" + strings.Join(out, " ") + "}"
}

func hidden(x cty.Value, name string, rs *schema.Schema) bool {
	x, _ = x.Unmark()
	switch {
	case x.IsNull():
		return true
	case !x.IsKnown():
		return rs.Block.Attributes[name] != nil && rs.Block.Attributes[name].Computed
	case x.CanIterateElements():
		return x.LengthInt() == 0 && rs.Block.Blocks[name] != nil
	}
	return false
}

// differences shows the attributes that change. "!" stands behind those that make
// a replacement necessary.
func differences(c *plans.ResourceChange) string {
	if c.After.IsNull() {
		return "gone"
	}
	before, after := c.Before.AsValueMap(), c.After.AsValueMap()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		x, y := before[name], after[name]
		if x.RawEquals(y) || !y.IsNull() && hidden(y, name, c.Schema) {
			continue
		}
		text := name + "=" + show(x) + "->" + show(y)
		for _, p := range c.RequiredReplace {
			if p[0].(cty.GetAttrStep).Name == name {
				text += "!"
				break
			}
		}
		out = append(out, text)
	}
	return "{" + strings.Join(out, " ") + "}"
}

// uuids are random, and shown as such.
var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// show prints a value on one line. "?" is an unknown one, "*" stands before what is
// sensitive, "^" before what is ephemeral.
func show(v cty.Value) string {
	prefix := ""
	if marks.Has(v, marks.Sensitive) {
		prefix += "*"
	}
	if marks.Has(v, marks.Ephemeral) {
		prefix += "^"
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return prefix + "?"
	case v.IsNull():
		return prefix + "null"
	case ty == cty.String:
		return prefix + uuids.ReplaceAllString(fmt.Sprintf("%q", v.AsString()), "<uuid>")
	case ty == cty.Number:
		return prefix + v.AsBigFloat().Text('g', -1)
	case ty == cty.Bool:
		return prefix + fmt.Sprint(v.True())
	case ty.IsObjectType() || ty.IsMapType():
		attrs := v.AsValueMap()
		var out []string
		for _, name := range slices.Sorted(maps.Keys(attrs)) {
			out = append(out, name+"="+show(attrs[name]))
		}
		return prefix + "{" + strings.Join(out, " ") + "}"
	}
	var out []string
	for it := v.ElementIterator(); it.Next(); {
		_, x := it.Element()
		out = append(out, show(x))
	}
	return prefix + "[" + strings.Join(out, " ") + "]"
}

func marked(v cty.Value, paths []cty.Path) cty.Value { return marks.At(v, marks.Sensitive, paths) }

// state writes down what the state holds, and where it differs from the world.
func (w *sheet) state() {
	w.heading("state")
	st := w.stage.state
	if st.IsEmpty() {
		w.line("empty")
	}
	var list []addrs.ResourceInstanceObject
	var empty []string
	for abs, r := range st.Resources() {
		if len(r.Instances) == 0 {
			empty = append(empty, abs.String()+" without instances")
		}
		for k, in := range r.Instances {
			if in.Current != nil {
				list = append(list, addrs.ResourceInstanceObject{Instance: abs.Instance(k)})
			}
			for d := range in.Deposed {
				list = append(list, addrs.ResourceInstanceObject{Instance: abs.Instance(k), Deposed: d})
			}
		}
	}
	known := objectsByID{}
	lines := map[string]string{}
	slices.SortFunc(list, func(a, b addrs.ResourceInstanceObject) int {
		if c := a.Instance.Compare(b.Instance); c != 0 {
			return c
		}
		if a.Deposed == addrs.NotDeposed || b.Deposed == addrs.NotDeposed {
			return strings.Compare(string(a.Deposed), string(b.Deposed))
		}
		return strings.Compare(w.object(a, known), w.object(b, known))
	})
	for _, a := range list {
		lines[a.String()] = w.object(a, known)
		w.line("%s", lines[a.String()])
	}
	slices.Sort(empty)
	for _, line := range empty {
		w.line("%s", line)
	}
	outputs := maps.Collect(st.Outputs())
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		v := outputs[name].Value
		if outputs[name].Sensitive {
			v = v.Mark(marks.Sensitive)
		}
		w.line("output %s = %s", name, show(v))
	}
	for _, c := range st.Checks {
		for _, o := range c.Objects {
			w.line("%s", strings.Join(append([]string{o.Addr + ": " + o.Status}, o.Failures...), ": "))
		}
	}
	w.world(known)
}

// object shows an object of the state, and notes that it is known.
func (w *sheet) object(a addrs.ResourceInstanceObject, known objectsByID) string {
	r := a.Instance.Resource.Resource
	o := w.stage.state.Object(a)
	v := w.stage.value(r, o)
	text := address(a) + " " + attributes(v, w.stage.schema(r))
	if r.Mode == addrs.Managed {
		if id := v.AsValueMap()["id"]; id.Type() == cty.String && !id.IsNull() {
			known.add(r.Type+" "+id.AsString(), a)
		}
	}
	if o.Status == states.Tainted {
		text += " tainted"
	}
	if o.CreateBeforeDestroy {
		text += " cbd"
	}
	for _, x := range o.PendingActions() {
		text += " owes " + x.Action + " " + x.Event
	}
	if pc := w.stage.state.Resource(a.Instance.AbsResource()).ProviderOf(a.Instance.Resource.Key); pc.Alias != "" || !pc.Module.IsRoot() {
		text += " by " + strings.TrimPrefix(pc.Module.String()+".", ".") + strings.Trim(pc.Provider.Type+"."+pc.Alias, ".") + pc.Key.String()
	}
	if deps := o.Dependencies.All(); len(deps) > 0 {
		text += " <-"
		for _, d := range deps {
			text += " " + d.String()
		}
	}
	return text
}

// objectsByID are the objects of a state, by their type and ID.
type objectsByID map[string]map[addrs.ResourceInstanceObject]bool

func (k objectsByID) add(key string, a addrs.ResourceInstanceObject) {
	if k[key] == nil {
		k[key] = map[addrs.ResourceInstanceObject]bool{}
	}
	k[key][a] = true
}

// world writes down what exists and is not in the state, and the other way round. Two objects of the state may be one in
// the world.
func (w *sheet) world(known objectsByID) {
	var lines []string
	exist := map[string]int{}
	for _, p := range w.stage.fakes {
		for _, text := range p.Objects() {
			key, _, _ := strings.Cut(text, " {")
			if exist[key]++; exist[key] > len(known[key]) {
				lines = append(lines, key+" exists, but is not in the state")
			}
		}
	}
	for key := range known {
		if exist[key] == 0 && !strings.HasPrefix(key, "terraform_") {
			lines = append(lines, key+" is in the state, but does not exist")
		}
	}
	slices.Sort(lines)
	for _, text := range lines {
		w.line("%s", text)
	}
}
