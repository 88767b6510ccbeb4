package operation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/journaling"
	"github.com/lockstep-iac/lockstep/engine/plans"
	"github.com/lockstep-iac/lockstep/engine/states"
	"github.com/lockstep-iac/lockstep/engine/states/statefile"
	"github.com/lockstep-iac/lockstep/statebackend"
	"github.com/lockstep-iac/lockstep/statebackend/journal"
)

// A Recovery is the result of recovering a state from the journal of an apply that crashed.
type Recovery struct {
	// Unresolved are creations of objects and invocations of actions whose results nobody knows.
	Unresolved []journaling.Open
	// Folded is set if the recovery has added objects to the state that only the journal had. Read are the
	// updates and deletions that were in progress at the crash. The next refresh reads their objects.
	Folded bool
	Read   []journaling.Open
	// Living is the run that is applying now, if this operation has no lock; nil if none is known. The calls in
	// UnderWay are then calls of that run, and no problem.
	Living   *Living
	UnderWay []journaling.Open
	// Conflicts are objects that were changed by the apply and also by somebody else. A person must decide
	// about them.
	Conflicts []journaling.Conflict
}

// logOf returns the log in which the journal is stored; nil if the operation keeps no journal.
func (o *Operation) logOf() statebackend.Log {
	w, ok := o.State.Workspace.(statebackend.Journaled)
	if !ok || !o.Journaled {
		return nil
	}
	return w.Journal()
}

// recover adds the results in the journal of a crashed apply to the state. If this operation has locked the
// state, recover also stores the state, and keeps only those records of the journal about which a person must
// decide. Without the lock, it writes nothing. If the journal cannot be understood, recover returns an error,
// and the caller must not write the state.
func (o *Operation) recover(ctx context.Context, locked bool) diags.Diagnostics {
	o.Recovery, o.Begun, o.left, o.history = Recovery{}, nil, nil, nil // an earlier opening may have found another
	log := o.logOf()
	if log == nil {
		return nil
	}
	defer log.Close()
	records, living, err := o.records(ctx, log, locked)
	if errors.Is(err, statebackend.ErrDenied) {
		return nil // if nobody may read a journal, none was written with these rights
	}
	if err != nil {
		return unusable(log, locked, err)
	}
	if len(records) == 0 && !o.State.Holding().TookOver() {
		return nil
	}
	if ds, begun := o.findBegun(log, records, locked); begun || ds.HasErrors() {
		return ds
	}
	f, err := o.fold(linesOf(records), living)
	if err != nil {
		return unusable(log, locked, err)
	}
	if locked {
		err = o.store(ctx, log, f, linesOf(records))
	} else {
		o.left = linesOf(records)
		o.pretend(f)
	}
	switch {
	case errors.As(err, new(*foldError)):
		return unusable(log, locked, err)
	case err != nil:
		return diags.Errorf(nil, "Error recovering the state", "An earlier apply was interrupted. Lockstep could not store the state with its results: %s. Nothing is lost: the journal %s has the results. Run the command again.", err, log.Place())
	}
	return o.Recovery.diagnostics(o.State.Workspace.Place(), o.State.Current, locked)
}

// records reads the journal. Without the lock of the state, another process may still be writing it. living is
// then the run that was active when the records were read.
func (o *Operation) records(ctx context.Context, log statebackend.Log, locked bool) (records []journal.Record, living *Living, err error) {
	h, err := journal.Look(ctx, log)
	records = h.Records()
	if err == nil && locked {
		o.history = &h
	}
	for err == nil && !locked && len(records) > 0 {
		if living = livingIn(ctx, o.State.Workspace); living != nil {
			break
		}
		// The lock was checked after the records were read. The owner of the lock may have ended in the
		// meantime, or another run may have begun.
		before := len(records)
		records, err = journal.Read(ctx, log)
		if len(records) == before {
			break
		}
	}
	return records, living, err
}

// fold adds the results in the journal's records to the state of the operation, in memory only.
func (o *Operation) fold(lines [][]byte, living *Living) (journaling.Folded, error) {
	f, err := journaling.Fold(o.State.Current, o.State.Sum(), lines)
	if err != nil {
		return f, err
	}
	r := Recovery{Folded: f.Changed, Conflicts: f.Conflicts, Living: living}
	for _, open := range f.Open {
		switch {
		case living.has(open):
			r.UnderWay = append(r.UnderWay, open)
		case !open.Repeatable():
			r.Unresolved = append(r.Unresolved, open)
		default:
			r.Read = append(r.Read, open)
		}
	}
	r.Unresolved = ordered(r.Unresolved)
	o.Recovery = r
	if f.Changed {
		text, err := statefile.Write(f.State)
		if err != nil {
			return f, err
		}
		o.Opened.Version = strings.SplitN(o.Opened.Version, "+", 2)[0] + "+" + journaling.SHA256(text)[:16]
	}
	return f, nil
}

// A foldError reports a journal that cannot be understood.
type foldError struct{ error }

// pretend makes the results in a journal visible to this operation, which must not write the state.
func (o *Operation) pretend(f journaling.Folded) {
	if f.Changed {
		o.State.SetLineage(f.Lineage)
		o.State.Pretend(f.State)
	}
}

func linesOf(records []journal.Record) [][]byte {
	lines := make([][]byte, len(records))
	for i, r := range records {
		lines[i] = r.Line
	}
	return lines
}

// store saves the recovered state, and then reduces the journal. A crash before the save changes nothing. A
// crash after it leaves a journal whose results are already in the state. If an update or a deletion was in
// progress, the serial of the state always grows, so that no earlier plan can be applied.
//
// Before the save, store makes this process the writer of the journal, and reads the journal once more. The
// former writer may have lost its lock without noticing, and may have written until then. From now on, the
// former writer can only add late results, which the journal keeps.
func (o *Operation) store(ctx context.Context, log statebackend.Log, f journaling.Folded, lines [][]byte) error {
	r := o.Recovery
	found := func(c journaling.Conflict) bool { return c.New }
	if !o.State.Holding().TookOver() && !r.Folded && len(r.Read) == 0 && !slices.ContainsFunc(r.Conflicts, found) && len(r.kept()) > 0 {
		o.left = lines
		return nil
	}
	o.history = nil
	w, records, err := journal.Open(ctx, log, o.newRun())
	if errors.Is(err, statebackend.ErrDenied) && len(lines) == 0 {
		return nil // nobody with these rights writes there
	}
	if err != nil {
		return err
	}
	if fresh := linesOf(records); !slices.EqualFunc(fresh, lines, bytes.Equal) {
		if f, err = o.fold(fresh, nil); err != nil {
			return &foldError{err}
		}
		r = o.Recovery
	}
	if r.Folded || len(r.Read) > 0 {
		o.State.SetLineage(f.Lineage)
		o.State.BeforePut = saving(journaling.New("", w))
		defer func() { o.State.BeforePut = nil }()
		if err := o.State.Replace(context.WithoutCancel(ctx), o.State.Next(f.State)); err != nil {
			return err
		}
	}
	return o.keep(ctx, w, r)
}

// kept returns the records of a journal about which a person must decide.
func (r Recovery) kept() [][]byte {
	var lines [][]byte
	for _, open := range r.Unresolved {
		lines = append(lines, open.Record)
	}
	for _, c := range r.Conflicts {
		lines = append(lines, c.Record)
	}
	return lines
}

// keep rewrites a journal, so that it only contains the records about which a person must decide.
func (o *Operation) keep(ctx context.Context, w *journal.Writer, r Recovery) error {
	ctx = context.WithoutCancel(ctx)
	if o.left = r.kept(); len(o.left) > 0 {
		return w.Reset(ctx, o.left...)
	}
	return w.Finish(ctx)
}

// saving returns a function that is called before a state is stored. It records in the journal that this state
// will be stored. If that fails, the state is stored anyway, because it contains what the journal lacks. There
// is one exception: the state is not stored if another process has become the journal's writer, and this
// process has not begun anything.
func saving(j *journaling.Journal) func(context.Context, []byte) error {
	return func(ctx context.Context, data []byte) error {
		if err := j.Saving(ctx, data); errors.As(err, new(diags.Diagnostics)) {
			return err
		}
		return nil
	}
}

// Reinvoked returns an error for each action whose result is not known, and that the plan would invoke once
// more. A plan with targets, or one that destroys, does not leave out what is in [Recovery.Waiting]: the user
// has chosen the objects, but has not decided about their actions.
func (r Recovery) Reinvoked(p *plans.Plan) diags.Diagnostics {
	var ds diags.Diagnostics
	for _, inv := range p.Invocations {
		if inv.Event != "" && slices.ContainsFunc(r.Unresolved, func(x journaling.Open) bool {
			return x.IsInvocation() && x.Address == inv.Caller.String() && x.Event == string(inv.Event)
		}) {
			ds = append(ds, diags.Errorf(nil, "Action may have been invoked",
				"An earlier apply began to invoke %s actions of %s and did not record the end, and this plan would invoke them again. Run \"lockstep recover\" and decide about %[2]s, then plan again.", inv.Event, inv.Caller).At(inv.Caller.String())...)
		}
	}
	return ds.Distinct()
}

// Waiting returns the addresses that a plan leaves out, with everything that depends on them, until a person
// has decided:
//   - objects that may have been created;
//   - resource instances with an action that may have been invoked;
//   - objects on which a living run is working.
func (r Recovery) Waiting() []addrs.Target {
	var all []addrs.Target
	for _, u := range slices.Concat(r.Unresolved, r.UnderWay) {
		if t, err := addrs.ParseTarget(u.Address); err == nil {
			all = append(all, t)
		}
	}
	return all
}

// Settle records the decision of a person about objects and actions at the given addresses.
//   - A creation whose result is not known: the object does not exist, or a second one does no harm. The next
//     plan creates the object.
//   - A conflict: the state is right.
//   - An action whose result is not known: if again is set, the next plan invokes it once more. Otherwise it
//     counts as done.
//
// unknown are the addresses at which there is nothing to decide. If there are any, Settle records nothing.
func (o *Operation) Settle(ctx context.Context, again bool, addresses ...string) (unknown []string, err error) {
	left := o.Recovery
	before := left.Unresolved
	left.Unresolved, left.Conflicts = slices.Clone(left.Unresolved), slices.Clone(left.Conflicts)
	for _, address := range addresses {
		before := len(left.kept())
		left.Unresolved = slices.DeleteFunc(left.Unresolved, func(x journaling.Open) bool { return x.Address == address })
		left.Conflicts = slices.DeleteFunc(left.Conflicts, func(x journaling.Conflict) bool { return x.Address == address })
		if len(left.kept()) == before {
			unknown = append(unknown, address)
		}
	}
	if len(unknown) > 0 || len(addresses) == 0 {
		return unknown, nil
	}
	if !again {
		if st := withoutPending(o.State.Current, before, addresses); st != o.State.Current {
			if err := o.State.Replace(context.WithoutCancel(ctx), o.State.Next(st)); err != nil {
				return nil, err
			}
		}
	}
	log := o.logOf()
	defer log.Close()
	o.history = nil
	w, _, err := journal.Open(ctx, log, o.newRun())
	if err != nil {
		return nil, err
	}
	o.Recovery = left
	return nil, o.keep(ctx, w, left)
}

// withoutPending returns a state in which the actions at the given addresses no longer wait to be invoked.
// unresolved are all actions whose results are not known.
func withoutPending(s *states.State, unresolved []journaling.Open, addresses []string) *states.State {
	for _, open := range unresolved {
		action, err := addrs.ParseAction(open.Invokes)
		caller, callerErr := addrs.ParseAbsResourceInstance(open.Address)
		if !open.IsInvocation() || err != nil || callerErr != nil || !slices.Contains(addresses, open.Address) {
			continue
		}
		at := addrs.ResourceInstanceObject{Instance: caller}
		object := s.Object(at)
		list := object.PendingActions()
		i := slices.Index(list, states.PendingAction{Action: action.Resource.String(), Event: open.Event})
		if i < 0 {
			continue
		}
		e := s.Edit()
		e.SetObject(at, s.Resource(caller.AbsResource()).ProviderOf(caller.Resource.Key), object.WithPendingActions(slices.Delete(list, i, i+1)))
		s = e.State()
	}
	return s
}

// unusable returns the diagnostics for a journal that cannot be read or understood.
func unusable(log statebackend.Log, locked bool, err error) diags.Diagnostics {
	if errors.As(err, new(*statebackend.UnfitError)) {
		return diags.FromError("The server cannot store this state", err) // a state without its journal is wrong
	}
	var lineage *journaling.LineageError
	remedy := "Nothing was changed. If you have an undamaged copy of the journal, put it back. Otherwise compare the state with the real objects, import those that it lacks, and move the journal away."
	if errors.As(err, &lineage) {
		remedy = "Nothing was changed. The journal has the results of an interrupted apply to the state with the first lineage. Put that state back. If you know all objects of the journal, you can move the journal away instead."
	}
	var format *journal.FormatError
	var kind *journaling.KindError
	if errors.As(err, &format) || errors.As(err, &kind) {
		remedy = "Nothing was changed."
	}
	severity := diags.Errorf
	if !locked {
		severity = diags.Warningf
	}
	return severity(nil, "The journal beside the state cannot be used", "%s: %s. %s", log.Place(), err, remedy)
}

// diagnostics returns the warnings about a recovery. s is the state after it, place its address. locked is set
// if the operation has locked the state.
func (r Recovery) diagnostics(place string, s *states.State, locked bool) diags.Diagnostics {
	var ds diags.Diagnostics
	if r.Living != nil {
		text := fmt.Sprintf("The run %s of %s has been applying since %s. Lockstep reads its results so far from its journal, and does not store them.", r.Living.Run, r.Living.Who, r.Living.Since.UTC().Format(time.RFC3339))
		if len(r.UnderWay) > 0 {
			text += " These actions are in progress. Lockstep leaves out their objects, and everything that depends on them:\n" + list(r.UnderWay)
		}
		ds = append(ds, diags.Warningf(nil, "The state is being changed", "%s", text)...)
	} else if r.Folded || len(r.Read) > 0 {
		text := "An earlier apply was interrupted. Its results are now in the state."
		if !locked { // Without the lock, nobody knows whether the process with the journal still runs.
			text = "An earlier apply did not record its end: it is still running, or it was killed. Lockstep reads its results from its journal, and does not store them."
		}
		if len(r.Read) > 0 {
			text += " It was interrupted during these actions. The next refresh reads their objects:\n" + list(r.Read)
		}
		ds = append(ds, diags.Warningf(nil, "Recovered from an interrupted apply", "%s", text)...)
	}
	for _, c := range r.Conflicts {
		what := "changed"
		if c.Gone {
			what = "deleted"
		}
		ds = append(ds, diags.Warningf(nil, "Changed by another tool since",
			"%s was %s by an apply that was interrupted. Later somebody else wrote the state at %s with another object at this address, and Lockstep kept that object. Compare it with the real one. If the state is wrong, correct it with \"lockstep state rm\" and \"lockstep import\". Then run:\n  lockstep recover -forget %s", c.Address, what, place, quoted(c.Address))...)
	}
	return append(ds, doubtful(r.Unresolved, s)...)
}

func list(all []journaling.Open) string {
	var lines []string
	for _, x := range all {
		lines = append(lines, fmt.Sprintf("  - %s of %s, started at %s", x.Action, x.Address, x.Started.Format(time.RFC3339)))
	}
	return strings.Join(lines, "\n")
}
