package install

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/constraint"
)

// An Event reports progress for one provider. Failures are diagnostics, not events.
type Event struct {
	Kind     EventKind
	Provider addrs.Provider
	// Version is set in [AlreadyInstalled] and all later kinds.
	Version constraint.Version
	// Constraints are the version constraints of the search ([Finding]), or of the selected version
	// ([Selected]).
	Constraints constraint.Set
	// Auth is set in [Done], [Retrieved] and [Authenticated].
	Auth Authentication
	// Platform is set in [Fetching] and all later kinds, except in [Mirroring], [SelectedLocked] and
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

	// The following kinds are events of [Installer.Checksums].
	Fetching      // the package is being fetched for its checksums
	Retrieved     // the package is here
	NewProvider   // the lock file had no checksums of the provider
	MoreChecksums // the lock file lacked some of the checksums
	SameChecksums // the lock file had all of the checksums

	// The following kinds are events of [Installer.Mirror].
	Skipping       // the provider is built in
	Mirroring      // the next events are about this provider
	SelectedLocked // the version is the lock file's
	Selected       // the version is the newest that is allowed
	Downloading    // the package is being fetched
	Authenticated  // the package is in its place
)

// Message returns the event's message in Terraform's JSON output. It is "" for events without such a message:
// Terraform has messages only about selections and installations.
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

// eventLines are the lines that Terraform prints for the events.
var eventLines = map[EventKind]string{
	BuiltIn:          "- {provider} is built in to Lockstep",
	Finding:          "- Finding {provider} versions matching {quoted constraints}...",
	Reusing:          "- Reusing previous version of {provider} from the dependency lock file",
	AlreadyInstalled: "- Using previously-installed {provider} v{version}",
	FromCache:        "- Using {provider} v{version} from the shared cache directory",
	FromStore:        "- Installed {provider} v{version} from the store",
	Installing:       "- Installing {provider} v{version}...",
	Done:             "- Installed {provider} v{version} ({authentication})",

	Fetching:      "- Fetching {provider} {version} for {platform}...",
	Retrieved:     "- Retrieved {provider} {version} for {platform} ({authentication})",
	NewProvider:   "- Obtained {provider} checksums for {platform}; This was a new provider and the checksums for this platform are now tracked in the lock file",
	MoreChecksums: "- Obtained {provider} checksums for {platform}; Additional checksums for this platform are now tracked in the lock file",
	SameChecksums: "- Obtained {provider} checksums for {platform}; All checksums for this platform were already tracked in the lock file",

	Skipping:       "- Skipping {provider} because it is built in to Lockstep",
	Mirroring:      "- Mirroring {provider}...",
	SelectedLocked: "  - Selected v{version} to match dependency lock file",
	Selected:       "  - Selected v{version} to meet constraints {constraints}",
	Downloading:    "  - Downloading package for {platform}...",
	Authenticated:  "  - Package authenticated: {kind of authentication}",
}

// unconstrainedLines are the lines for events without version constraints.
var unconstrainedLines = map[EventKind]string{
	Finding:  "- Finding latest version of {provider}...",
	Selected: "  - Selected v{version} with no constraints",
}

// String returns the line that Terraform prints for the event.
func (e Event) String() string {
	line, ok := eventLines[e.Kind]
	if !ok {
		panic(fmt.Sprintf("event kind %d", e.Kind))
	}
	if other, ok := unconstrainedLines[e.Kind]; ok && e.Constraints.IsAll() {
		line = other
	}
	return strings.NewReplacer(
		"{provider}", e.Provider.ForDisplay(),
		"{version}", e.Version.String(),
		"{constraints}", e.Constraints.String(),
		"{quoted constraints}", strconv.Quote(e.Constraints.String()),
		"{authentication}", e.Auth.String(),
		"{kind of authentication}", string(e.Auth.Kind),
		"{platform}", e.Platform.String(),
	).Replace(line)
}
