package funcs

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-iac/lockstep/engine/budget"
	"github.com/lockstep-iac/lockstep/engine/language"
)

// Scope has everything that functions can access besides their arguments. The zero Scope is the real
// environment: the process's working directory, its files, home, clock and randomness.
type Scope struct {
	// BaseDir is the directory that relative paths start from: the root module's directory, to which
	// path.root and path.module are relative. A relative BaseDir is resolved against the process's working
	// directory when Table is called.
	BaseDir string
	// Files is the access of the file functions; nil means the real file system.
	Files Files
	// Home is the directory for `~`; "" means the current user's home.
	Home string
	// Now returns the time for timestamp(); nil means the real clock.
	Now func() time.Time
	// PlanTimestamp is the result of plantimestamp(); zero means that it is not known yet.
	PlanTimestamp time.Time
	// Rand is the source of bytes for uuid(); nil means crypto/rand. (The salt of bcrypt() is made by its
	// library, always from crypto/rand.)
	Rand io.Reader
	// PureOnly makes timestamp(), uuid() and bcrypt() return unknown values, as in a plan: a plan must not
	// promise a result that changes in the apply.
	PureOnly bool
	// Impure is called before each result of timestamp(), uuid() or bcrypt(). It may be nil.
	Impure func()
	// ConsoleMode adds type(), and removes plantimestamp().
	ConsoleMode bool
	// Language is the version of the language whose functions there are.
	Language language.Version
	// Budget limits files, unpacked data and templates; nil means the limits of budget.Generous.
	Budget *budget.Budget
}

// withDefaults returns s with the real environment in place of zero fields.
func (s Scope) withDefaults() Scope {
	if abs, err := filepath.Abs(s.BaseDir); err == nil {
		s.BaseDir = abs
	}
	if s.Files == nil {
		s.Files = OSFiles{}
	}
	if s.Home == "" {
		s.Home, _ = os.UserHomeDir()
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Rand == nil {
		s.Rand = rand.Reader
	}
	return s
}
