// Package admission is the gate. It decides whether a run may be planned, applied or unlocked. It has no
// effects.
//
// [Decide] takes facts that its caller has just read. Each rule is a row of one table. A decision contains reasons
// with facts; package comment turns them into text. [Needs] says which facts are worth reading next. [Check]
// compares a waiting plan with the plan that was made again. [Continue] decides whether another process may continue
// an apply. [PlaceFor] decides about the address of a state.
//
// This package reads nothing. It does not decide about the requirements of the settings: package
// requirementrules does. Start reading at [Request], [Needs] and [Decide].
package admission
