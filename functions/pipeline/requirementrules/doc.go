// Package requirementrules decides whether the requirements of the settings hold: it takes them and the facts,
// and returns a tree of rulings, each with its outcome and the facts behind it.
//
// Nothing is allowed because of something that is not known: a fact that could not be read makes its
// rule unknown, which closes the gate as a failure does. A fact that does not count is in the tree,
// too, with the reason, so that people see what is missing.
//
// The package is pure. It refuses to read facts (package facts does, as far as [Needed] names them),
// to parse settings (package requirements), and to know words (package comment). Start at [Decide];
// testdata has a row for each case.
package requirementrules
