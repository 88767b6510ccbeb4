// Package journaling turns the progress of an apply into records of a journal, and records back
// into a state: intent -> provider call -> outcome. It refuses to know where records are kept
// (a [Writer] makes them durable) and where the state is stored. Start with [Journal] for
// writing, [Fold] for recovering a state, and [Resume] for going on with a plan.
//
// # Records
//
//	begin    the name of the saved plan, the state that the run starts from, and the edits that lead from the stored state to
//	         the plan's prior state: moved addresses, refreshed objects
//	intent   a provider is about to create, update or delete an object
//	outcome  the call has been answered, and the edits that followed from it
//	edits    edits without a call: data that was read, objects that were forgotten
//	saving   a state with this SHA-256 is about to be stored
//	conflict an earlier folding has found one at this address, which nobody has settled
//
// An edit is absolute: this object, at this address, is now this, or gone. So edits can be
// applied twice, and to any state between the first and the last of them, as long as all are
// applied in order: any of the run's saves can be the one that a crash has left.
//
// # Folding
//
// A state whose SHA-256 is that of a begin or saving record is the run's own: all edits are
// applied. Any other was written by somebody else in between. Then each address is judged by
// itself: where the state has an object that the run has seen or made there, the run's last edit
// is applied; where it has another one, that one stays, and the address is a [Conflict].
//
// An intent without outcome is open, until a person settles it, which drops its record. The object of an update or a
// deletion is in the state, so that a refresh determines the outcome. The outcome of a creation
// only a person can determine: an object may exist that is in no state.
//
// # Going on
//
// A record may also have the values of impure expressions, such as uuid(), that were found since the
// last one. With them, and the data that was read, another process can go on with the plan: see
// [Progress]. Saves drop no records, so an apply of n changes writes n outcomes, however often it is
// saved, stopped and continued; only who recovers its state drops them.
//
// Objects, data and values may be secret: a journal is as secret as the state. Ephemeral values are in
// neither.
package journaling
