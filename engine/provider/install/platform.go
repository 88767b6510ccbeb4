package install

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
)

// Platform is an operating system and a processor architecture, with Go's names.
type Platform struct {
	OS, Arch string
}

// CurrentPlatform returns the platform that this program runs on.
func CurrentPlatform() Platform { return Platform{runtime.GOOS, runtime.GOARCH} }

// String returns `linux_amd64`.
func (p Platform) String() string { return p.OS + "_" + p.Arch }

var platformName = regexp.MustCompile(`^[a-z0-9]+$`)

// ParsePlatform parses the form that [Platform.String] returns.
func ParsePlatform(s string) (Platform, error) {
	system, arch, ok := strings.Cut(s, "_")
	if !ok || !platformName.MatchString(system) || !platformName.MatchString(arch) {
		return Platform{}, fmt.Errorf("invalid platform %q: it must look like linux_amd64", s)
	}
	return Platform{system, arch}, nil
}
