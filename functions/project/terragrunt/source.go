package terragrunt

import (
	"net/url"
	"strings"
)

// registry is the scheme of sources in registries.
const registry = "tfr://"

// ModuleSource returns a source of Terragrunt as the arguments source and version of a module block. version is "" for a
// source that has none.
// Source: https://docs.terragrunt.com/reference/hcl/blocks#terraform
func ModuleSource(source string) (address, version string) {
	rest, ok := strings.CutPrefix(source, registry)
	if !ok {
		return source, ""
	}
	address, query, _ := strings.Cut(rest, "?")
	if values, err := url.ParseQuery(query); err == nil {
		version = values.Get("version")
	}
	return strings.TrimPrefix(address, "/"), version
}
