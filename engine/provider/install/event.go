package install

import (
	"fmt"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/provider/install/constraint"
)

// An Event tells of progress, one provider at a time. Failures are diagnostics.
type Event struct {
	Kind     EventKind
	Provider addrs.Provider
	// Version is set from [AlreadyInstalled] on.
	Version constraint.Version
	// Constraints are what [Finding] looks for.
	Constraints constraint.Set
	// Auth is set for [Done].
	Auth Authentication
}

// EventKind is what happens to a provider.
type EventKind int

const (
	BuiltIn          EventKind = iota // needs no installation
	Finding                           // a version is being selected
	Reusing                           // the version is the lock file's
	AlreadyInstalled                  // the data directory has the package
	FromCache                         // the plugin cache has the package
	Installing                        // the package is being fetched
	Done                              // the package is installed
)

// String returns the line that Terraform's init prints for the event.
func (e Event) String() string {
	name := e.Provider.ForDisplay()
	switch e.Kind {
	case BuiltIn:
		return fmt.Sprintf("- %s is built in to Lockstep", name)
	case Finding:
		if e.Constraints.IsAll() {
			return fmt.Sprintf("- Finding latest version of %s...", name)
		}
		return fmt.Sprintf("- Finding %s versions matching %q...", name, e.Constraints)
	case Reusing:
		return fmt.Sprintf("- Reusing previous version of %s from the dependency lock file", name)
	case AlreadyInstalled:
		return fmt.Sprintf("- Using previously-installed %s v%s", name, e.Version)
	case FromCache:
		return fmt.Sprintf("- Using %s v%s from the shared cache directory", name, e.Version)
	case Installing:
		return fmt.Sprintf("- Installing %s v%s...", name, e.Version)
	case Done:
		return fmt.Sprintf("- Installed %s v%s (%s)", name, e.Version, e.Auth)
	}
	panic(fmt.Sprintf("event kind %d", e.Kind))
}
