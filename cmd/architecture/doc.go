// Package architecture checks the structure of the project as a test: which package may import
// which, which exported names nobody uses, and whether the documents name files that exist.
// It has no code of its own. The allowed imports are in imports_test.go.
//
// It also prints sizes (`make sizes`). Sizes fail no test: a package has a meaning, and its size
// only tells a person where to look.
//
//	go test ./cmd/architecture -v -run Measures        all figures
//	go test ./cmd/architecture -v -run Measures -in engine/internal/planning
package architecture
