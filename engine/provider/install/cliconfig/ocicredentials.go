package cliconfig

import (
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/oci"
)

// An ociBlock is an oci_credentials block, or the oci_default_credentials block.
type ociBlock struct {
	entry *oci.Entry // nil: the block has the defaults
	login oci.Login
	place hcl.Range
}

// decodeOCI reads `oci_credentials "HOST/NAME" { ... }` and `oci_default_credentials { ... }`.
// Source: https://opentofu.org/docs/cli/oci_registries/credentials/
func decodeOCI(it item) (blocks []ociBlock, ds diags.Diagnostics) {
	if it.key == "oci_credentials" {
		ds = eachLabelled(it, func(it item, label string, body []item) diags.Diagnostics {
			entry, ds := decodeOCIEntry(it, label, body)
			if !ds.HasErrors() {
				blocks = append(blocks, ociBlock{entry: &entry, place: it.place})
			}
			return ds
		})
		return blocks, ds
	}
	bodies := bodiesOf(it.value)
	if bodies == nil {
		return nil, wrongKind(it, bodyKind)
	}
	for _, body := range bodies {
		login, more := decodeOCIDefaults(it, body)
		if ds = append(ds, more...); !more.HasErrors() {
			blocks = append(blocks, ociBlock{login: login, place: it.place})
		}
	}
	return blocks, ds
}

func decodeOCIEntry(it item, prefix string, body []item) (e oci.Entry, ds diags.Diagnostics) {
	const summary = "Invalid oci_credentials block"
	if err := oci.CheckPrefix(prefix); err != nil {
		return e, diags.Errorf(it.place.Ptr(), summary, "An oci_credentials block needs one label: a registry, or the first part of the names of its repositories, such as \"registry.example.com/team\". %q is not one: %v.", prefix, err)
	}
	texts := map[string]string{}
	for _, inner := range body {
		text, more := textOf(inner)
		if ds = append(ds, more...); text != "" {
			texts[inner.key] = text
		}
	}
	if ds.HasErrors() {
		return e, ds
	}
	e = oci.Entry{Prefix: prefix, Helper: texts["docker_credentials_helper"], Credential: oci.Credential{
		Username: texts["username"], Password: texts["password"], AccessToken: texts["access_token"], RefreshToken: texts["refresh_token"],
	}}
	has := func(names ...string) (n int) {
		for _, name := range names {
			if texts[name] != "" {
				n++
			}
		}
		return n
	}
	if user, token, helper := has("username", "password"), has("access_token", "refresh_token"), has("docker_credentials_helper"); user+token+2*helper != 2 || user == 1 {
		return e, append(ds, diags.Errorf(it.place.Ptr(), summary, "The block for %s must have username and password, or access_token and refresh_token, or docker_credentials_helper.", prefix)...)
	}
	if e.Helper == "" {
		return e, ds
	}
	if err := oci.CheckHelper(e.Helper); err != nil {
		ds = append(ds, diags.Errorf(it.place.Ptr(), summary, "%v.", err)...)
	}
	if filepath.Base(prefix) != prefix {
		ds = append(ds, diags.Errorf(it.place.Ptr(), summary, "A credential helper has credentials for whole registries only: remove the path from the label %q, or write the credentials into the block.", prefix)...)
	}
	return e, ds
}

func decodeOCIDefaults(it item, body []item) (l oci.Login, ds diags.Diagnostics) {
	const summary = "Invalid oci_default_credentials block"
	if len(it.labels) > 0 {
		return l, diags.Errorf(it.place.Ptr(), summary, "An oci_default_credentials block has no labels. For one registry, write an oci_credentials block.")
	}
	discover := true
	for _, inner := range body {
		var more diags.Diagnostics
		switch inner.key {
		case "discover_ambient_credentials":
			more = flagOf(inner, &discover)
		case "docker_style_config_files":
			if l.Files, more = textsOf(inner); l.Files == nil {
				l.Files = []string{}
			}
		case "docker_credentials_helper":
			if l.Helper, more = textOf(inner); !more.HasErrors() {
				if err := oci.CheckHelper(l.Helper); err != nil {
					more = diags.Errorf(&inner.place, summary, "%v.", err)
				}
			}
		}
		ds = append(ds, more...)
	}
	if !discover {
		if l.Files != nil {
			ds = append(ds, diags.Errorf(it.place.Ptr(), summary, "With discover_ambient_credentials = false, no files are read: remove docker_style_config_files.")...)
		}
		l.Files = []string{}
	}
	dir := filepath.Dir(it.place.Filename)
	for i, path := range l.Files {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		l.Files[i] = path
	}
	return l, ds
}

// oci adds blocks about OCI registries. Two blocks about the same repositories are an error.
func (l *loader) oci(blocks []ociBlock) {
	c := l.config
	for _, b := range blocks {
		switch {
		case b.entry == nil && c.ociPlace != nil:
			l.ds = append(l.ds, diags.Errorf(&b.place, "Too many oci_default_credentials blocks", "There can be only one oci_default_credentials block in all CLI configuration files, and there is one at %s. This one is ignored.", c.ociPlace)...)
		case b.entry == nil:
			c.OCI.Helper, c.OCI.Files, c.ociPlace = b.login.Helper, b.login.Files, &b.place
		case slices.ContainsFunc(c.OCI.Entries, func(e oci.Entry) bool { return e.Prefix == b.entry.Prefix }):
			l.ds = append(l.ds, diags.Errorf(&b.place, "Duplicate oci_credentials block", "There is another oci_credentials block for %s. This one is ignored.", b.entry.Prefix)...)
		default:
			c.OCI.Entries = append(c.OCI.Entries, *b.entry)
		}
	}
}
