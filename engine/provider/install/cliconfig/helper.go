package cliconfig

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/hcl/v2"

	"github.com/lockstep-iac/lockstep/engine/diags"
)

// A helper is a credentials_helper block.
type helper struct {
	name  string
	args  []string
	place hcl.Range
}

// decodeHelpers reads `credentials_helper "name" { args = [...] }`. See
// https://developer.hashicorp.com/terraform/cli/config/config-file#credentials-helpers.
func decodeHelpers(it item) (helpers []helper, ds diags.Diagnostics) {
	ds = eachLabelled(it, func(it item, label string, body []item) (ds diags.Diagnostics) {
		if label == "" {
			return diags.Errorf(it.place.Ptr(), "Invalid credentials_helper block",
				"A credentials_helper block needs one label, the helper's name.")
		}
		h := helper{name: label, place: it.place}
		for _, inner := range body {
			if inner.key == "args" {
				args, ads := textsOf(inner)
				h.args, ds = args, append(ds, ads...)
			}
		}
		helpers = append(helpers, h)
		return ds
	})
	return helpers, ds
}

// helpers sets the credentials helper. More than one is an error.
func (l *loader) helpers(helpers []helper) {
	c := l.config
	for _, h := range helpers {
		if c.Helper != nil {
			l.ds = append(l.ds, diags.Errorf(&h.place, "Too many credentials_helper blocks",
				"No more than one credentials_helper block may be specified.")...)
			continue
		}
		c.Helper = &Helper{Name: h.name, Program: l.program(h.name), Args: h.args}
		if c.Helper.Program == "" {
			l.ds = append(l.ds, diags.Warningf(&h.place, "Credentials helper not found",
				"There is no program terraform-credentials-%s in %s. Hosts whose credentials only the helper knows are asked without any.",
				h.name, filepath.Join(l.surroundings.Home, dotDir(), "plugins"))...)
		}
	}
}

// program returns the path of a helper's program; "" if there is none. If several versions are installed, it
// returns the one whose name comes last.
func (l *loader) program(name string) (found string) {
	if l.surroundings.Home == "" || name != filepath.Base(name) {
		return ""
	}
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	plugins := filepath.Join(l.surroundings.Home, dotDir(), "plugins")
	for _, dir := range []string{plugins, filepath.Join(plugins, runtime.GOOS+"_"+runtime.GOARCH)} {
		plain := filepath.Join(dir, "terraform-credentials-"+name)
		versions, _ := filepath.Glob(plain + "_v*" + suffix)
		for _, path := range append([]string{plain + suffix}, versions...) {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				found = path
			}
		}
	}
	if found != "" {
		found, _ = filepath.Abs(found)
	}
	return found
}
