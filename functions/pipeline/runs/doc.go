// Package runs has the record of a run: one project of one pull request, with its plan and its apply.
//
// A [Run] is in one [Phase], and [Run.To] moves it to the next. [Order] is the order of applies in a pull
// request. [Conclude] and [ShownInstead] choose the conclusion of a check run. The functions of this package
// have no effects.
//
// This package does not know the stores of records and artifacts, and GitHub's API. Package ledger stores
// runs, and package admission decides about them. Start reading at [Run].
package runs
