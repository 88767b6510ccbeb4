package constraint

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a provider's version number, after https://semver.org. The zero
// value is 0.0.0. Versions are equal (==) when they are the same release: build
// metadata counts.
type Version struct {
	Major, Minor, Patch uint64
	Prerelease          string // `beta1` of 1.2.0-beta1
	Metadata            string // `linux` of 1.2.0+linux
}

// versionPattern takes one to three numbers; a dash without a pre-release after it
// is let through, as Terraform does.
var versionPattern = regexp.MustCompile(`^([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]*))?(?:\+([0-9A-Za-z.-]+))?$`)

// ParseVersion reads a complete version number, `1.2.0` or `1.2.0-beta1`. Leading
// zeros are accepted; [Version.String] shows the normal form.
func ParseVersion(s string) (Version, error) {
	v, parts, err := parseVersion(s)
	if err == nil && parts != 3 {
		err = fmt.Errorf("invalid version number %q: it must have three numbers, like %s", s, v)
	}
	return v, err
}

// parseVersion also tells how many of the three numbers were written.
func parseVersion(s string) (v Version, parts int, err error) {
	m := versionPattern.FindStringSubmatch(s)
	if m == nil {
		if strings.HasPrefix(s, "v") {
			return v, 0, fmt.Errorf("invalid version number %q: leave out the prefix \"v\"", s)
		}
		return v, 0, fmt.Errorf("invalid version number %q: it must look like 1.2.3 or 1.2.3-beta1", s)
	}
	for i, number := range []*uint64{&v.Major, &v.Minor, &v.Patch} {
		if m[i+1] == "" {
			break
		}
		parts++
		if *number, err = strconv.ParseUint(m[i+1], 10, 64); err != nil {
			return Version{}, 0, fmt.Errorf("invalid version number %q: %s is too large", s, m[i+1])
		}
	}
	v.Prerelease, v.Metadata = m[4], m[5]
	return v, parts, nil
}

// String returns the normal form: `1.2.0`, `1.2.0-beta1+linux`.
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Prerelease != "" {
		s += "-" + v.Prerelease
	}
	if v.Metadata != "" {
		s += "+" + v.Metadata
	}
	return s
}

// Compare orders versions by precedence: a pre-release comes before its release,
// build metadata does not count.
func (v Version) Compare(x Version) int {
	c := cmp.Or(cmp.Compare(v.Major, x.Major), cmp.Compare(v.Minor, x.Minor), cmp.Compare(v.Patch, x.Patch))
	if c != 0 || v.Prerelease == x.Prerelease {
		return c
	}
	if v.Prerelease == "" {
		return 1
	}
	if x.Prerelease == "" {
		return -1
	}
	return compareIdentifiers(v.Prerelease, x.Prerelease)
}

// compareTotally orders versions that differ in metadata only, too.
func (v Version) compareTotally(x Version) int {
	if c := v.Compare(x); c != 0 || v.Metadata == x.Metadata {
		return c
	}
	return compareIdentifiers(v.Metadata, x.Metadata)
}

// compareIdentifiers compares lists like `beta.2`, one identifier after the other.
// It does so in Terraform's way (1.11.4, tried), which is not quite semver's: where
// one list has come to its last identifier and the other has not, the former comes
// first, whatever the identifiers are (`rc1` before `rc.1`). The order of the terms
// in the dependency lock file depends on it.
func compareIdentifiers(a, b string) int {
	for {
		headA, restA, moreA := strings.Cut(a, ".")
		headB, restB, moreB := strings.Cut(b, ".")
		switch {
		case !moreA && moreB:
			return -1
		case moreA && !moreB:
			return 1
		}
		if c := compareIdentifier(headA, headB); c != 0 || !moreA {
			return c
		}
		a, b = restA, restB
	}
}

// compareIdentifier puts numbers before words, and compares numbers of any size.
func compareIdentifier(a, b string) int {
	numberA, numberB := isNumber(a), isNumber(b)
	switch {
	case numberA && numberB:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case numberA:
		return -1
	case numberB:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
