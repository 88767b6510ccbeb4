package statebackendtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// BuiltOf makes Go's test cache depend on the sources of the given packages and their dependencies in this
// module. Otherwise the cached result of a test that builds and starts a program stays valid after the
// program has changed. The packages are named relative to dir.
//
// Source: go help test: the cache knows the files and directories of the module that a test opens.
func BuiltOf(dir string, packages ...string) error {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}"}, packages...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list -deps: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		if _, err := os.ReadDir(name); err != nil {
			return err
		}
	}
	return nil
}
