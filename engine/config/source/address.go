package source

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	svchost "github.com/hashicorp/terraform-svchost"
)

// A Kind is the kind of place from which a module comes.
type Kind byte

const (
	Local    Kind = 'l' // a directory beside the caller: "./net", "../shared"
	Registry Kind = 'r' // "hashicorp/consul/aws", "example.com/org/name/system"
	Remote   Kind = 'u' // anything fetched by an address: git, http, s3, ...
)

// DefaultRegistry is the host of registry addresses without a host.
const DefaultRegistry = "registry.terraform.io"

// An Address is the parsed source argument of a module call.
type Address struct {
	Kind Kind
	// Text is the source argument as written.
	Text string
	// Path is the relative path of a Local source, clean and with slashes. It begins with "./" or "../".
	Path string
	// Package is what is fetched. For a Registry source it is HOST/NAMESPACE/NAME/SYSTEM, for a Remote source
	// GETTER::URL or only a URL. It may have secrets; see [Redact].
	Package string
	// Subdir is the module's directory in the package, clean and with slashes; "" means the package's own
	// directory. In an answer of a registry, it may have wildcards.
	Subdir string
}

// Parse reads a module call's source argument. Its forms are documented at
// https://developer.hashicorp.com/terraform/language/modules/sources.
func Parse(text string) (Address, error) { return ParseIn(DefaultRegistry, text) }

// ParseIn is [Parse] for a configuration whose default registry is at host; "" means [DefaultRegistry].
func ParseIn(host, text string) (Address, error) {
	a := Address{Kind: Remote, Text: text}
	switch {
	case strings.TrimSpace(text) == "":
		return a, fmt.Errorf("the source address is empty")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return a, fmt.Errorf("the source address %q has characters that no address has", Redact(text))
	case isLocal(text):
		a.Kind = Local
		a.Path = path.Clean(strings.ReplaceAll(text, `\`, "/"))
		if !strings.HasPrefix(a.Path, "../") {
			a.Path = "./" + a.Path
		}
		if a.Path == "./." {
			a.Path = "./"
		}
		return a, nil
	case isRemote(text):
		return parseRemote(a)
	case isRegistry(text):
		return parseRegistry(a, cmp.Or(host, DefaultRegistry))
	}
	return a, fmt.Errorf("%q is neither a path (which must begin with ./ or ../) nor a registry's NAMESPACE/NAME/SYSTEM nor an address of a known kind", text)
}

// parseRegistry splits an address for which [isRegistry] is true. standard is the host if the address has none.
func parseRegistry(a Address, standard string) (Address, error) {
	var err error
	a.Kind = Registry
	a.Package, a.Subdir = split(a.Text)
	parts := strings.Split(a.Package, "/")
	if len(parts) == 3 {
		parts = append([]string{standard}, parts...)
	}
	host, err := svchost.ForComparison(parts[0])
	if err != nil {
		return a, err
	}
	parts[0] = string(host)
	a.Package = strings.Join(parts, "/")
	if isRemote(a.Package) {
		return a, fmt.Errorf("%s is no registry of modules; for a repository there, write %s", host, a.Package)
	}
	a.Subdir, err = cleanSubdir(a.Subdir)
	return a, err
}

// String returns the address in its normal form, which the manifest records.
func (a Address) String() string {
	switch {
	case a.Kind == Local:
		return a.Path
	case a.Subdir == "":
		return a.Package
	}
	before, query, ok := strings.Cut(a.Package, "?")
	if ok {
		query = "?" + query
	}
	return before + "//" + a.Subdir + query
}

// isLocal reports whether the first characters of text are those of a relative path.
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

// isRemote reports whether text is the address of a package to fetch: a URL, perhaps with GETTER:: before it,
// git@HOST:PATH, a short form for a known host, or an absolute path.
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

// isRegistry reports whether text is NAMESPACE/NAME/SYSTEM, perhaps with HOST/ before it and //DIRECTORY
// after it.
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

// Join returns the directory of a called module. dir is the directory of the calling module, local the path
// in the call. Both directories are relative to the root module's directory.
func Join(dir, local string) string { return path.Join(dir, local) }

// Same reports whether installed, the source in a manifest, is the same as a. The manifest may have the
// normal form of the source, or the text of the argument, as earlier versions of Lockstep wrote it.
func (a Address) Same(installed string) bool { return installed == a.String() || installed == a.Text }
