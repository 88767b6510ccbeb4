package workdir

import (
	"path/filepath"
	"strings"
)

// Getenv returns an environment variable; "" if it is not set.
func (d *Dir) Getenv(name string) string {
	for i := len(d.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(d.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// WorkingDir returns the absolute path of the root module's directory.
func (d *Dir) WorkingDir() string {
	abs, err := filepath.Abs(d.Path)
	if err != nil {
		return d.Path
	}
	return abs
}

// note calls d.Note with a fact for the user, if Note is set.
func (d *Dir) note(s string) {
	if d.Note != nil {
		d.Note(s)
	}
}
