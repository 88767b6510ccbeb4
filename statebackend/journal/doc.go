// Package journal makes records durable beside a state, in one order, for one run at a time. It is a
// write-ahead log: a run writes an intent before it lets a provider change something, and the outcome after
// the change. So the death of the run at any moment loses no object. The package does not know what records
// and the state mean: records are lines of JSON, defined by engine/journaling. Start with [Open].
//
// # The protocol
//
// Records are stored in segments, which a [statebackend.Log] keeps under consecutive numbers. Each number is
// used once: the log refuses a second segment under it. That refusal is the fence.
//
//	Open     read all segments; append one with a higher fence than any before: the takeover.
//	         A crash before the append leaves the journal as it was. A crash after it leaves a
//	         takeover without records, which the next reader skips.
//	Continue the same for a journal that was just read: the first append, with its records, is the
//	         takeover. If anything was written since, its number is taken and it is refused.
//	Append   append the records with the next segment, and return when it is durable.
//	         A crash before that: no record, and nothing was begun, since the caller waits for
//	         the return. A crash after it, before the caller saw the return: the record stays.
//	         An intent is then open though nothing was begun, which is the safe error.
//	Reset    append a segment that has the records still needed, then drop all before it.
//	         A crash between the two leaves both. Readers begin at the last reset, and need
//	         nothing else to find it: see [statebackend.Log].
//	Finish   the same without records. If a lock ends with its process, drop that segment, too.
//
// Suppose a process was suspended, and another one has taken over its journal. The suspended process finds
// the next number taken, by a segment with a higher fence. Its intents are refused with a *FencedError: it
// begins nothing more. Its outcomes still count, since they are the truth about calls that were under way:
// [Writer.WriteLate] appends them after the takeover, marked with the old fence.
//
// Concurrent writes share a segment. While one segment is being written, new callers collect for the next
// one, and that one waits a moment for callers that are about to come. So an apply of n changes with a
// parallelism of p makes between 2n/p and 2n appends. Where an append is a request, the moment is a fraction
// of the last append's duration, and every record is made durable, since that is the same request.
//
// # The form
//
// A segment is lines of JSON: a header, and a line for each record. The header has the format's version, the
// segment's number, the run, its fence, and the SHA-256 of the segment before, so that an edited, exchanged
// or missing segment is noticed. Nothing is overwritten. A reader that does not understand a journal changes
// neither the journal nor the state.
package journal
