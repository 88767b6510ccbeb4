package cliconfig

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// An installation is a provider_installation block.
type installation struct {
	methods   []Method
	overrides map[addrs.Provider]string
	place     hcl.Range
}

func decodeInstallation(it item) (found []installation, ds diags.Diagnostics) {
	bodies := bodiesOf(it.value)
	switch {
	case len(it.labels) > 0:
		return nil, diags.Errorf(it.place.Ptr(), "Invalid provider_installation block", "A provider_installation block has no labels.")
	case bodies == nil:
		return nil, wrongKind(it, bodyKind)
	}
	for _, body := range bodies {
		in := installation{methods: []Method{}, overrides: map[addrs.Provider]string{}, place: it.place}
		for _, inner := range body {
			ds = append(ds, decodeMethods(&in, inner)...)
		}
		found = append(found, in)
	}
	return found, ds
}

// decodeMethods adds an item of a provider_installation block to the methods.
func decodeMethods(in *installation, it item) (ds diags.Diagnostics) {
	bodies := bodiesOf(it.value)
	if bodies == nil || len(it.labels) > 0 {
		return diags.Errorf(it.place.Ptr(), "Invalid provider_installation method block",
			"Within a provider_installation block there must be blocks without labels only.")
	}
	for _, body := range bodies {
		if it.key == "dev_overrides" {
			if len(in.methods) > 0 && !it.assigned {
				ds = append(ds, diags.Errorf(it.place.Ptr(), "Invalid provider_installation method block",
					"A dev_overrides block must come before all other blocks here, since development overrides go before any of them.")...)
				continue
			}
			ds = append(ds, decodeOverrides(in.overrides, body)...)
			continue
		}
		m := Method{Kind: MethodKind(it.key), Place: it.place}
		mds := decodeMethod(&m, body)
		if ds = append(ds, mds...); !mds.HasErrors() {
			in.methods = append(in.methods, m)
		}
	}
	return ds
}

func decodeMethod(m *Method, body []item) (ds diags.Diagnostics) {
	invalid := func(detail string, args ...any) {
		ds = append(ds, diags.Errorf(m.Place.Ptr(), "Invalid provider_installation method block", detail, args...)...)
	}
	switch m.Kind {
	case Direct, FilesystemMirror, NetworkMirror, OCIMirror:
	default:
		invalid("There is no provider installation method %q: it must be direct, filesystem_mirror, network_mirror, oci_mirror or dev_overrides.", string(m.Kind))
		return ds
	}
	template := ""
	for _, it := range body {
		var tds diags.Diagnostics
		switch it.key {
		case "repository_template":
			template, tds = textOf(it)
		case "path":
			m.Path, tds = textOf(it)
		case "url":
			m.URL, tds = textOf(it)
		case "include":
			m.Include, tds = patternsOf(it)
		case "exclude":
			m.Exclude, tds = patternsOf(it)
		}
		ds = append(ds, tds...)
	}
	if ds.HasErrors() {
		return ds
	}
	switch m.Kind {
	case FilesystemMirror:
		if m.Path == "" {
			invalid("A filesystem_mirror block needs the argument path, the directory of the mirror.")
		}
	case OCIMirror:
		var err error
		if m.Repository, err = repositoryOf(template, m.Include); err != nil {
			invalid("%s", diags.Capital(err.Error()))
		}
	case NetworkMirror:
		if problem := m.normalizeURL(); problem != "" {
			invalid("%s", problem)
		}
	}
	return ds
}

// normalizeURL adds a slash to the URL of a network mirror, since the protocol resolves paths below it. It
// returns the reason if the mirror cannot be used, otherwise "".
func (m *Method) normalizeURL() string {
	u, err := url.Parse(m.URL)
	switch {
	case m.URL == "":
		return "A network_mirror block needs the argument url, the base URL of the mirror."
	case err != nil:
		return fmt.Sprintf("%q is not a URL.", m.URL)
	case u.Scheme != "https" || u.Host == "":
		return fmt.Sprintf("The mirror at %s must have an https URL.", u.Redacted())
	case !strings.HasSuffix(u.Path, "/"):
		u.Path += "/"
		m.URL = u.String()
	}
	return ""
}

func patternsOf(it item) (patterns []addrs.ProviderPattern, ds diags.Diagnostics) {
	texts, ds := textsOf(it)
	for _, text := range texts {
		p, err := addrs.ParseProviderPattern(text)
		if err != nil {
			ds = append(ds, diags.FromError("Invalid provider matching pattern", err)...)
			ds[len(ds)-1].Subject = it.place.Ptr()
			continue
		}
		patterns = append(patterns, p)
		if strings.Count(text, "/") == 1 { // each configuration has one of two default registries
			tofu, _ := addrs.ParseProviderPattern(addrs.OpenTofuRegistryHost + "/" + text)
			patterns = append(patterns, tofu)
		}
	}
	return patterns, ds
}

func decodeOverrides(overrides map[addrs.Provider]string, body []item) (ds diags.Diagnostics) {
	for _, it := range body {
		p, err := addrs.ParseProvider(it.key)
		if err != nil {
			ds = append(ds, diags.Errorf(it.place.Ptr(), "Invalid provider installation dev overrides", "%v.", err)...)
			continue
		}
		dir, tds := textOf(it)
		ds = append(ds, tds...)
		overrides[p] = filepath.Clean(dir)
		if tofu, err := addrs.ParseProviderIn(addrs.OpenTofuRegistryHost, it.key); err == nil {
			overrides[tofu] = overrides[p] // the same provider, unless the key has a host
		}
	}
	return ds
}
