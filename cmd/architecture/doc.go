// Package architecture measures the source of the project, as a test: the size of packages and
// files, the methods of a receiver, the call cycles between the files of a package, the share
// of comments and their words. It has no code of its own and knows no package of ours by
// purpose; the limits stand in limits_test.go, the allowed imports in imports_test.go.
//
//	go test ./cmd/architecture -v -run Measures        all figures
//	go test ./cmd/architecture -v -run Measures -in engine/internal/planning
package architecture
