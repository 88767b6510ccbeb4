package changing

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-iac/lockstep/cmd/lockstep/internal/cli"
	"github.com/lockstep-iac/lockstep/engine/addrs"
	"github.com/lockstep-iac/lockstep/engine/diags"
)

// targetFlags are the options -target, -exclude, -target-file and -exclude-file. The last two name files with
// addresses. Source: OpenTofu 1.10.
type targetFlags struct {
	app                       *cli.App
	targets, excludes         cli.ListFlag
	targetFiles, excludeFiles cli.ListFlag
}

func partial(f *cli.Flags, p *targetFlags) {
	p.app = f.App
	f.Var(&p.targets, "target", "plan only this module, resource or instance, with its dependencies")
	f.Var(&p.targetFiles, "target-file", "like -target, with one address on each line of this file")
	f.Var(&p.excludes, "exclude", "plan all but this module, resource or instance, and its dependents")
	f.Var(&p.excludeFiles, "exclude-file", "like -exclude, with one address on each line of this file")
}

// addresses parses the values of the options -target and -exclude, and the files that the options -target-file and
// -exclude-file name.
func (p *targetFlags) addresses() (targets, excludes []addrs.Target, ds diags.Diagnostics) {
	if len(p.targets)+len(p.targetFiles) > 0 && len(p.excludes)+len(p.excludeFiles) > 0 {
		return nil, nil, diags.Errorf(nil, "Incompatible options", "The options -target and -exclude cannot be used together. Remove one of them.")
	}
	targets, ds = p.read("target", p.targets, p.targetFiles)
	excludes, more := p.read("exclude", p.excludes, p.excludeFiles)
	return targets, excludes, append(ds, more...)
}

// read parses the addresses that an option such as -target gives, and those in the files that the
// corresponding option -target-file names.
func (p *targetFlags) read(option string, given, files []string) ([]addrs.Target, diags.Diagnostics) {
	var out []addrs.Target
	var ds diags.Diagnostics
	add := func(place, s string) {
		t, err := addrs.ParseTarget(s)
		if err == nil {
			err = reserved(s, t.Resource)
		}
		if err != nil {
			ds = append(ds, diags.Errorf(nil, fmt.Sprintf("Invalid %s %q", option, s), "-%s: %s.", place, err)...)
			return
		}
		out = append(out, t)
	}
	for _, s := range given {
		add(option, s)
	}
	for _, name := range files {
		src, err := os.ReadFile(p.app.Path(name))
		if err != nil {
			ds = append(ds, diags.Errorf(nil, "File of addresses cannot be read", "-%s-file: %s.", option, err)...)
			continue
		}
		for i, line := range strings.Split(string(src), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				add(fmt.Sprintf("%s-file: %s:%d", option, name, i+1), line)
			}
		}
	}
	return out, ds
}

// otherNames are the first words of references that are not resources, such as "var" in "var.size".
var otherNames = []string{"count", "each", "local", "path", "self", "terraform", "var"}

// reserved returns an error for an address such as local.a, which looks like a resource of the type "local". If a
// type really has such a name, users must write resource.local.a.
func reserved(s string, r addrs.Resource) error {
	if r.Mode != addrs.Managed || !slices.Contains(otherNames, r.Type) || strings.Contains("."+s, ".resource."+r.Type+".") {
		return nil
	}
	return fmt.Errorf("%q is not a type of resources, and only modules, resources and their instances can be named. If a type really has this name, write resource.%s.%s", r.Type, r.Type, r.Name)
}
