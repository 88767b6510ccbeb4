package project

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A ModulePattern allows modules from outside the repository: from a host of registries and archives, from
// private repositories on GitHub, or from an S3 bucket.
type ModulePattern struct {
	Host string
	// Bucket is the name of a bucket; the pattern then has no host.
	Bucket string
	// Owner and Name are set only for GitHub, in lower case. Name may contain *.
	Owner, Name string
}

// String returns the pattern as it is written.
func (p ModulePattern) String() string {
	switch {
	case p.Bucket != "":
		return bucketScheme + p.Bucket
	case p.Owner == "":
		return p.Host
	}
	return p.Host + "/" + p.Owner + "/" + p.Name
}

// gitHub is the host of patterns with an owner and a name.
const gitHub = "github.com"

// moduleHosts are hosts that need no permission. Well-known modules come from these hosts, and anybody may read
// the modules.
var moduleHosts = []string{"registry.terraform.io", "registry.opentofu.org", gitHub, "codeload." + gitHub}

var (
	hostPattern  = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$`)
	ownerPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
	bucketPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	repoPattern   = regexp.MustCompile(`^[a-z0-9_.*-]+$`)
)

// bucketScheme is the prefix of a module pattern for a bucket.
const bucketScheme = "s3://"

// parseModulePattern parses HOST, s3://BUCKET, or github.com/OWNER/NAME, where NAME may contain *.
func parseModulePattern(text string) (ModulePattern, error) {
	if bucket, ok := strings.CutPrefix(text, bucketScheme); ok {
		if !bucketPattern.MatchString(bucket) {
			return ModulePattern{}, fmt.Errorf("%q is not a whole bucket: write s3://BUCKET, without a path", text)
		}
		return ModulePattern{Bucket: bucket}, nil
	}
	host, rest, deep := strings.Cut(strings.ToLower(text), "/")
	switch owner, name, both := strings.Cut(rest, "/"); {
	case !hostPattern.MatchString(host):
		return ModulePattern{}, fmt.Errorf("%q is not a host: write its name without a scheme and a port, such as modules.example.com", text)
	case host != gitHub && deep:
		return ModulePattern{}, fmt.Errorf("%q is a part of a host, and only a whole host can be allowed: write %q", text, host)
	case host != gitHub:
		return ModulePattern{Host: host}, nil
	case !both || !ownerPattern.MatchString(owner) || !repoPattern.MatchString(name) || strings.Trim(name, ".") == "":
		return ModulePattern{}, fmt.Errorf("%q is not a repository: write %s/OWNER/NAME or %s/OWNER/*. Public repositories need no permission", text, gitHub, gitHub)
	default:
		return ModulePattern{Host: host, Owner: owner, Name: name}, nil
	}
}

// ModuleHost returns an error if modules may not come from a host. The error is a sentence for people that
// tells them what to do.
func (g Grants) ModuleHost(name string) error {
	if slices.Contains(moduleHosts, name) || g.NamesModuleHost(name) {
		return nil
	}
	if !hostPattern.MatchString(name) {
		return fmt.Errorf("Lockstep cannot allow modules from the host %s: use the name of a server, such as modules.example.com", name)
	}
	return fmt.Errorf("the base branch does not allow modules from the host %s: add the host to the allow block of %s on the base branch: modules = [%q]", name, FileName, name)
}

// NamesModuleHost reports whether the base branch itself names a host. Such a host may be in the functions'
// private network.
func (g Grants) NamesModuleHost(name string) bool {
	return slices.ContainsFunc(g.modules, func(p ModulePattern) bool { return p.Host == name && p.Owner == "" && p.Bucket == "" })
}

// Bucket returns an error if modules may not come from an S3 bucket. The error is a sentence for people that
// tells them what to do. The bucket is read with the rights of the project's plans and applies.
func (g Grants) Bucket(name string) error {
	if slices.Contains(g.modules, ModulePattern{Bucket: name}) && name != "" {
		return nil
	}
	return fmt.Errorf("the base branch does not allow modules from the bucket %s: add the bucket to the allow block of %s on the base branch: modules = [%q]", name, FileName, bucketScheme+name)
}

// Repository reports whether modules may come from a GitHub repository with the App's rights. These rights may
// exceed the rights of a pull request's author.
func (g Grants) Repository(owner, name string) bool {
	owner, name = strings.ToLower(owner), strings.ToLower(name)
	return slices.ContainsFunc(g.modules, func(p ModulePattern) bool {
		ok, err := path.Match(p.Name, name)
		return p.Host == gitHub && p.Owner == owner && ok && err == nil
	})
}
