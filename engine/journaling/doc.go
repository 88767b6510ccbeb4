// Package journaling turns the progress of an apply into records of a journal, and records back into a state.
// Each provider call has two records: an intent before the call, and its outcome. The package refuses to know
// where records are kept (a [Writer] makes them durable) and where the state is stored. Start with [Journal]
// for writing, with [Fold] for recovering a state, and with [Resume] for continuing a plan.
//
// # Records
//
//	begin    the name of the saved plan, the state that the run starts from, and the edits that lead from the stored state to
//	         the prior state of the plan: moved addresses, refreshed objects
//	intent   a provider is about to create, update or delete an object
//	outcome  the call has returned, with the edits that followed from it
//	edits    edits without a call: data that was read, objects that were forgotten
//	saving   a state with this SHA-256 is about to be stored
//	conflict an earlier recovery has found a conflict at this address, which nobody has settled
//
// An edit is absolute: it says that the object at an address is now this one, or that there is none. So edits
// can be applied twice. They can be applied to any state between the first and the last edit, as long as all
// are applied in order. After a crash the stored state may be any save of the run.
//
// # Folding
//
// If a begin or saving record has the SHA-256 of the stored state, the run began with this state or stored
// it, and all edits are applied. Otherwise somebody else has written the state in between. Then each address
// is judged by itself. If the state has an object there that the run has seen or made, the last edit of the
// run is applied. If the state has another object, it stays, and the address is a [Conflict].
//
// An intent without outcome is open, until a person settles it, which drops its record. For an update or a
// deletion, the object is in the state, so a refresh determines the outcome. Only a person can determine the
// outcome of a creation: there may be an object that is in no state.
//
// # Continuing a plan
//
// A record may also have values of impure expressions, such as uuid(), that were evaluated since the last
// record. With these values and the data that was read, another process can continue the plan: see
// [Progress]. Saves drop no records: an apply of n changes writes n outcomes, however often it is saved,
// stopped and continued. Only recovering the state drops records.
//
// Objects, data and values may be secret, so a journal is as secret as the state. Neither contains ephemeral
// values.
package journaling
