// Package requirementrules decides whether the requirements of the settings are met. It takes requirements and
// facts, and returns a tree of rulings. Each ruling has its outcome and the facts behind it.
//
// Unknown facts allow nothing. If a fact could not be read, its rule is unknown, and that blocks the command as
// a failure does. A fact that does not count is in the tree, too, with the reason, so people see what is
// missing. For example: an approval of an older commit.
//
// This package is pure. It refuses to read facts, to parse settings, and to know words. Package
// requirementfacts reads the facts that [Needed] names, package requirements parses, and package comment has
// the words. Start reading at [Decide]; testdata has a row for each case.
package requirementrules
