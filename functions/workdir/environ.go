package workdir

import (
	"path/filepath"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/language"
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

// Language returns the version of the language that the environment sets. The command line has refused other values.
func (d *Dir) Language() language.Version {
	v, _ := language.Parse(d.Getenv(language.Variable))
	return v
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
