// Package journal makes records durable beside a state, in one order, for one run at a time. It
// is a write-ahead log: a run writes an intent before it lets a provider change something, and
// the outcome after it, so that the death of the run at any moment loses no object. The package
// refuses to know the content of records, and of the state: records are lines of JSON whose
// meaning is engine/journaling's. Start with [Open].
//
// # The protocol
//
// Records travel in segments, which a [statebackend.Log] keeps under consecutive numbers. A
// number is given once: the log refuses a second segment under it. That refusal is the fence.
//
//	Open     read all segments; append one with a higher fence than any before: the takeover.
//	         A crash before that leaves the journal as it was; after it, a takeover without
//	         records, which the next one passes over.
//	Continue the same for a journal that was just read: the first append, with its records, is the
//	         takeover. It is refused if anything was written since, as its number is taken.
//	Append   append the records with the next segment, and return when it is durable.
//	         A crash before that: no record, and nothing was begun, since the caller waits for
//	         the return. A crash after it: the record stands, with nobody who has seen the
//	         return. An intent is then open though nothing was begun, which is the safe error.
//	Reset    append a segment that carries the records still needed, then drop all before.
//	         A crash between the two leaves both: readers begin at the last reset, and need
//	         nothing else to find it, see [statebackend.Log].
//	Finish   the same without records; where a lock ends with its process, drop that segment, too.
//
// A process that was suspended, and whose journal another one has taken over, finds the next
// number taken, and a higher fence behind it. Its intents are refused with a *FencedError: it
// begins nothing more. Its outcomes still count, since they are the truth about calls that were
// under way: [Writer.WriteLate] appends them behind the takeover, marked with the old fence.
//
// Concurrent writes share a segment: while one is on its way, those who come gather for the
// next, and that waits a moment for those who are about to come. So an apply of n changes
// with a parallelism of p costs between 2n/p and 2n appends. Where an append is a request, the moment is a part of what the
// last one took, and no record asks for less than durability, which is the same request.
//
// # The form
//
// A segment is lines of JSON: a header, and a line for each record. The header has the format's
// version, the segment's number, the run, its fence, and the SHA-256 of the segment before, so
// that an edited, exchanged or missing segment is noticed. Nothing is written over: a reader
// that does not understand a journal leaves it, and the state, alone.
package journal
