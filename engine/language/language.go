// Package language has the versions of the Terraform language that Lockstep plans a project in. Everything that
// differs between them asks a [Version]: the decoder of blocks, the operators, the functions, the planner and the
// writers of states and plans.
//
// The package does not know what differs. Start at [Parse].
package language

import "fmt"

// A Version is a version of the language of Terraform. The zero value is [Newest].
type Version string

const (
	// Newest is the version that a project has without a setting.
	Newest Version = ""
	// V1_11 is the version of Terraform 1.11, for repositories that stay with it.
	V1_11 Version = "1.11"
)

// NewestRelease is the release of Terraform whose language, file formats and command line are those of [Newest].
const NewestRelease = "1.16.0"

// Variable is the environment variable with the version for the command line.
const Variable = "LOCKSTEP_LANGUAGE"

// Parse reads the version in a setting. It returns [Newest] for "". The error has the remedy.
func Parse(text string) (Version, error) {
	switch v := Version(text); v {
	case Newest, V1_11:
		return v, nil
	}
	return Newest, fmt.Errorf("Lockstep speaks the language of Terraform %s, and the language \"%s\" on request, but not %q: write \"%[2]s\", or leave out this setting", NewestRelease, V1_11, text)
}

// Release is the release of Terraform that the version is compared with in required_version. States and plans
// record it.
func (v Version) Release() string {
	if v == V1_11 {
		return "1.11.4"
	}
	return NewestRelease
}
