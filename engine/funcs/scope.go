package funcs

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/lockstep-iac/lockstep/engine/budget"
)

// Scope is the world of functions. The zero Scope is the real one:
// the process' working directory, its files, home, clock and randomness.
type Scope struct {
	// BaseDir is the directory that relative paths start from: the root module's,
	// the one that path.root and path.module are relative to. A relative
	// BaseDir counts from the process' working directory when Table is called.
	BaseDir string
	// Files is the window of the file functions; nil is the real file system.
	Files Files
	// Home is the directory `~`; empty means the current user's home.
	Home string
	// Now tells timestamp() the time; nil is the real clock.
	Now func() time.Time
	// PlanTimestamp is the result of plantimestamp(); zero means not known yet.
	PlanTimestamp time.Time
	// Rand is where uuid() gets its bytes; nil is crypto/rand. (The salt of
	// bcrypt() is the library's own and always from crypto/rand.)
	Rand io.Reader
	// PureOnly makes timestamp(), uuid() and bcrypt() return unknown values, as
	// while planning: their results must not be promised before they are applied.
	PureOnly bool
	// Impure is told of each result of timestamp(), uuid() or bcrypt(), before there is one. It may be nil.
	Impure func()
	// ConsoleMode adds type(), and takes plantimestamp() away.
	ConsoleMode bool
	// Budget bounds files, unpacked data and templates; nil is the generous one.
	Budget *budget.Budget
}

// withDefaults fills in the real world where the Scope is empty.
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
