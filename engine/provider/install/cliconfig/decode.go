package cliconfig

import (
	"strconv"

	"github.com/hashicorp/hcl/v2"
	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/lockstep-iac/lockstep/engine/diags"
	"github.com/lockstep-iac/lockstep/engine/hosts"
)

// A fileContent has the settings of one file. The loader merges the files.
type fileContent struct {
	pluginCacheDir          string // with variables, like $HOME/cache
	pluginCacheMayBreakLock bool
	disableCheckpoint       bool
	installations           []installation
	services                map[string]map[string]any
	helpers                 []helper
	tokens                  map[string]hosts.Token
	oci                     []ociBlock
}

// decode reads the settings that Lockstep supports. It silently skips other settings of Terraform, and
// settings of other tools that share the file.
func decode(items []item) (fileContent, diags.Diagnostics) {
	c := fileContent{services: map[string]map[string]any{}, tokens: map[string]hosts.Token{}}
	var ds diags.Diagnostics
	for _, it := range items {
		switch it.key {
		case "plugin_cache_dir":
			text, tds := textOf(it)
			c.pluginCacheDir = text
			ds = append(ds, tds...)
		case "plugin_cache_may_break_dependency_lock_file":
			ds = append(ds, flagOf(it, &c.pluginCacheMayBreakLock)...)
		case "disable_checkpoint":
			ds = append(ds, flagOf(it, &c.disableCheckpoint)...)
		case "credentials":
			ds = append(ds, eachHost(it, func(host string, body []item) diags.Diagnostics {
				return decodeCredentials(c.tokens, host, body)
			})...)
		case "host":
			ds = append(ds, eachHost(it, func(host string, body []item) diags.Diagnostics {
				return decodeServices(c.services, host, body)
			})...)
		case "credentials_helper":
			helpers, hds := decodeHelpers(it)
			c.helpers = append(c.helpers, helpers...)
			ds = append(ds, hds...)
		case "oci_credentials", "oci_default_credentials":
			blocks, ods := decodeOCI(it)
			c.oci = append(c.oci, blocks...)
			ds = append(ds, ods...)
		case "provider_installation":
			in, ids := decodeInstallation(it)
			c.installations = append(c.installations, in...)
			ds = append(ds, ids...)
		}
	}
	return c, ds
}

// eachLabelled calls f for each block in an item that has one label, with the item and the content of the block.
// For other blocks, the label is "". In JSON, the blocks are nested: `"credentials": {"example.com": {...}}`.
func eachLabelled(it item, f func(it item, label string, body []item) diags.Diagnostics) (ds diags.Diagnostics) {
	bodies := bodiesOf(it.value)
	if bodies == nil {
		return wrongKind(it, bodyKind)
	}
	for _, body := range bodies {
		switch {
		case len(it.labels) == 0 && it.assigned:
			for _, inner := range body {
				ds = append(ds, eachLabelled(item{it.key, []string{inner.key}, true, inner.value, inner.place}, f)...)
			}
		case len(it.labels) == 1:
			ds = append(ds, f(it, it.labels[0], body)...)
		default:
			ds = append(ds, f(it, "", body)...)
		}
	}
	return ds
}

// eachHost calls f for each block in an item, with the host in its form for comparisons.
func eachHost(it item, f func(host string, body []item) diags.Diagnostics) diags.Diagnostics {
	return eachLabelled(it, func(it item, label string, body []item) diags.Diagnostics {
		if label == "" {
			// Terraform also skips a block without a label.
			return diags.Warningf(it.place.Ptr(), "Block without a host",
				"A %s block needs one label, the name of the host that it is about. This one is ignored.", it.key)
		}
		host, err := svchost.ForComparison(label)
		if err != nil {
			return diags.Errorf(it.place.Ptr(), "Invalid hostname",
				"The %s block %q does not name a host: %v.", it.key, label, err)
		}
		return f(string(host), body)
	})
}

func decodeCredentials(tokens map[string]hosts.Token, host string, body []item) diags.Diagnostics {
	for _, it := range body {
		if it.key != "token" {
			continue
		}
		text, ds := textOf(it)
		if ds.HasErrors() {
			return ds
		}
		if text != "" {
			tokens[host] = hosts.NewToken(text)
		}
	}
	return nil
}

// decodeServices reads `services = { "providers.v1" = "https://..." }`. The service login.v1 has an object as
// its value.
func decodeServices(services map[string]map[string]any, host string, body []item) diags.Diagnostics {
	known := map[string]any{}
	services[host] = known
	for _, it := range body {
		if it.key != "services" {
			continue
		}
		bodies := bodiesOf(it.value)
		if bodies == nil {
			return wrongKind(it, bodyKind)
		}
		for _, inner := range bodies {
			for _, service := range inner {
				known[service.key] = service.value.plain()
			}
		}
	}
	return nil
}

// bodiesOf returns the blocks in v, or nil.
func bodiesOf(v value) (bodies [][]item) {
	switch v.kind {
	case bodyKind:
		return [][]item{v.body}
	case listKind:
		for _, element := range v.list {
			if element.kind != bodyKind {
				return nil
			}
			bodies = append(bodies, element.body)
		}
	}
	return bodies
}

// textOf returns a string. Like Terraform, it accepts a number in place of a string.
func textOf(it item) (string, diags.Diagnostics) {
	if it.value.kind != textKind && it.value.kind != numberKind {
		return "", wrongKind(it, textKind)
	}
	return it.value.text, nil
}

// textsOf reads a list of strings.
func textsOf(it item) (texts []string, ds diags.Diagnostics) {
	if it.value.kind != listKind {
		return nil, wrongKind(it, listKind)
	}
	for _, v := range it.value.list {
		text, tds := textOf(item{key: "an element of " + it.key, value: v, place: v.place})
		texts, ds = append(texts, text), append(ds, tds...)
	}
	return texts, ds
}

func flagOf(it item, to *bool) diags.Diagnostics {
	switch it.value.kind {
	case flagKind:
		*to = it.value.flag
		return nil
	case textKind:
		if flag, err := strconv.ParseBool(it.value.text); err == nil {
			*to = flag
			return nil
		}
	}
	return wrongKind(it, flagKind)
}

func wrongKind(it item, want kind) diags.Diagnostics {
	place := it.value.place
	if place == (hcl.Range{}) {
		place = it.place
	}
	return diags.Errorf(&place, "Invalid CLI configuration", "The value of %s must be %s, not %s.", it.key, want, it.value.kind)
}
