package applying

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/eval"
	"github.com/lockstep-iac/lockstep/engine/internal/session"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/provider"
)

/*
# A crash during a provider call

Only the provider's answer shows the outcome of a call, and only the state, written after the answer, keeps
it. A process that dies in between leaves an object that nobody knows of: it costs money, it blocks its name,
and the next plan creates another one. No order of call and save can prevent this, so each call stands between
two records in the journal:

	intent    durable before the call
	call      the provider acts
	edits     of the state, in memory and in the journal
	outcome   after all edits that follow from the call, and before any later intent

The next process finds one of these cases:

  - No intent: the provider was not called. The step begins from its start.
  - An intent without outcome: nobody knows how far the call came. An object that existed before can be read.
    After a creation there is no ID to read the object by, so a person has to look for it. The intent has the
    planned names for this search (see known).
  - An outcome: the step has ended, with or without errors, and the journal has the edits that follow from it.

If an answer never arrives, because the provider died, the second case is intended: an outcome would claim
something that nobody knows.

Objects of the built-in provider exist only in the state, so losing their records loses nothing. The journal
has these records like others, since a later intent may use the object's values. But no step waits until they
are on disk.
*/

// errUnjournaled is the cause of a stop when the journal cannot be written.
var errUnjournaled = errors.New("the journal could not be written")

// call is a provider call that changes an object, from its intent to its outcome.
type call struct {
	x    *object
	id   string // ID of the intent; "" without a journal
	resp provider.ApplyResponse
	ds   diags.Diagnostics // diagnostics of the provider
}

// impure keeps the values of expressions that could have other values the next time. Values kept by an
// earlier process stay.
type impure struct {
	journal  *journaling.Journal
	progress *journaling.Progress
	calls    func() int64
}

func (i impure) Value(name string) (cty.Value, bool) { return i.progress.Value(name) }

func (i impure) Keep(name string, v cty.Value) { i.journal.Keep(name, v) }

func (i impure) Calls() int64 { return i.calls() }

// impure returns the store that keeps the values of impure expressions in the journal. It returns nil if no
// other process can continue the apply: then nothing needs to be kept.
func (in *Input) impure() eval.Impure {
	if in.ImpureCalls == nil || in.Journal == nil && in.Progress == nil {
		return nil
	}
	return impure{in.Journal, in.Progress, in.ImpureCalls}
}

// effect calls a provider to change an object. All changes go through it. The intent is durable before the
// call; if it cannot be stored, the call is not made. A crash between here and [call.returned] leaves an open
// intent: the object may exist, or not, or partly. addr is the address of the object, and planned is the
// planned value with its marks.
func (x *object) effect(ctx context.Context, addr addrs.ResourceInstanceObject, action plans.Action, planned cty.Value, req provider.ApplyRequest) *call {
	// A stop never interrupts a call in progress: its effect would be unknown.
	ctx = context.WithoutCancel(ctx)
	in := journaling.Intent{
		Address: addr.Instance.String(), Deposed: string(addr.Deposed), Action: action.String(),
		Inner: x.c.Provider.Provider.IsBuiltin(),
	}
	if action == plans.Create && x.a.in.Journal != nil {
		in.Known = known(session.MarkSensitive(planned, x.rs, nil))
		x.a.mu.Lock()
		in.Deposes = string(x.a.deposedAs[x.c])
		x.a.mu.Unlock()
	}
	id, err := x.a.in.Journal.Intent(ctx, in)
	if err != nil {
		return &call{x: x, ds: unjournaled(x.a.record.stop, err)}
	}
	resp, ds := x.client.Apply(provider.WithInstance(ctx, addr.Instance), req)
	return &call{x, id, resp, x.a.s.Place(ds, x.r, x.rs, x.address())}
}

// returned makes the outcome durable, with the edits of the state that follow from it. more are errors about
// the answer. If the call was not answered, it records no outcome.
func (c *call) returned(ctx context.Context, more diags.Diagnostics) diags.Diagnostics {
	if c.inDoubt() {
		return nil
	}
	problem := problemOf(slices.Concat(c.ds, more))
	if err := c.x.a.in.Journal.Outcome(context.WithoutCancel(ctx), c.id, problem); err != nil {
		return unjournaled(c.x.a.record.stop, err)
	}
	return nil
}

// inDoubt reports whether the outcome of the call is unknown: it was not answered, or there is no journal.
func (c *call) inDoubt() bool { return c.id == "" || c.resp.Unanswered }

// problemOf returns the text of the errors among diagnostics; "" if there are none.
func problemOf(ds diags.Diagnostics) string {
	var texts []string
	for _, d := range ds {
		if d.Severity == diags.Error {
			texts = append(texts, strings.TrimSuffix(d.Summary+": "+d.Detail, ": "))
		}
	}
	return strings.Join(texts, "\n\n")
}

// unjournaled stops the apply after the error err of the journal, since nothing more may begin without a
// journal. It returns err as diagnostics that say what to do.
func unjournaled(stop context.CancelCauseFunc, err error) diags.Diagnostics {
	stop(errUnjournaled)
	if own := diags.Diagnostics(nil); errors.As(err, &own) {
		return own
	}
	return diags.Errorf(nil, "Failed to write the journal",
		"%s. Nothing more is begun, since a crash could lose objects then. Mend this, then plan again: all that was done is in the state, or reported.", err)
}

// Limits for a report on an object that may exist: number of attributes, and bytes of each.
const (
	mostKnown = 8
	longKnown = 80
)

// rank orders attributes: it is lower for attributes by which people recognize objects: name, bucket_name,
// name_prefix.
func rank(attribute string) int {
	if strings.Contains(attribute, "name") {
		return 0
	}
	return 1
}

// known returns planned attributes by which a person can find the object. Names come first. It returns only
// short texts and numbers, and nothing sensitive or unknown.
func known(planned cty.Value) map[string]string {
	if planned.IsMarked() || planned.IsNull() || !planned.Type().IsObjectType() {
		return nil
	}
	var names []string
	for name, t := range planned.Type().AttributeTypes() {
		if t == cty.String || t == cty.Number {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	out := make(map[string]string, min(mostKnown, len(names)))
	for _, name := range names {
		if len(out) == mostKnown {
			break
		}
		if v := planned.GetAttr(name); !v.IsMarked() && v.IsKnown() && !v.IsNull() {
			if text := textOf(v); text != "" && len(text) <= longKnown {
				out[name] = text
			}
		}
	}
	return out
}

// textOf returns a text or a number as text; "" for other values.
func textOf(v cty.Value) string {
	switch v.Type() {
	case cty.String:
		return v.AsString()
	case cty.Number:
		return v.AsBigFloat().Text('f', -1)
	}
	return ""
}
