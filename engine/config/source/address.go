package source

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	svchost "github.com/hashicorp/terraform-svchost"
)

// A Kind tells apart the places that a module can come from.
type Kind byte

const (
	Local    Kind = 'l' // a directory beside the caller: "./net", "../shared"
	Registry Kind = 'r' // "hashicorp/consul/aws", "example.com/org/name/system"
	Remote   Kind = 'u' // anything fetched by an address: git, http, s3, ...
)

// An Address is a module call's source argument, understood.
type Address struct {
	Kind Kind
	// Text is the source as written.
	Text string
	// Path is the slash-separated relative path of a Local source, clean, with its
	// leading "./" or "../".
	Path string
}

// Parse reads a module call's source argument. Which form means what is documented
// at https://developer.hashicorp.com/terraform/language/modules/sources.
func Parse(text string) (Address, error) {
	a := Address{Kind: Remote, Text: text}
	switch {
	case strings.TrimSpace(text) == "":
		return a, fmt.Errorf("the source address is empty")
	case isLocal(text):
		a.Kind = Local
		a.Path = path.Clean(strings.ReplaceAll(text, `\`, "/"))
		if !strings.HasPrefix(a.Path, "..") {
			a.Path = "./" + a.Path
		}
		if a.Path == "./." {
			a.Path = "./"
		}
		return a, nil
	case isRemote(text):
		return a, nil
	case isRegistry(text):
		a.Kind = Registry
		return a, nil
	}
	return a, fmt.Errorf("%q is neither a path (which must begin with ./ or ../) nor a registry's NAMESPACE/NAME/SYSTEM nor an address of a known kind", text)
}

// isLocal reports whether text is a relative path by its first characters.
func isLocal(text string) bool {
	for _, p := range []string{"./", "../", `.\`, `..\`} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return text == "." || text == ".."
}

// gitHosts are the hosts whose addresses need no scheme.
var gitHosts = []string{"github.com", "bitbucket.org"}

// isRemote reports whether text is the address of something to fetch: a URL,
// perhaps with a getter:: before it, git@host:path, a short form of a known host, or
// an absolute path.
func isRemote(text string) bool {
	if strings.Contains(text, "::") || strings.Contains(text, "://") || strings.HasPrefix(text, "/") {
		return true
	}
	host, _, _ := strings.Cut(text, "/")
	if user, rest, ok := strings.Cut(text, "@"); ok && !strings.Contains(user, "/") && strings.Contains(rest, ":") {
		return true
	}
	return slices.Contains(gitHosts, host) || strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".googleapis.com")
}

// registryPart matches one part of a registry module's address.
var registryPart = regexp.MustCompile(`^[0-9A-Za-z](?:[0-9A-Za-z_-]*[0-9A-Za-z])?$`)

// isRegistry reports whether text is NAMESPACE/NAME/SYSTEM, perhaps with a host
// before it and a //directory behind it.
func isRegistry(text string) bool {
	text, _, _ = strings.Cut(text, "//")
	parts := strings.Split(text, "/")
	if len(parts) == 4 {
		if _, err := svchost.ForComparison(parts[0]); err != nil {
			return false
		}
		parts = parts[1:]
	}
	return len(parts) == 3 && !slices.ContainsFunc(parts, func(p string) bool { return !registryPart.MatchString(p) })
}

// Join returns the directory that a Local path means in a module whose directory
// is dir; both relative to the root module's directory.
func Join(dir, local string) string { return path.Join(dir, local) }

// Same reports whether a manifest's source, which the stock tools complete with the
// default registry's host, means the same as a.
func (a Address) Same(installed string) bool {
	return installed == a.Text || a.Kind == Registry && installed == "registry.terraform.io/"+a.Text
}
