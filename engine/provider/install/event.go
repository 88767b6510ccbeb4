package install

import (
	"fmt"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// An Event tells of progress, one provider at a time. Failures are diagnostics.
type Event struct {
	Kind     EventKind
	Provider addrs.Provider
	// Version is set from [AlreadyInstalled] on.
	Version constraint.Version
	// Constraints are those of the search ([Finding]), or of the selected version
	// ([Selected]).
	Constraints constraint.Set
	// Auth is set for [Done], [Retrieved] and [Authenticated].
	Auth Authentication
	// Platform is set from [Fetching] on, except for [Mirroring], [SelectedLocked] and
	// [Selected].
	Platform Platform
}

// EventKind is a step of a provider's installation.
type EventKind int

const (
	BuiltIn          EventKind = iota // needs no installation
	Finding                           // a version is being selected
	Reusing                           // the version is the lock file's
	AlreadyInstalled                  // the data directory has the package
	FromCache                         // the plugin cache has the package
	FromStore                         // the store has the package, and it is installed
	Installing                        // the package is being fetched
	Done                              // the package is installed

	// Of [Installer.Checksums].
	Fetching      // the package is being fetched for its checksums
	Retrieved     // the package is here
	NewProvider   // checksums are obtained, and the lock file had none of the provider
	MoreChecksums // the lock file did not have all that are obtained
	SameChecksums // the lock file had all that are obtained

	// Of [Installer.Mirror].
	Skipping       // the provider is built in
	Mirroring      // the next events are about this provider
	SelectedLocked // the version is the lock file's
	Selected       // the version is the newest that is allowed
	Downloading    // the package is being fetched
	Authenticated  // the package is in its place
)

// Message returns the event's message in Terraform's JSON output, or "" if Terraform has
// none: it has messages about selections and installations only.
func (e Event) Message() string {
	name := e.Provider.ForDisplay()
	switch e.Kind {
	case Finding:
		if e.Constraints.IsAll() {
			return fmt.Sprintf("%s: Finding latest version...", name)
		}
		return fmt.Sprintf("Finding matching versions for provider: %s, version_constraint: %q", name, e.Constraints)
	case Reusing:
		return fmt.Sprintf("%s: Reusing previous version from the dependency lock file", name)
	case AlreadyInstalled:
		return fmt.Sprintf("%s v%s: Using previously-installed provider version", name, e.Version)
	case FromCache:
		return fmt.Sprintf("%s v%s: Using from the shared cache directory", name, e.Version)
	case Installing:
		return fmt.Sprintf("Installing provider version: %s v%s...", name, e.Version)
	case Done:
		return fmt.Sprintf("Installed provider version: %s v%s (%s)", name, e.Version, e.Auth)
	}
	return strings.TrimPrefix(e.String(), "- ")
}

// String returns the line that Terraform prints for the event.
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
	case FromStore:
		return fmt.Sprintf("- Installed %s v%s from the store", name, e.Version)
	case Installing:
		return fmt.Sprintf("- Installing %s v%s...", name, e.Version)
	case Done:
		return fmt.Sprintf("- Installed %s v%s (%s)", name, e.Version, e.Auth)
	case Fetching:
		return fmt.Sprintf("- Fetching %s %s for %s...", name, e.Version, e.Platform)
	case Retrieved:
		return fmt.Sprintf("- Retrieved %s %s for %s (%s)", name, e.Version, e.Platform, e.Auth)
	case NewProvider:
		return fmt.Sprintf("- Obtained %s checksums for %s; This was a new provider and the checksums for this platform are now tracked in the lock file", name, e.Platform)
	case MoreChecksums:
		return fmt.Sprintf("- Obtained %s checksums for %s; Additional checksums for this platform are now tracked in the lock file", name, e.Platform)
	case SameChecksums:
		return fmt.Sprintf("- Obtained %s checksums for %s; All checksums for this platform were already tracked in the lock file", name, e.Platform)
	case Skipping:
		return fmt.Sprintf("- Skipping %s because it is built in to Lockstep", name)
	case Mirroring:
		return fmt.Sprintf("- Mirroring %s...", name)
	case SelectedLocked:
		return fmt.Sprintf("  - Selected v%s to match dependency lock file", e.Version)
	case Selected:
		if e.Constraints.IsAll() {
			return fmt.Sprintf("  - Selected v%s with no constraints", e.Version)
		}
		return fmt.Sprintf("  - Selected v%s to meet constraints %s", e.Version, e.Constraints)
	case Downloading:
		return fmt.Sprintf("  - Downloading package for %s...", e.Platform)
	case Authenticated:
		return fmt.Sprintf("  - Package authenticated: %s", e.Auth.Kind)
	}
	panic(fmt.Sprintf("event kind %d", e.Kind))
}
