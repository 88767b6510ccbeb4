package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/config"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/plans/counting"
	"github.com/lockstep-iac/lockstep/engine/render/formats"
	"github.com/lockstep-iac/lockstep/engine/render/internal/difference"
	"github.com/lockstep-iac/lockstep/engine/schema"
)

// Plan writes a plan for people: the drift, the change of each object, the counts, and the changes of
// outputs. For an errored plan it writes that the plan is incomplete.
func (p *Printer) Plan(w io.Writer, plan *plans.Plan, cfg *config.Config, schemas formats.Schemas) {
	t := planText{p: p, w: w, plan: plan, schemas: schemas, triggered: plan.Triggered()}
	if text := affectedText(plan.Affected); text != "" {
		defer func() { t.prose(visible(text)) }()
	}
	drifted := t.drift()
	changes := shown(plan.Changes)
	outputs, actions := t.outputs(), t.separate(changes)
	if len(changes) == 0 && len(outputs) == 0 && len(actions) == 0 {
		t.nothing(drifted)
		return
	}
	if drifted {
		t.rule()
	}
	if len(changes) > 0 {
		t.legend(changes)
		t.changes(changes)
	}
	if len(actions) > 0 {
		t.prose("Lockstep will invoke the following actions:")
		fmt.Fprintf(w, "\n%s\n", strings.Join(actions, "\n\n"))
		if len(changes) == 0 {
			fmt.Fprintf(w, "\n%s %s\n", p.in(bold, "Plan:"), countsText(plan.Counts()))
		}
	}
	if len(outputs) > 0 {
		fmt.Fprintf(w, "\n%s\n%s\n", "Changes to Outputs:", strings.Join(outputs, "\n"))
		if len(changes) == 0 && len(actions) == 0 {
			t.prose("Applying this plan saves these output values in the state. No real object changes.")
		}
	}
}

// planText writes the text of one plan.
type planText struct {
	p       *Printer
	w       io.Writer
	plan    *plans.Plan
	schemas formats.Schemas
	diff    bool // in the form of a diff block
	// triggered are the actions of the changes; nil: they are not shown.
	triggered map[addrs.AbsResourceInstance][]*plans.Invocation
}

// prose writes s as a paragraph, and breaks its lines between words.
func (t planText) prose(s string) { fmt.Fprintf(t.w, "\n%s\n", wrap(s, t.p.width())) }

func (t planText) headline(st style, word, rest string) {
	fmt.Fprintf(t.w, "\n%s%s\n", t.p.in(bold, t.p.in(st, word)), t.p.in(bold, rest))
}

func (t planText) rule() {
	fmt.Fprintf(t.w, "\n%s\n", t.p.in(gray, strings.Repeat("─", min(t.p.width(), defaultWidth)-1)))
}

// shown returns the changes to show. It leaves out no-ops, and data sources that are removed from the state.
func shown(list []*plans.ResourceChange) []*plans.ResourceChange {
	var out []*plans.ResourceChange
	for _, c := range list {
		switch {
		case c.Action == plans.NoOp && !moved(c) && c.Importing == nil:
		case c.Action == plans.Delete && c.Addr.Instance.Resource.Resource.Mode != addrs.Managed:
		default:
			out = append(out, c)
		}
	}
	return out
}

// moved reports whether an object has a new address.
func moved(c *plans.ResourceChange) bool {
	return c.PrevAddr != c.Addr.Instance && c.PrevAddr != (addrs.AbsResourceInstance{})
}

// legends explain the symbols of actions, in the order in which they are shown.
var legends = []struct {
	action plans.Action
	text   string
}{
	{plans.Create, "create"},
	{plans.Update, "update in-place"},
	{plans.Delete, "destroy"},
	{plans.DeleteThenCreate, "destroy and then create replacement"},
	{plans.CreateThenDelete, "create replacement and then destroy"},
	{plans.Read, "read (data resources)"},
	{plans.Forget, "forget, without destroying"},
}

func (t planText) legend(changes []*plans.ResourceChange) {
	used := map[plans.Action]bool{}
	for _, c := range changes {
		used[c.Action] = true
	}
	if len(used) == 1 && used[plans.NoOp] {
		return
	}
	t.prose("Lockstep has made the following execution plan. Resource actions are indicated with these symbols:")
	nw := nodeWriter{p: t.p}
	for _, l := range legends {
		if used[l.action] {
			fmt.Fprintf(t.w, "%s %s\n", nw.symbol(l.action), l.text)
		}
	}
}

func (t planText) changes(changes []*plans.ResourceChange) {
	if t.plan.Errored {
		t.prose("Lockstep planned the following actions, but then met an error:")
	} else {
		t.prose("Lockstep will perform the following actions:")
	}
	for _, c := range changes {
		fmt.Fprintf(t.w, "\n%s\n", t.change(c, false, nil))
	}
	fmt.Fprintf(t.w, "\n%s %s\n", t.p.in(bold, "Plan:"), countsText(t.plan.Counts()))
}

// countsText returns the numbers of objects that change and of actions to invoke. As in Terraform, objects to
// forget are not counted, since programs read this line.
func countsText(n counting.Counts) string { return objectsText(n) + actionsText(n) }

func objectsText(n counting.Counts) string {
	var parts []string
	if n.Import > 0 {
		parts = append(parts, fmt.Sprintf("%d to import", n.Import))
	}
	parts = append(parts, fmt.Sprintf("%d to add", n.Add), fmt.Sprintf("%d to change", n.Change), fmt.Sprintf("%d to destroy", n.Destroy))
	return strings.Join(parts, ", ") + "."
}

// change returns the text of one change, without a line feed at the end. If drift is set, the change has
// happened already, and the text is in the past tense; otherwise it is in the future tense.
func (t planText) change(c *plans.ResourceChange, drift bool, relevant *difference.PathSet) string {
	nw := nodeWriter{p: t.p, diff: t.diff}
	t.p.comment(&nw.b, c, drift)
	nw.line(0, c.Action, look{})
	nw.header(c.Addr.Instance.Resource.Resource)
	nw.node(difference.OfResource(c, t.schema(c), relevant), 0, look{all: c.Importing != nil})
	if !drift {
		t.invocations(&nw, c)
	}
	return nw.b.String()
}

func (t planText) schema(c *plans.ResourceChange) *schema.Schema {
	if c.Schema != nil {
		return c.Schema
	}
	return t.schemas.Resource(c.Provider.Provider, c.Addr.Instance.Resource.Resource)
}

// header writes the header of a resource block.
func (w *nodeWriter) header(r addrs.Resource) {
	word := "resource"
	if r.Mode != addrs.Managed {
		word = r.Mode.String()
	}
	fmt.Fprintf(&w.b, "%s %q %q ", word, r.Type, r.Name)
}

// outputs returns a text for each output that changes.
func (t planText) outputs() []string {
	var names, all []string
	var nodes []*difference.Node
	for _, o := range t.plan.Outputs {
		all = append(all, o.Name)
		n := difference.OfOutput(o)
		if n.Action != plans.NoOp {
			names, nodes = append(names, o.Name), append(nodes, n)
		}
	}
	width := widest(all, attributeName) // unchanged names count, too, as in the stock tool
	var out []string
	for i, n := range nodes {
		nw := nodeWriter{p: t.p, diff: t.diff}
		nw.notes(n, 0, look{})
		nw.line(0, n.Action, look{})
		nw.name(attributeName(names[i]), width)
		nw.node(n, 0, look{})
		out = append(out, nw.b.String())
	}
	return out
}

// drift writes those differences between objects and the state that matter for the plan. It reports whether
// there were any.
func (t planText) drift() bool {
	only := t.plan.Mode == plans.RefreshOnlyMode
	if !only && len(shown(t.plan.Changes)) == 0 && !slices.ContainsFunc(t.plan.Outputs, func(o *plans.OutputChange) bool { return o.Action != plans.NoOp }) {
		return false
	}
	list := t.drifts(only)
	if len(list) == 0 {
		return false
	}
	t.headline(cyan, "Note:", " Objects have changed outside of Terraform") // programs look for it
	if only {
		t.prose("These differ from the state:")
	} else {
		t.prose("These differ from the state, in ways that may have led to this plan:")
	}
	for _, text := range list {
		fmt.Fprintf(t.w, "\n%s\n", text)
	}
	if only {
		t.prose("This is a refresh-only plan: nothing is done to undo that. If it is as it should be, apply the plan to note it in the state; no object changes.")
	} else {
		t.prose("Unless the configuration was changed likewise, or ignores these attributes by ignore_changes, the plan below may undo or answer them.")
	}
	return true
}

// drifts returns the texts of the differences between objects and the state. If all is false, it returns only
// the differences that matter for the plan.
func (t planText) drifts(all bool) []string {
	relevant := map[addrs.AbsResourceInstance]*difference.PathSet{}
	for _, r := range t.plan.Relevant {
		if relevant[r.Resource] == nil {
			relevant[r.Resource] = &difference.PathSet{}
		}
		*relevant[r.Resource] = append(*relevant[r.Resource], r.Attribute)
	}
	if len(relevant) == 0 { // relevance is unknown: use the objects with an action
		for _, c := range t.plan.Changes {
			if c.Action != plans.NoOp {
				relevant[c.Addr.Instance] = &difference.PathSet{cty.Path{}}
			}
		}
	}
	var list []string
	for _, c := range t.plan.Drift {
		if text := t.drifted(c, all, relevant); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// drifted returns the text of a drift. If all is false, the result is "" for a drift without any relevant part.
func (t planText) drifted(c *plans.ResourceChange, all bool, relevant map[addrs.AbsResourceInstance]*difference.PathSet) string {
	if all {
		if c.Action == plans.NoOp && !moved(c) {
			return ""
		}
		return t.change(c, true, nil)
	}
	paths := relevant[c.Addr.Instance]
	if c.Action == plans.NoOp || paths == nil {
		return ""
	}
	if c.Action != plans.Delete && difference.OfResource(c, t.schema(c), paths).Action == plans.NoOp {
		return ""
	}
	return t.change(c, true, paths)
}

// undestroyed returns why a plan destroys nothing.
func (t planText) undestroyed() string {
	left := false
	if t.plan.PriorState != nil {
		for a := range t.plan.PriorState.Resources() {
			left = left || a.Resource.Mode == addrs.Managed
		}
	}
	switch {
	case !left:
		return "Nothing was created yet, or all of it is gone."
	case len(t.plan.Targets) == 1:
		return fmt.Sprintf("No managed object of the state matches -target=%s. Run \"lockstep state list\" for the addresses.", t.plan.Targets[0])
	case len(t.plan.Targets) > 1:
		return "No managed object of the state matches any -target. Run \"lockstep state list\" for the addresses."
	}
	return "The -exclude options leave out every object of the state. Remove some of the options."
}

// nothing writes that there is nothing to do. drifted is set if drift was written before. In a plan that only
// refreshes, the drift is all that there is to do, so nothing then writes no text.
func (t planText) nothing(drifted bool) {
	if drifted && t.plan.Mode == plans.RefreshOnlyMode {
		return // written already
	}
	if t.plan.Errored {
		t.headline(red, "Planning failed.", " An error ended it before anything was planned.")
		return
	}
	if len(t.plan.Waiting) > 0 {
		t.headline(yellow, "No changes", " besides creations of an earlier apply whose outcome is not known.")
		t.prose("\"lockstep recover\" lists them, and how to settle each.")
		return
	}
	switch t.plan.Mode {
	case plans.RefreshOnlyMode:
		t.headline(green, "No changes.", " Your infrastructure still matches the configuration.")
		t.prose("The real objects match the state.")
		if t.plan.Applyable {
			t.prose("Applying this plan updates only the state: it lacks identities by which providers tell objects apart.")
		}
	case plans.DestroyMode:
		t.headline(green, "No changes.", " No objects need to be destroyed.")
		t.prose(t.undestroyed())
	default:
		if !reads(t.plan) {
			t.headline(green, "No changes.", " The configuration matches the state.")
			return
		}
		t.headline(green, "No changes.", " Your infrastructure matches the configuration.")
		if t.plan.Applyable {
			t.prose("Applying this plan updates only the state, to match the real objects.")
		} else {
			t.prose("The real objects were compared with the configuration, and nothing needs to be done.")
		}
	}
}
