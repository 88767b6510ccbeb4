// Package architecture tests the structure of the project: which package may import which, which exported names
// nobody uses, and whether the files that documents name exist. It has no code of its own. The allowed imports
// are in imports_test.go.
//
// It also prints sizes (`make sizes`). No test fails because of a size: it only shows where a person should
// look.
//
//	go test ./cmd/architecture -v -run Measures        all figures
//	go test ./cmd/architecture -v -run Measures -in engine/internal/planning
package architecture
