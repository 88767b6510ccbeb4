// Package requirementrules decides whether the requirements in lockstep.hcl are met. It takes requirements and
// facts, and returns a tree of rulings. Each ruling has its outcome and the facts behind it.
//
// If a fact could not be read, the outcome of its rule is "unknown", which blocks the command like a rule that
// is not met. The tree also contains facts that do not count, such as an approval of an older commit. Each has
// the reason, so people see what is missing.
//
// This package is pure. It does not read facts, parse settings or write texts. Package requirementfacts reads
// the facts that [Needed] names, package requirements parses the settings, and package comment writes the
// texts. Start reading at [Decide]; testdata has a row for each case.
package requirementrules
