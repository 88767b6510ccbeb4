// Package automerging merges a pull request once all of its projects are applied, if the base
// branch's settings ask for it.
//
// The function due decides, from the records and the pull request; it is pure. [Merger] acts: GitHub merges the
// applied head or nothing, by its own rules. A refusal is told once in the pull request and is left to
// people. Before the merge its head is recorded, so that whoever comes after a death deletes the branch;
// everything else may be repeated.
//
// The package refuses to know the meaning of a plan. Start at [Merger].
package automerging
