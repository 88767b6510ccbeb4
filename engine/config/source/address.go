package source

import (
	"fmt"
	"path"
	"strings"
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
	case looksLocal(text):
		return a, fmt.Errorf("a path must begin with ./ or ../: %q would be taken for a module of a registry", text)
	case isRegistry(text):
		a.Kind = Registry
	}
	return a, nil
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

// looksLocal reports whether text has the form of a path whose ./ was forgotten:
// one or two plain words.
func looksLocal(text string) bool {
	if strings.ContainsAny(text, ":?@") || strings.HasPrefix(text, "/") {
		return false
	}
	parts := strings.Split(text, "/")
	return len(parts) < 3 && !strings.Contains(parts[0], ".")
}

// isRegistry reports whether text is NAMESPACE/NAME/SYSTEM, perhaps with a host
// before it and a //directory behind it.
func isRegistry(text string) bool {
	text, _, _ = strings.Cut(text, "//")
	if strings.ContainsAny(text, "?@") || strings.HasPrefix(text, "/") {
		return false
	}
	parts := strings.Split(text, "/")
	switch len(parts) {
	case 3:
		// github.com/org/repo and its like are short forms of git addresses.
		return !strings.Contains(parts[0], ".")
	case 4:
		return strings.Contains(parts[0], ".") && parts[0] != "github.com" && parts[0] != "bitbucket.org" && parts[0] != "gitlab.com"
	}
	return false
}

// Join returns the directory that a Local path means in a module whose directory
// is dir; both relative to the root module's directory.
func Join(dir, local string) string { return path.Join(dir, local) }

// Same reports whether a manifest's source, which the stock tools complete with the
// default registry's host, means the same as a.
func (a Address) Same(installed string) bool {
	return installed == a.Text || a.Kind == Registry && installed == "registry.terraform.io/"+a.Text
}
